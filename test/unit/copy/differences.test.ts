import fc from 'fast-check';
import { expect, test } from 'vitest';
import { inKeyOrder, type Values } from '../../../schema/row.ts';
import { tables } from '../../../schema/tables.ts';
import { differences } from '../../../src/copy/sides.ts';

const TABLE = tables.toolsDailyByTool;

const rows = fc
  .uniqueArray(
    fc.tuple(fc.constantFrom('a', 'b', 'c', 'd', 'e', '\uE000', '\u{1F600}'), fc.nat({ max: 1 })),
    {
      selector: ([name]) => name,
    },
  )
  .map((list) =>
    inKeyOrder(
      TABLE,
      list.map(([name, value]): Values => ['org_1', '2026-02-01', name, value, 0, null]),
    ),
  );

/** Rows in chunks of these sizes, empty ones among them. */
async function* chunks(list: readonly Values[], sizes: readonly number[]): AsyncGenerator<readonly Values[]> {
  let start = 0;
  for (const size of sizes) {
    yield list.slice(start, start + size);
    start += size;
  }
  yield list.slice(start);
}

const sizes = fc.array(fc.nat({ max: 3 }), { maxLength: 5 });
const nameOf = (row: Values) => String(row[2]);

test('differences turn the rows of one side into those of the other, and contain no equal rows', async () => {
  await fc.assert(
    fc.asyncProperty(rows, rows, sizes, sizes, async (source, stored, cuts, otherCuts) => {
      const held = new Map(stored.map((row) => [nameOf(row), row]));
      const keys: string[] = [];
      for await (const found of differences(TABLE, chunks(source, cuts), chunks(stored, otherCuts))) {
        for (const { kind, row } of found) {
          keys.push(nameOf(row));
          expect(held.get(nameOf(row))).not.toEqual(kind === 'put' ? row : undefined);
          if (kind === 'put') held.set(nameOf(row), row);
          else held.delete(nameOf(row));
        }
      }
      expect(new Set(held.values())).toEqual(new Set(source));
      expect(keys).toEqual([...new Set(keys)]);
    }),
    { numRuns: 1_000 },
  );
});

test('differently formatted JSON is no difference, different text is one', async () => {
  const row = (extra: string, name: string): Values => ['org_1', '2026-02-01', name, 1, 0, extra];
  const [source, stored] = [
    [row('{"a":1,"b":[2]}', 'a'), row('{"a":1}', 'b')],
    [row('{"b": [2.0], "a": 1}', 'a'), row('{"a":2}', 'b')],
  ];
  const found: unknown[] = [];
  for await (const some of differences(TABLE, chunks(source, []), chunks(stored, []))) found.push(...some);
  expect(found).toEqual([{ kind: 'put', row: source[1] }]);
});

test('a reader that stops early ends both sides', async () => {
  const ended: string[] = [];
  async function* side(name: string): AsyncGenerator<readonly Values[]> {
    try {
      for (let n = 0; ; n += 1) yield [['org_1', '2026-02-01', `${name} ${n}`, 1, 0, null]];
    } finally {
      ended.push(name);
    }
  }
  for await (const found of differences(TABLE, side('a'), side('b'))) if (found.length > 0) break;
  expect(ended).toEqual(['a', 'b']);
});
