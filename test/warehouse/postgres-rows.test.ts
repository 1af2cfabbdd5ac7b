import { expect, it } from 'vitest';
import type { Row } from '../../src/warehouse/port.ts';
import { commitOf } from '../support/commit-of.ts';
import { onDatabase, open, type Place } from '../support/database.ts';
import { postgres } from '../support/postgres/database.ts';

const model = (id: string, billable: number): Row => [id, null, billable, 1, 1, 1, 1, null];

/** The transaction that wrote each row: an update leaves a new one, also when it changes nothing. */
async function writers({ query }: Place): Promise<Map<unknown, unknown>> {
  const rows = await query('SELECT model_id, xmin::text AS writer FROM tokens_daily_by_model');
  return new Map(rows.map((row) => [row['model_id'], row['writer']]));
}

onDatabase(postgres, () => {
  it.each([10, 1000])('writes only the row that differs, among %i', async (count) => {
    const warehouse = await open(postgres);
    const models = Array.from({ length: count }, (_, n) => model(`m ${n}`, n));
    const commit = (rows: readonly Row[], rewrite = false) =>
      warehouse.commitDay(commitOf({ rows: { tokens_daily_by_model: rows }, rewrite }));
    await commit(models);
    const before = await writers(warehouse.place);
    expect(await commit(models)).toMatchObject({ rowsWritten: 0 });
    expect(await commit(models, true)).toMatchObject({ rowsWritten: 0 });
    expect(await writers(warehouse.place)).toEqual(before);
    expect(await commit([...models.slice(1), model('m 0', 7)])).toMatchObject({ rowsWritten: 1 });
    const after = await writers(warehouse.place);
    expect([...after].filter(([id, writer]) => before.get(id) !== writer).map(([id]) => id)).toEqual(['m 0']);
  });
});
