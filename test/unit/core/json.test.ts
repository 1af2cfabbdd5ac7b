import { isDeepStrictEqual } from 'node:util';
import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { canonicalJson, isDeeperThan, isExact, isObject, isStorable } from '../../../src/core/json.ts';

/** The same value with the keys of every object in another order. */
function reordered(value: unknown): unknown {
  if (Array.isArray(value)) return value.map(reordered);
  if (!isObject(value)) return value;
  return Object.fromEntries(
    Object.entries(value)
      .reverse()
      .map(([key, member]) => [key, reordered(member)]),
  );
}

describe('canonical JSON', () => {
  it('is the same for every order of keys, and parses to the same value', () => {
    fc.assert(
      fc.property(fc.jsonValue(), (value) => {
        const text = canonicalJson(value);
        expect(canonicalJson(reordered(value))).toBe(text);
        expect(JSON.parse(text)).toEqual(JSON.parse(JSON.stringify(value)));
      }),
    );
  });

  it('is the same for equal values only', () => {
    fc.assert(
      fc.property(fc.jsonValue(), fc.jsonValue(), (a, b) => {
        const [left, right] = [a, b].map((value) => JSON.parse(JSON.stringify(value)));
        expect(canonicalJson(a) === canonicalJson(b)).toBe(isDeepStrictEqual(left, right));
      }),
    );
  });

  it('keeps special keys such as __proto__', () => {
    const value = JSON.parse('{"__proto__":{"b":1,"a":2},"constructor":1,"10":1,"9":2}');
    expect(canonicalJson(value)).toBe('{"10":1,"9":2,"__proto__":{"a":2,"b":1},"constructor":1}');
  });
});

describe('an exact value', () => {
  it.each([0, -1.5, 2 ** 53 - 1, -(2 ** 53 - 1), 'text', null, true, [], {}, { a: [1, { b: 2 }] }])(
    'is %j',
    (value) => {
      expect(isExact(value)).toBe(true);
    },
  );

  it.each([
    ['an integer that parsing may have rounded', '9007199254740993'],
    ['the first integer that another rounds to', '9007199254740992'],
    ['a number too big for a double', '1e400'],
    ['a negative one', '-1e400'],
    ['one deep inside', '{"a":[1,{"b":[9007199254740993]}]}'],
  ])('is not %s', (_, text) => {
    expect(isExact(JSON.parse(text))).toBe(false);
  });
});

describe('a text that databases can hold', () => {
  it.each(['', 'plain', '\u{1F600}', '\uFFFE', '\u001b[31m', '=cmd()', "'; DROP TABLE x; --"])(
    'is %j',
    (text) => {
      expect(isStorable(text)).toBe(true);
      expect(isStorable({ [text]: [text] })).toBe(true);
    },
  );

  it.each(['\0', 'a\0b', '\uD800', 'a\uDC00', '\uDC00\uD800'])('is not %j', (text) => {
    expect(isStorable(text)).toBe(false);
    expect(isStorable([{ a: text }])).toBe(false);
    expect(isStorable({ nested: { [text]: 1 } })).toBe(false);
  });
});

describe('the depth of a value', () => {
  it('is measured at any depth', () => {
    const deep: unknown = JSON.parse(`${'['.repeat(100_000)}${']'.repeat(100_000)}`);
    expect(isDeeperThan(deep, 99_999)).toBe(true);
    expect(isDeeperThan(deep, 100_000)).toBe(false);
    expect(isDeeperThan({ a: [1, { b: 2 }] }, 2)).toBe(true);
    expect(isDeeperThan({ a: [1, { b: 2 }] }, 3)).toBe(false);
    expect(isDeeperThan('text', 0)).toBe(false);
  });
});
