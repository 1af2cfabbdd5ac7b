import type { AnyTable } from './define.ts';
import { columnsOf, positionsOf, type Values } from './row.ts';

/**
 * Columns that count over trailing days. They stay above 0 for a month after the last activity, and change for a month after
 * a restated day.
 */
export const TRAILING_COLUMNS: ReadonlySet<string> = new Set(['weekly_active_users', 'monthly_active_users']);

/** The columns of a table whose numbers, unless 0 or NULL, show that something happened on the day. */
export function activityColumns(table: AnyTable): string[] {
  return columnsOf(table).filter(
    (name) => table.columns[name]?.kind === 'metric' && !TRAILING_COLUMNS.has(name),
  );
}

/** Returns a test that is true for the rows of a table that show activity. */
export function activityTest(table: AnyTable): (row: Values) => boolean {
  const positions = positionsOf(table, activityColumns(table));
  return (row) => positions.some((position) => row[position] !== null && row[position] !== 0);
}
