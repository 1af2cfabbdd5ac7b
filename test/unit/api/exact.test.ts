import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { exactText } from '../../../src/checks/exact.ts';

function exactOf(text: string) {
  const body: unknown = JSON.parse(text);
  return { body, exact: exactText({ text, body }) };
}

/** The value at a path of the parsed answer. */
function at(value: unknown, ...path: (string | number)[]): object {
  let here = value;
  for (const key of path)
    here = typeof here === 'object' && here !== null ? Reflect.get(here, key) : undefined;
  if (typeof here !== 'object' || here === null) throw new Error(`no object at ${path.join('.')}`);
  return here;
}

describe('the exact text', () => {
  it('of an object keeps the digits that parsing loses', () => {
    const { body, exact } = exactOf('{"data":[{"id":9007199254740993},{"big": 1e400, "small":1.10}]}');
    expect(exact.textOf(at(body, 'data', 0))).toBe('{"id":9007199254740993}');
    expect(exact.textOf(at(body, 'data', 1))).toBe('{"big": 1e400, "small":1.10}');
    expect(exact.textOf(at(body))).toBe('{"data":[{"id":9007199254740993},{"big": 1e400, "small":1.10}]}');
  });

  it('of a field keeps them too', () => {
    const { body, exact } = exactOf('{"data":[{"a":1},{"n":-123456789012345678901234567890,"x":[1e999]}]}');
    const row = at(body, 'data', 1);
    expect(exact.fieldText(row, 'n')).toBe('-123456789012345678901234567890');
    expect(exact.fieldText(row, 'x')).toBe('[1e999]');
    expect(exact.fieldText(row, 'missing')).toBeUndefined();
  });

  it('is available for any value at any path', () => {
    const { exact } = exactOf('{"data":[{"m":{"a \\"b\\".c[0]":1e400},"l":[5, 9007199254740993,"x"]}]}');
    expect(exact.textAt('data[0].l[1]')).toBe('9007199254740993');
    expect(exact.textAt('data[0].l[2]')).toBe('"x"');
    expect(exact.textAt('data[0].m["a \\"b\\".c[0]"]')).toBe('1e400');
    expect(exact.textAt('data[0].l[9]')).toBeUndefined();
    expect(exact.textAt('data[3]')).toBeUndefined();
  });

  it('is that of the last of several equal keys, as for JSON.parse', () => {
    const { body, exact } = exactOf('{"a":{"n":1e400},"a":{"n":[1]},"b":{"n":1,"n":2e500}}');
    expect(exact.textOf(at(body, 'a'))).toBe('{"n":[1]}');
    expect(exact.textOf(at(body, 'a', 'n'))).toBe('[1]');
    expect(exact.fieldText(at(body, 'b'), 'n')).toBe('2e500');
    expect(exact.textAt('a.n')).toBe('[1]');
  });

  it('distinguishes equal objects', () => {
    const { body, exact } = exactOf('[{"a":1},{ "a" : 1 },{"a":1.0}]');
    expect([0, 1, 2].map((index) => exact.textOf(at(body, index)))).toEqual([
      '{"a":1}',
      '{ "a" : 1 }',
      '{"a":1.0}',
    ]);
  });

  it('handles escapes and special keys such as __proto__', () => {
    const { body, exact } = exactOf('{"__proto__":{"n":1e400},"\\u0061\\n":{"n":2e400},"constructor":{}}');
    expect(exact.textAt('__proto__')).toBe('{"n":1e400}');
    expect(exact.textOf(at(body, 'a\n'))).toBe('{"n":2e400}');
  });

  it('of an object is found again by its path, whatever its name', () => {
    const { body, exact } = exactOf('{"data":[{"by_x":[{}],"a b":{},"1a":{},"a-":{},"":{},"a.b":{}}]}');
    const paths = ['["a b"]', '["1a"]', '["a-"]', '[""]', '["a.b"]'].map((name) => `data[0]${name}`);
    const names = ['a b', '1a', 'a-', '', 'a.b'];
    expect(names.map((name) => exact.pathOf(at(body, 'data', 0, name)))).toEqual(paths);
    expect(exact.pathOf(at(body, 'data', 0, 'by_x', 0))).toBe('data[0].by_x[0]');
    expect(exact.pathOf({})).toBeUndefined();
  });

  it('is undefined for values outside the answer', () => {
    const { exact } = exactOf('{"a":{"b":1}}');
    expect(exact.textOf({ b: 1 })).toBeUndefined();
    expect(exact.fieldText({ b: 1 }, 'b')).toBeUndefined();
  });

  it('parses to its own object, for every object of any answer', () => {
    fc.assert(
      fc.property(fc.jsonValue({ maxDepth: 4 }), fc.constantFrom(undefined, 1, '\t'), (value, space) => {
        const { body, exact } = exactOf(JSON.stringify(value, null, space));
        const visit = (part: unknown): void => {
          if (typeof part !== 'object' || part === null) return;
          expect(JSON.parse(exact.textOf(part) ?? '')).toEqual(part);
          const path = exact.pathOf(part) ?? '';
          if (path !== '') expect(exact.textAt(path)).toBe(exact.textOf(part));
          for (const [key, member] of Object.entries(part)) {
            if (!Array.isArray(part)) expect(JSON.parse(exact.fieldText(part, key) ?? '')).toEqual(member);
            visit(member);
          }
        };
        visit(body);
      }),
    );
  });

  it('of every row of a large answer costs about as much as parsing the answer', () => {
    const rows = Array.from({ length: 20_000 }, (_, id) => `{"id":${id},"trace":12345678901234567890}`);
    const { body, exact } = exactOf(`{"data":[${rows.join(',')}]}`);
    const started = performance.now();
    const list: unknown = Reflect.get(at(body), 'data');
    if (!Array.isArray(list)) throw new Error('no list');
    expect(list.map((row: object) => exact.textOf(row))).toEqual(rows);
    expect(exact.fieldText(at(list, 19_999), 'trace')).toBe('12345678901234567890');
    // Searching the whole answer for each row needed 20 s.
    expect(performance.now() - started).toBeLessThan(10_000);
  });

  it('at every path of a large answer costs no more', () => {
    const values = Array.from({ length: 20_000 }, (_, value) => `${value}`);
    const { exact } = exactOf(`{"data":[{"by_tool":[${values.join(',')}]}]}`);
    const started = performance.now();
    expect(values.map((_, index) => exact.textAt(`data[0].by_tool[${index}]`))).toEqual(values);
    // Searching the list for each of its elements needed a minute and a half.
    expect(performance.now() - started).toBeLessThan(10_000);
  });
});
