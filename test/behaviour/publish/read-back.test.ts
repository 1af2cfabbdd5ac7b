import { describe, expect, test } from 'vitest';
import { digestWarehouse } from '../../../jobs/status.ts';
import type { AnyTable, ColumnKind } from '../../../schema/define.ts';
import { contentTables, publishedTables, tables } from '../../../schema/tables.ts';
import { systemClock } from '../../../src/core/clock.ts';
import { parseDay } from '../../../src/core/day.ts';
import { readOrganizationIds } from '../../../src/ledger/ledger.ts';
import { storeHookEvents } from '../../../src/records/hook-events.ts';
import { recordSession } from '../../../src/records/runs.ts';
import { ask, digestIn, lakeOf, rowsIn, tableIn } from '../../support/publish/lake.ts';
import { exportedRig } from '../../support/rig/exported-rig.ts';
import { createRig, type Rig } from '../../support/rig/rig.ts';
import { openTemporary } from '../../support/warehouse/open-temporary.ts';

/** The type by which DuckDB knows each kind of column. */
const TYPES: Readonly<Record<ColumnKind, string>> = {
  key: 'VARCHAR',
  day: 'DATE',
  date: 'DATE',
  text: 'VARCHAR',
  label: 'VARCHAR',
  metric: 'DOUBLE',
  amount: 'DOUBLE',
  integer: 'BIGINT',
  count: 'BIGINT',
  flag: 'BOOLEAN',
  yesNo: 'BOOLEAN',
  instant: 'TIMESTAMP',
  moment: 'TIMESTAMP',
  json: 'VARCHAR',
  record: 'VARCHAR',
};

/** A warehouse that has rows in every table. */
async function fullRig(): Promise<Rig> {
  const rig = await exportedRig({ users: 20, reports: 8 });
  rig.emulator.revise({ kind: 'restate', day: parseDay('2026-02-09') });
  await rig.run();
  const warehouse = await openTemporary(rig.path);
  const [orgId = ''] = await readOrganizationIds(warehouse);
  await storeHookEvents(warehouse, {
    orgId,
    rows: ['2026-01-31T23:59:59.999Z', '2026-02-01T00:00:00.000Z'].map((received_at, n) => ({
      event_id: `event-${n}`,
      received_at,
      hook_event_name: 'Stop',
      session_id: 's-1',
      cwd: '/srv',
      message: null,
      reason: null,
      payload: '{"n":1}',
    })),
  });
  await recordSession(warehouse, () => ({
    org_id: orgId,
    session_id: 's-1',
    title: null,
    status: 'idle',
    message_count: 3,
    created_at: '2026-02-03T04:05:06.007Z',
    updated_at: '2026-02-03T04:05:06.007Z',
    completed_at: null,
    computer_id: 'computer-1',
    session_settings: '{"model":"m"}',
    extra: null,
  }));
  return rig;
}

const shownIn = (table: AnyTable) =>
  Object.fromEntries(
    Object.entries(table.columns).map(([name, { kind }]) => [
      name,
      table.role === 'ledger' && name === 'date' ? 'DATE' : TYPES[kind],
    ]),
  );

describe('a lake, read by DuckDB', () => {
  test('has every table with every row, in matching types', { tags: 'ci/again' }, async () => {
    const rig = await fullRig();
    const { lake, parquet } = await lakeOf(rig.path);
    const warehouse = await openTemporary(rig.path);
    for (const table of publishedTables) {
      const described = await ask(`DESCRIBE SELECT * FROM ${tableIn(lake, table.name)}`);
      const { month, languages, ...types } = Object.fromEntries(
        described.map(([name, type]) => [name, type]),
      );
      const isPartitioned = ['fact', 'event'].includes(table.role);
      const { month: ownMonth, ...own } = shownIn(table);
      expect(types, table.name).toEqual(own);
      expect(languages, table.name).toBe(table === tables.userDaily ? 'VARCHAR[]' : undefined);
      expect(month, table.name).toBe(isPartitioned ? 'VARCHAR' : ownMonth);

      const stored: unknown[] = [];
      for await (const rows of warehouse.scan(table)) stored.push(...rows);
      expect(await rowsIn(lake, table), table.name).toEqual(stored);
      expect(parquet?.tables.find(({ table: name }) => name === table.name)?.rows).toBe(stored.length);
    }
    const without = parquet?.tables.filter(({ rows }) => rows === 0).map(({ table }) => table);
    expect(without).toEqual([
      'schema_drift',
      'organizations',
      'people',
      'prices',
      'budgets',
      'events',
      'published_weeks',
      'user_teams',
    ]);
  });

  test('has the digests and the sums of the warehouse', { tags: 'ci/again' }, async () => {
    const rig = await fullRig();
    const { lake } = await lakeOf(rig.path);
    const job = { clock: systemClock(), observe: () => undefined, signal: new AbortController().signal };
    const { tables: digests } = await digestWarehouse(rig.settings, job);
    const read: [string, string][] = [];
    for (const table of contentTables) read.push([table.name, await digestIn(lake, table)]);
    expect(Object.fromEntries(read)).toEqual(digests);

    const sums = 'SUM(billable_tokens), SUM(tool_calls), SUM(git_commits), COUNT(*), COUNT(DISTINCT user_id)';
    const [stored] = (await rig.sql(`SELECT ${sums} FROM user_daily`)).map((row) => Object.values(row));
    const [published] = await ask(`SELECT ${sums} FROM ${tableIn(lake, 'user_daily')}`);
    expect(published?.map(Number)).toEqual(stored?.map(Number));
  });

  test('has the languages of each user as a list, equal to the rows of the child table', async () => {
    const rig = await createRig({ users: 20, reports: 8 });
    await rig.run({ streams: ['users'] });
    const { lake } = await lakeOf(rig.path);
    const differ = await ask(`
      WITH child AS (
        SELECT org_id, date, user_id, list(language ORDER BY language) AS languages
        FROM ${tableIn(lake, 'user_daily_languages')} GROUP BY ALL
      )
      SELECT date, user_id FROM ${tableIn(lake, 'user_daily')} AS parent
      LEFT JOIN child USING (org_id, date, user_id)
      WHERE parent.languages IS DISTINCT FROM coalesce(child.languages, [])`);
    expect(differ).toEqual([]);
    const [counts] = await ask(
      `SELECT MAX(len(languages)), COUNT(*) FILTER (len(languages) = 0), COUNT(*) FILTER (languages IS NULL)
       FROM ${tableIn(lake, 'user_daily')}`,
    );
    expect(Number(counts?.[0])).toBeGreaterThan(1);
    expect(Number(counts?.[1])).toBeGreaterThan(0);
    expect(Number(counts?.[2])).toBe(0);

    const plan = await ask(
      `EXPLAIN ANALYZE SELECT SUM(tool_calls) FROM ${tableIn(lake, 'user_daily')} WHERE month = '2026-01'`,
    );
    expect(String(plan[0]?.[1]), 'files of other months are not opened').toMatch(/Scanning Files: 1\/2/);
  });

  test('has one file per table, organization and month, and of readiness and the ledger one per organization', {
    tags: 'ci/rare',
  }, async () => {
    const rig = await fullRig();
    const { lake } = await lakeOf(rig.path);
    const [orgId] = await rig.column('SELECT DISTINCT org_id FROM export_units');
    const filesOf = async (table: string) =>
      (await ask(`SELECT file FROM glob('${lake}/${table}/**') ORDER BY 1`)).map(([file]) =>
        String(file).slice(lake.length + 1),
      );
    for (const table of ['user_daily', 'tokens_daily_by_user_model', 'hook_events']) {
      expect(await filesOf(table)).toEqual([
        `${table}/org_id=${orgId}/month=2026-01/data.parquet`,
        `${table}/org_id=${orgId}/month=2026-02/data.parquet`,
      ]);
    }
    expect(await filesOf('sessions')).toEqual([`sessions/org_id=${orgId}/month=2026-02/data.parquet`]);
    for (const table of ['readiness_report_criteria', 'export_units', 'restatements', 'export_runs']) {
      expect(await filesOf(table)).toEqual([`${table}/org_id=${orgId}/data.parquet`]);
    }
  });
});
