import { describe, expect, test } from 'vitest';
import type { PatchOperation } from '../../../../src/emulator/faults/action.ts';
import { patchJson } from '../../../../src/emulator/faults/faulty-response.ts';

const JSON_TEXT =
  '{"data":[{"id":"a","n":1,"list":[1,2]},{"id":"b","n":2,"list":[3]}],"meta":{"a/b":1,"c~d":2}}';

function patched(...operations: PatchOperation[]): string {
  return patchJson(JSON_TEXT, operations).json;
}

describe('operations', () => {
  test('set replaces and adds, at one place or all places', () => {
    expect(JSON.parse(patched({ op: 'set', path: '/data/1/n', value: null })).data[1].n).toBeNull();
    expect(
      JSON.parse(patched({ op: 'set', path: '/data/*/n', value: 'x' })).data.map(
        (row: { n: string }) => row.n,
      ),
    ).toEqual(['x', 'x']);
    expect(JSON.parse(patched({ op: 'set', path: '/meta/new', value: { deep: [1] } })).meta.new).toEqual({
      deep: [1],
    });
    expect(JSON.parse(patched({ op: 'set', path: '/data/-', value: 7 })).data).toHaveLength(3);
    expect(JSON.parse(patched({ op: 'set', path: '/meta/a~1b', value: 5 })).meta['a/b']).toBe(5);
    expect(JSON.parse(patched({ op: 'set', path: '/meta/c~0d', value: 6 })).meta['c~d']).toBe(6);
  });

  test('remove deletes fields and elements', () => {
    expect(JSON.parse(patched({ op: 'remove', path: '/data/*/id' })).data[0]).toEqual({ n: 1, list: [1, 2] });
    expect(JSON.parse(patched({ op: 'remove', path: '/data/0' })).data).toHaveLength(1);
    expect(JSON.parse(patched({ op: 'remove', path: '/data/*' })).data).toEqual([]);
    expect(JSON.parse(patched({ op: 'remove', path: '/data/*/list/*' })).data[0].list).toEqual([]);
  });

  test('duplicate repeats elements in their place', () => {
    expect(
      JSON.parse(patched({ op: 'duplicate', path: '/data/0' })).data.map((row: { id: string }) => row.id),
    ).toEqual(['a', 'a', 'b']);
    expect(JSON.parse(patched({ op: 'duplicate', path: '/data/*/list/*' })).data[0].list).toEqual([
      1, 1, 2, 2,
    ]);
  });

  test.each(['1e400', '9007199254740993', '-0', '"\\u0000"', '{"a":1,"a":2}'])(
    'raw inserts %s unchanged',
    (text) => {
      const result = patched(
        { op: 'raw', path: '/data/0/n', text },
        { op: 'raw', path: '/data/1/n', text: '0.10' },
      );
      expect(result).toContain(`"n":${text},`);
      expect(result).toContain('"n":0.10,');
    },
  );

  test('__proto__ becomes a key like any other', () => {
    const result = patched({ op: 'set', path: '/data/0/__proto__', value: { polluted: true } });
    expect(result).toContain('"__proto__":{"polluted":true}');
    expect({}).not.toHaveProperty('polluted');
  });

  test('a missing path changes nothing, and is counted', () => {
    const operations: PatchOperation[] = [
      { op: 'remove', path: '/nothing' },
      { op: 'set', path: '/data/9/n', value: 1 },
      { op: 'set', path: '/data/9', value: 1 },
      { op: 'duplicate', path: '/meta/a~1b' },
      { op: 'remove', path: '/data/0/n/deeper' },
    ];
    expect(patchJson(JSON_TEXT, operations)).toEqual({ json: JSON_TEXT, changes: 0 });
    expect(patchJson('not JSON', operations)).toEqual({ json: 'not JSON', changes: 0 });
    expect(patchJson(JSON_TEXT, [{ op: 'remove', path: '/data/*/list/*' }]).changes).toBe(3);
  });
});
