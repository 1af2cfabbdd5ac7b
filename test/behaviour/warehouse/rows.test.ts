// @module-tag database-specific

import { expect, it, vi } from 'vitest';
import type { Values } from '../../../schema/row.ts';
import { tables } from '../../../schema/tables.ts';
import { changeRows } from '../../../src/port/steps.ts';
import { thrownBy } from '../../support/api/test-transport.ts';
import { commitDay, commitOf } from '../../support/warehouse/commit-of.ts';
import { onDatabase, open, type Place } from '../../support/warehouse/each-database.ts';
import { postgres } from '../../support/warehouse/postgres-place.ts';

const model = (id: string, billable: number): Values => [id, null, billable, 1, 1, 1, 1, null];

/** The transaction that wrote each row: an update leaves a new one, also when it changes nothing. */
async function writers({ query }: Place): Promise<Map<unknown, unknown>> {
  const rows = await query('SELECT model_id, xmin::text AS writer FROM tokens_daily_by_model');
  return new Map(rows.map((row) => [row['model_id'], row['writer']]));
}

/** A role that exists on every server and is subject to policies. */
const ROLE = 'pg_monitor';

onDatabase(postgres, () => {
  it('stores many new rows in a table with policies, for which COPY is refused', async () => {
    const { place } = await open(postgres);
    const [schema] = await place.query<{ name: string }>('SELECT quote_ident(current_schema()) AS name');
    await place.execute(
      `GRANT USAGE ON SCHEMA ${schema?.name} TO ${ROLE}; GRANT ALL ON ALL TABLES IN SCHEMA ${schema?.name} TO ${ROLE};
       ALTER TABLE tokens_daily_by_model ENABLE ROW LEVEL SECURITY;
       CREATE POLICY all_rows ON tokens_daily_by_model USING (true)`,
    );
    const warehouse = await open({ ...place, location: `${place.location}&options=-c%20role%3D${ROLE}` });
    for (const day of ['2026-02-01', '2026-02-02']) {
      const models = Array.from({ length: 1_000 }, (_, n) => model(`m ${n}`, n));
      const commit = commitOf({ day, rows: { tokens_daily_by_model: models } });
      expect(await commitDay(warehouse, commit)).toMatchObject({ rowsWritten: 1_000 });
    }
  });

  it('stores many rows of which another program stores one meanwhile', async () => {
    const warehouse = await open(postgres);
    const own = (id: number): Values => [
      'org_1',
      '2026-02-01',
      ...model(`m ${String(id).padStart(4, '0')}`, id),
    ];
    const rows = Array.from({ length: 1_000 }, (_, n) => own(999 - n));
    const put = (some: readonly Values[]) =>
      changeRows(warehouse, { put: [{ table: tables.tokensDailyByModel, rows: some }], remove: [] });
    const other = await warehouse.place.connect();
    await other.execute(
      "BEGIN; INSERT INTO tokens_daily_by_model (org_id, date, model_id) VALUES ('org_1', '2026-02-01', 'm 0500')",
    );
    const putting = put(rows);
    const [blocked] = await vi.waitUntil(async () => {
      const waiting = await warehouse.place.query(
        "SELECT query FROM pg_stat_activity WHERE wait_event = 'transactionid' AND datname = current_database()",
      );
      return waiting.length > 0 && waiting;
    });
    expect(blocked).toMatchObject({ query: expect.stringMatching(/^COPY .*"tokens_daily_by_model"/) });
    await other.execute('COMMIT');
    expect(await putting).toBe(1_000);
    expect(await put(rows)).toBe(0);
    expect(await warehouse.rowsOf(tables.tokensDailyByModel, { orgId: 'org_1' })).toEqual(rows.toReversed());
  });

  it.each([10, 1000])('writes only the row that differs, among %i', async (count) => {
    const warehouse = await open(postgres);
    const models = Array.from({ length: count }, (_, n) => model(`m ${n}`, n));
    const commit = (rows: readonly Values[], rewrite = false) =>
      commitDay(warehouse, commitOf({ rows: { tokens_daily_by_model: rows }, rewrite }));
    await commit(models);
    const before = await writers(warehouse.place);
    expect(await commit(models)).toMatchObject({ rowsWritten: 0 });
    expect(await commit(models, true)).toMatchObject({ rowsWritten: 0 });
    expect(await writers(warehouse.place)).toEqual(before);
    expect(await commit([...models.slice(1), model('m 0', 7)])).toMatchObject({ rowsWritten: 1 });
    const after = await writers(warehouse.place);
    expect([...after].filter(([id, writer]) => before.get(id) !== writer).map(([id]) => id)).toEqual(['m 0']);
  });

  it('says what to do about a unique index that refuses a row', async () => {
    const warehouse = await open(postgres);
    await warehouse.place.execute(
      'CREATE UNIQUE INDEX of_a_stranger ON tokens_daily_by_model (input_tokens)',
    );
    const rows = { tokens_daily_by_model: [model('a', 1), model('b', 2)] };
    expect(await thrownBy(commitDay(warehouse, commitOf({ rows })))).toMatchObject({
      name: 'StorageError',
      message: expect.stringContaining('of_a_stranger'),
      hint: expect.stringContaining('drop it'),
    });
    expect(await warehouse.place.query('SELECT * FROM tokens_daily_by_model')).toEqual([]);
  });
});
