import type { AnyTable } from '../define.ts';
import { allTables } from '../tables.ts';

/** How a table is distributed over servers: by organization, or as a whole copy on each. */
export type Placement = 'distributed' | 'reference';

/** The column whose value determines the server of a row. */
export const DISTRIBUTION_COLUMN = 'org_id';

/**
 * How a table is distributed. A key must contain the column that rows are distributed by; it is missing in
 * the keys of the runs, because a run may end before it knows one, of the names of organizations, and of the calendar.
 */
export function placementOf(table: AnyTable): Placement {
  return table.key[0] === DISTRIBUTION_COLUMN ? 'distributed' : 'reference';
}

/**
 * The statements that distribute a PostgreSQL warehouse with Citus. All tables are colocated, so that the rows of an
 * organization are on one server and a day is committed there.
 */
export function citusSql(): string {
  const distributed = allTables.filter((table) => placementOf(table) === 'distributed');
  const reference = allTables.filter((table) => placementOf(table) === 'reference');
  const first = distributed[0]?.name;
  const lines = [
    '-- Distribution: run from here on to distribute a warehouse that exists already.',
    ...distributed.map(
      ({ name }) =>
        `SELECT create_distributed_table('${name}', '${DISTRIBUTION_COLUMN}', colocate_with => '${name === first ? 'none' : first}');`,
    ),
    ...reference.map(({ name }) => `SELECT create_reference_table('${name}');`),
  ];
  return `${lines.join('\n')}\n`;
}
