import { type Dialect, type SQL, sql } from '../../../schema/query.ts';
import type { Warehouse } from '../../warehouse/port.ts';
import { periodsInPlaceOfTable, type TeamPeriod } from '../../warehouse/rollups/current.ts';
import type { NamedQuery } from './select.ts';

/**
 * The named query that hides the table `user_teams` from a query while the table is not current, so that the query reads
 * the teams that follow from the people and days of its snapshot. None where the table is current. Call inside the
 * snapshot of the query.
 */
export async function teamsInPlaceOfTable(
  warehouse: Pick<Warehouse, 'dialect' | 'select'>,
  orgId: string,
): Promise<readonly NamedQuery[]> {
  const periods = await periodsInPlaceOfTable(warehouse, orgId);
  if (periods === null) return [];
  return [
    { name: 'user_teams', body: ROWS_OF[warehouse.dialect](orgId, textOf(periods)), isMaterialized: true },
  ];
}

/** The periods as one parameter, because a database limits the number of parameters. Absent fields are NULL. */
function textOf(periods: readonly TeamPeriod[]): string {
  return JSON.stringify(periods, (name, value) => (name === 'org_id' ? undefined : (value ?? undefined)));
}

const FIELDS = ['user_id', 'valid_from', 'valid_to', 'person', 'team', 'department', 'cost_center'] as const;

const ROWS_OF: Readonly<Record<Dialect, (orgId: string, json: string) => SQL>> = {
  // SQLite joins by an index that it makes itself, but only over columns whose type is that of the other side.
  sqlite: (orgId, json) => sql`  SELECT CAST(${orgId} AS TEXT) AS org_id,
    ${sql.raw(FIELDS.map((name) => `CAST(json_extract(value, '$.${name}') AS TEXT) AS ${name}`).join(',\n    '))}
  FROM json_each(${json})`,
  postgres: (orgId, json) => sql`  SELECT CAST(${orgId} AS text) AS org_id, p.*
  FROM jsonb_to_recordset(CAST(${json} AS jsonb)) AS p (user_id text, valid_from date, valid_to date, person text,
    team text, department text, cost_center text)`,
};
