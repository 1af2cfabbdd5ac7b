import { sql } from '../../../schema/query.ts';
import type { Warehouse } from '../../../src/port/warehouse.ts';
import { isOfOneDay, type NumberSource, OCTOBER } from './october.ts';

/** The value of October, or of its last day, in rows by month or by date. */
export function octoberOf(
  metric: string,
  rows: readonly Readonly<Record<string, unknown>>[],
): number | null | undefined {
  const found = rows.find((row) =>
    isOfOneDay(metric) ? row['date'] === OCTOBER.until : row['month'] === OCTOBER.month,
  );
  const value = found?.['value'];
  return typeof value === 'number' || value === null ? value : undefined;
}

/** The numbers of statements by month or by date, run as they are. */
export function sqlNumbers(
  name: string,
  warehouse: Pick<Warehouse, 'select'>,
  statementOf: (metric: string) => string,
): NumberSource {
  return {
    name,
    valueIn: async (metric) => octoberOf(metric, await warehouse.select(sql.raw(statementOf(metric)))),
  };
}
