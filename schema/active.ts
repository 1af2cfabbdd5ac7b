import type { AnyTable } from './define.ts';

/** Counts over trailing days; they go on after the last activity. */
const TRAILING: ReadonlySet<string> = new Set(['weekly_active_users', 'monthly_active_users']);

/** Positions of the columns of a table whose numbers say, unless 0 or NULL, that something happened on the day. */
export function activityPositions(table: AnyTable): number[] {
  return Object.entries(table.columns).flatMap(([name, { kind }], index) =>
    kind === 'metric' && !TRAILING.has(name) ? [index] : [],
  );
}
