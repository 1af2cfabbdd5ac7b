import type { AnyTable } from './define.ts';
import * as activity from './tables/activity.ts';
import * as events from './tables/events.ts';
import * as ledger from './tables/ledger.ts';
import * as productivity from './tables/productivity.ts';
import * as readiness from './tables/readiness.ts';
import * as tokens from './tables/tokens.ts';
import * as tools from './tables/tools.ts';
import * as users from './tables/users.ts';

/** Every table of the warehouse, by the name under which the code knows it. */
export const tables = {
  ...tokens,
  ...tools,
  ...activity,
  ...productivity,
  ...users,
  ...readiness,
  ...events,
  ...ledger,
} as const;

/** Every table, in the order of the documentation. */
export const allTables: readonly AnyTable[] = Object.values(tables);

/** The tables that the units of a stream fill, parents before children. */
export function tablesOf(stream: string): AnyTable[] {
  return allTables.filter((table) => table.stream === stream);
}

/** The tables that hold what the service said; all but the exporter's own. Their content is what a digest covers. */
export const contentTables: readonly AnyTable[] = allTables.filter((table) => table.role !== 'ledger');
