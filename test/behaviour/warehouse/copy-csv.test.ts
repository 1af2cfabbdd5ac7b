// @module-tag database-specific

import fc from 'fast-check';
import { expect, it } from 'vitest';
import { encodeRows } from '../../../schema/digest.ts';
import type { Values } from '../../../schema/row.ts';
import { tables } from '../../../schema/tables.ts';
import { csvOf, csvOfEncoded } from '../../../src/warehouse/postgres/write-rows.ts';
import { collect } from '../../support/warehouse/collect.ts';
import { commitDay, commitOf } from '../../support/warehouse/commit-of.ts';
import { onDatabase, open } from '../../support/warehouse/each-database.ts';
import { postgres } from '../../support/warehouse/postgres-place.ts';

/** Texts in which something means something to JSON, to CSV or to COPY. */
const text = fc.oneof(
  fc.string(),
  fc
    .array(
      fc.constantFrom(
        '],[',
        '"',
        '""',
        ',',
        '\\',
        '\\.',
        '\n',
        '\r',
        '\t',
        'null',
        'org',
        '[',
        ']',
        ' ',
        'é🙂',
      ),
    )
    .map((parts) => parts.join('')),
);
const value = fc.oneof(
  text,
  fc.constant(null),
  fc.integer(),
  fc.double({ noNaN: true, noDefaultInfinity: true }).map((number) => number + 0),
);

/** Reads CSV: quoted fields are texts, others are numbers and null. */
function parsed(csv: string): unknown[][] {
  const rows: unknown[][] = [];
  let row: unknown[] = [];
  for (const [, quoted, bare, end] of csv.matchAll(/(?:"((?:[^"]|"")*)"|([^",\n]+))(,|\n)/g)) {
    row.push(quoted === undefined ? JSON.parse(bare ?? '') : quoted.replaceAll('""', '"'));
    if (end === '\n') {
      rows.push(row);
      row = [];
    }
  }
  return rows;
}

it('writes the same values, from rows and from their encoded texts', () => {
  const rows = fc.array(fc.tuple(fc.array(value, { minLength: 3, maxLength: 3 })), { maxLength: 12 });
  fc.assert(
    fc.property(text, rows, (orgId, tails) => {
      const all: Values[] = tails.map(([tail]) => [orgId, ...tail]);
      const encoded = encodeRows({ table: tables.userDaily, rows: all });
      const expected = all.map((row) => row.map((cell) => (cell === 0 ? 0 : cell)));
      expect(parsed([...csvOf(all)].join(''))).toEqual(expected);
      expect(parsed([...csvOfEncoded(encoded, orgId)].join(''))).toEqual(expected);
    }),
    // An id that reads as what comes after a text.
    { numRuns: 500, examples: [[',', [[['],[', ',', null]]]]] },
  );
});

it('writes the same values of rows that begin with different values', () => {
  const row = fc.array(value, { minLength: 2, maxLength: 2 });
  fc.assert(
    fc.property(fc.array(row, { maxLength: 6 }), (all) => {
      const expected = all.map((cells) => cells.map((cell) => (cell === 0 ? 0 : cell)));
      expect(parsed([...csvOf(all)].join(''))).toEqual(expected);
    }),
    {
      numRuns: 500,
      examples: [
        [
          [
            ['one', 1],
            ['two', 2],
          ],
        ],
      ],
    },
  );
});

onDatabase(postgres, () => {
  it.each([['org_1'], ['],["'], [',null'], ['"\\']])(
    'stores every text, for organization %s',
    async (orgId) => {
      const warehouse = await open(postgres);
      const texts = [
        '',
        'null',
        '"',
        '""',
        '\\',
        '\\.',
        '\n',
        '\r\n',
        '\t',
        ',',
        `],["${orgId}",`,
        '],[',
        'é🙂',
      ];
      const rows = Array.from(
        { length: 1_000 },
        (_, n): Values => [`user ${n}`, texts[n % texts.length] ?? null, n, n / 7, null, 1e15, -n - 1, null],
      );
      const commit = commitOf({ orgId, stream: 'tokens', rows: { tokens_daily_by_user: rows } });
      expect(await commitDay(warehouse, commit)).toMatchObject({ rowsWritten: 1_000 });
      const stored = await collect(warehouse.scan(tables.tokensDailyByUser));
      expect(new Map(stored.map((row) => [row[2], row.slice(2)]))).toEqual(
        new Map(rows.map((row) => [row[0], row])),
      );
    },
  );

  it('stores a day whose rows another session writes at the same time', { tags: 'ci/rare' }, async () => {
    const warehouse = await open(postgres);
    const rows = Array.from({ length: 1_000 }, (_, n): Values => [`user ${n}`, null, n, 1, 1, 1, 1, null]);
    const other = await warehouse.place.connect();
    await other.execute('BEGIN');
    await other.execute(
      `INSERT INTO tokens_daily_by_user (org_id, date, user_id) VALUES ('org_1', '2026-02-01', 'user 7'), ('org_1', '2026-02-01', 'zz')`,
    );
    const commit = commitDay(warehouse, commitOf({ rows: { tokens_daily_by_user: rows } }));
    await new Promise((resolve) => setTimeout(resolve, 300));
    await other.execute('COMMIT');
    // Copied until it met the other's row; begun again, it replaces that one and removes the one that is not its own.
    expect(await commit).toMatchObject({ rowsWritten: 1_001 });
    const stored = await collect(warehouse.scan(tables.tokensDailyByUser));
    expect(stored).toHaveLength(1_000);
    expect(stored.find((row) => row[2] === 'user 7')).toEqual(['org_1', '2026-02-01', ...(rows[7] ?? [])]);
  });
});
