import { join } from 'node:path';
import { beforeAll, describe, expect, test } from 'vitest';
import type { AnyTable, ColumnKind } from '../../../schema/define.ts';
import { sql } from '../../../schema/query.ts';
import { publishedTables, tables } from '../../../schema/tables.ts';
import { changeRows } from '../../../src/port/steps.ts';
import { useDemo } from '../../support/bi/demo.ts';
import { publishFrom } from '../../support/publish/publish-from.ts';
import { askSpark, NO_SPARK, SPARK, type SparkAnswer } from '../../support/publish/spark.ts';
import { differentTables, sumsOf, withoutLedger } from '../../support/publish/sums.ts';

/** The type by which Spark knows each kind of column. */
const TYPES: Readonly<Record<ColumnKind, string>> = {
  key: 'string',
  day: 'date',
  date: 'date',
  text: 'string',
  label: 'string',
  metric: 'double',
  amount: 'double',
  integer: 'bigint',
  count: 'bigint',
  flag: 'boolean',
  yesNo: 'boolean',
  instant: 'timestamp',
  moment: 'timestamp',
  json: 'string',
  record: 'string',
};

const AUTUMN = `SELECT SUM(billable_tokens), COUNT(DISTINCT user_id)
  FROM user_daily WHERE month BETWEEN '2026-09' AND '2026-10'`;
const AUTUMN_BY_DAYS = AUTUMN.replace(
  /month BETWEEN .*/,
  "date BETWEEN DATE '2026-09-01' AND DATE '2026-10-31'",
);
const LANGUAGES = `SELECT language, COUNT(*) FROM (SELECT explode(languages) AS language FROM user_daily)
  GROUP BY language ORDER BY language`;

describe.each(SPARK === null ? [] : [SPARK])('a lake, read by Spark with %s', (python) => {
  const demo = useDemo();
  let answer: SparkAnswer;
  let empty: ReadonlySet<string>;

  beforeAll(async () => {
    const { path, folder } = demo();
    const lake = join(folder, 'lake');
    const { parquet } = await publishFrom(path, {
      parquet: { directory: lake, tables: publishedTables, force: false },
    });
    empty = new Set(parquet?.tables.filter(({ rows }) => rows === 0).map(({ table }) => table));
    const sums = Object.fromEntries(withoutLedger.map((table) => [table.name, sumsOf(table)]));
    answer = await askSpark(python, folder, {
      lake,
      tables: publishedTables.map(({ name }) => name),
      queries: { ...sums, autumn: AUTUMN, autumnByDays: AUTUMN_BY_DAYS, languages: LANGUAGES },
    });
  });

  const differences = () => demo().with((warehouse) => differentTables(warehouse, answer.rows));

  test('has every table in matching types', () => {
    for (const table of publishedTables) {
      const { month, languages, ...types } = answer.types[table.name] ?? {};
      const { month: ownMonth, ...own } = Object.fromEntries(
        Object.entries(table.columns).map(([name, { kind }]) => [
          name,
          table.role === 'ledger' && name === 'date' ? 'date' : TYPES[kind],
        ]),
      );
      // Without rows, a partition column has no value that Spark could know a type from.
      const partition = empty.has(table.name) ? 'void' : 'string';
      expect(types, table.name).toEqual('org_id' in own ? { ...own, org_id: partition } : own);
      expect(month, table.name).toBe(['fact', 'event'].includes(table.role) ? partition : ownMonth);
      expect(languages, table.name).toBe(table === tables.userDaily ? 'array<string>' : undefined);
    }
  });

  test('has the sums and counts of the warehouse in every table, and the languages of each user', async () => {
    expect(await differences()).toEqual([]);
    const byLanguage = await demo().with((warehouse) =>
      warehouse.select(
        sql`SELECT language, COUNT(*) AS n FROM user_daily_languages GROUP BY language ORDER BY language`,
      ),
    );
    expect(answer.rows['languages']).toEqual(byLanguage.map((row) => Object.values(row)));
    expect(byLanguage.length).toBeGreaterThan(3);
  });

  test('opens only the files of the months that a query names, and its plan says so', () => {
    expect(answer.plans['autumn']).toMatch(/PartitionFilters: \[[^\]]*month#\d+ >= 2026-09/);
    expect(answer.files['autumn']).toBe(2);
    // The same days without the month: the same numbers, but nothing is left out by its path.
    expect(answer.plans['autumnByDays']).toMatch(/PartitionFilters: \[\]/);
    expect(answer.files['autumnByDays']).toBe(answer.files['user_daily']);
    expect(answer.files['user_daily']).toBe(11);
    expect(answer.rows['autumnByDays']).toEqual(answer.rows['autumn']);
  });

  test('is seen to differ if one number of the warehouse is another one', async () => {
    const { with: use } = demo();
    const { userDaily } = tables;
    await use(async (warehouse) => {
      const [first] = await warehouse.select(sql`SELECT * FROM user_daily WHERE billable_tokens > 0 LIMIT 1`);
      const row = { ...first, billable_tokens: Number(first?.['billable_tokens']) + 1 };
      await changeRows(warehouse, {
        put: [{ table: userDaily, rows: [encoded(userDaily, row)] }],
        remove: [],
      });
    });
    expect(await differences()).toEqual([expect.stringMatching(/^user_daily: /)]);
  });
});

function encoded({ columns }: AnyTable, row: Readonly<Record<string, unknown>>) {
  return Object.keys(columns).map((name) => row[name] as string | number | null);
}

if (SPARK === null) {
  test('a lake is read by the real Spark', ({ skip }) => skip(NO_SPARK));
}
