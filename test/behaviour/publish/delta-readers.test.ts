import { execFile } from 'node:child_process';
import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { beforeAll, describe, expect, test } from 'vitest';
import { encoderOf } from '../../../schema/row.ts';
import { publishedTables, tables } from '../../../schema/tables.ts';
import { systemClock } from '../../../src/core/clock.ts';
import { changeRows } from '../../../src/port/steps.ts';
import { renewLakes } from '../../../src/publish/delta-lake.ts';
import { useDemo } from '../../support/bi/demo.ts';
import { deltaOf } from '../../support/publish/delta.ts';
import {
  askDeltaReaders,
  DELTA_READERS,
  type DeltaAnswers,
  NO_DELTA_READERS,
} from '../../support/publish/delta-readers.ts';
import { differentTables, sumsOf, withoutLedger } from '../../support/publish/sums.ts';
import { ROOT } from '../../support/structure/sources.ts';

const MAKE_MS_MAX = 240_000;
const ENGINES = ['delta-rs', 'Polars', 'DuckDB'];
const AUTUMN = `SELECT month, SUM(billable_tokens), COUNT(*) FROM user_daily
  WHERE month >= '2026-09' GROUP BY month ORDER BY month`;
const NEWEST = Object.fromEntries(publishedTables.map(({ name }) => [name, null]));
const SUMS = Object.fromEntries(withoutLedger.map((table) => [table.name, sumsOf(table)]));

describe.each(DELTA_READERS === null ? [] : [DELTA_READERS])('Delta tables, read with %s', (python) => {
  const demo = useDemo();
  let lake: string;

  const ask = (queries: Record<string, string>, versions: Record<string, number | null> = NEWEST) =>
    askDeltaReaders(python, demo().folder, { lake, versions, queries });

  /** The tables that differ from the warehouse, by reader. */
  const differences = (answers: DeltaAnswers) =>
    demo().with(async (warehouse) => {
      const found: Record<string, string[]> = {};
      for (const [engine, rows] of Object.entries(answers))
        found[engine] = await differentTables(warehouse, rows);
      return found;
    });

  const SAME = Object.fromEntries(ENGINES.map((engine) => [engine, []]));

  beforeAll(async () => {
    const { path, folder } = demo();
    lake = join(folder, 'delta');
    await deltaOf(path, { directory: lake });
  }, MAKE_MS_MAX);

  test('have the counts and sums of the warehouse in every table', { timeout: MAKE_MS_MAX }, async () => {
    const answers = await ask(SUMS);
    expect(Object.keys(answers)).toEqual(ENGINES);
    expect(await differences(answers)).toEqual(SAME);
  });

  test('are the same for a query of some months', async () => {
    const answers = await ask({ autumn: AUTUMN });
    const [first, ...others] = Object.values(answers).map(({ autumn }) => autumn);
    expect(first).toHaveLength(3);
    for (const other of others) expect(other).toEqual(first);
  });

  test('answer the lines of docs/lake.md', async () => {
    const page = readFileSync(join(ROOT, 'docs/lake.md'), 'utf8');
    const [block = ''] = page.match(/(?<=^```python\n)import json.*?(?=^```$)/ms) ?? [];
    // The wheel of the extension is loaded by its path, as the other tests do.
    const lines = block.split('\n').filter((line) => !line.includes('duckdb.sql'));
    expect(lines.length).toBeGreaterThan(5);
    const { stdout } = await promisify(execFile)(python, ['-c', lines.join('\n')], { cwd: demo().folder });
    // Polars and delta-rs, each in its own frame, show some of the months.
    for (const month of [/^│ 2026-\d\d/gm, /^\| 2026-\d\d/gm])
      expect(stdout.match(month)?.length, stdout).toBeGreaterThan(7);
  });

  test('have each version, also behind a checkpoint', { timeout: MAKE_MS_MAX }, async () => {
    const encode = encoderOf(tables.budgets);
    const { path, orgId } = demo();
    for (let n = 1; n <= 12; n += 1) {
      await demo().with((warehouse) => {
        const row = { org_id: orgId, month: '2026-11', team: `team ${n}`, amount: n, currency: 'EUR' };
        return changeRows(warehouse, { put: [{ table: tables.budgets, rows: [encode(row)] }], remove: [] });
      });
      await deltaOf(path, { directory: lake, tables: [tables.budgets] });
    }
    const log = readdirSync(join(lake, 'budgets/_delta_log'));
    expect(log).toContain('00000000000000000010.checkpoint.parquet');
    const queries = { sum: 'SELECT COUNT(*), SUM(amount) FROM budgets' };
    for (const [version, count, sum] of [
      [3, 3, 6],
      [11, 11, 66],
    ] as const) {
      const answers = await ask(queries, { budgets: version });
      expect(Object.values(answers).map((each) => each['sum'])).toEqual([[[count, sum]], [[count, sum]]]);
    }
    expect(await differences(await ask(SUMS))).toEqual(SAME);
  });

  test('are whole after every earlier version was removed', { timeout: MAKE_MS_MAX }, async () => {
    await demo().with((warehouse) =>
      renewLakes({ warehouse, clock: systemClock(), signal: new AbortController().signal }, [
        join(lake, 'daywalk_versions.json'),
      ]),
    );
    expect(readdirSync(join(lake, 'user_daily/_delta_log'))).toContain(
      '00000000000000000000.checkpoint.parquet',
    );
    expect(await differences(await ask(SUMS))).toEqual(SAME);
    await expect(ask({ sum: 'SELECT COUNT(*) FROM budgets' }, { budgets: 3 })).rejects.toThrow();
  });

  test('are seen to differ if one number of the warehouse is another one', {
    timeout: MAKE_MS_MAX,
  }, async () => {
    const answers = await ask(SUMS);
    const { budgets } = tables;
    const row = { org_id: demo().orgId, month: '2026-11', team: 'team 1', amount: 99, currency: 'EUR' };
    await demo().with((warehouse) =>
      changeRows(warehouse, { put: [{ table: budgets, rows: [encoderOf(budgets)(row)] }], remove: [] }),
    );
    const differs = [expect.stringMatching(/^budgets: /)];
    expect(await differences(answers)).toEqual(
      Object.fromEntries(ENGINES.map((engine) => [engine, differs])),
    );
  });
});

if (DELTA_READERS === null) {
  test('Delta tables are read by delta-rs, Polars and DuckDB', ({ skip }) => skip(NO_DELTA_READERS));
}
