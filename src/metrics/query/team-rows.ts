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

const ROWS_OF: Readonly<Record<Dialect, (orgId: string, json: string) => SQL>> = {
  sqlite: (orgId, json) => sql`  SELECT ${orgId} AS org_id, json_extract(value, '$.user_id') AS user_id,
    json_extract(value, '$.valid_from') AS valid_from, json_extract(value, '$.valid_to') AS valid_to,
    json_extract(value, '$.person') AS person, json_extract(value, '$.team') AS team,
    json_extract(value, '$.department') AS department, json_extract(value, '$.cost_center') AS cost_center
  FROM json_each(${json})`,
  postgres: (orgId, json) => sql`  SELECT CAST(${orgId} AS text) AS org_id, p.*
  FROM jsonb_to_recordset(CAST(${json} AS jsonb)) AS p (user_id text, valid_from date, valid_to date, person text,
    team text, department text, cost_center text)`,
};
