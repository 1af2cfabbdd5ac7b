import { userRows } from '../../../schema/metrics/user-metrics.ts';
import { type SQL, sql } from '../../../schema/query.ts';
import type { Facts } from './facts.ts';
import { columnName, groupsOf, type Plan, teamConditions, VALUE } from './plan.ts';
import { rollupRows } from './rollup-rows.ts';
import { dailyRows } from './rows.ts';
import { type NamedQuery, selectSql } from './select.ts';

/** The number of people who are valid on the last day of each bucket. */
export function licensedPeople(plan: Plan): Facts {
  return countedPeople(plan, { named: [], joins: [], value: sql`COUNT(*)` });
}

/** The number of these whose users have no row in the bucket. */
export function inactivePeople(plan: Plan): Facts {
  const sameBucket = plan.grain === undefined ? [] : [sql.raw(`a.${plan.grain} = b.${plan.grain}`)];
  return countedPeople(plan, {
    named: activePeople(plan),
    joins: [
      sql`LEFT JOIN active_people a ON ${sql.join([...sameBucket, sql`a.person = p.person`], sql` AND `)}`,
    ],
    value: sql`COUNT(*) - COUNT(a.person)`,
  });
}

function countedPeople(
  plan: Plan,
  { named, joins, value }: { named: readonly NamedQuery[]; joins: readonly SQL[]; value: SQL },
): Facts {
  const { orgId, grain } = plan;
  const bucket = grain === undefined ? [] : [sql.raw(`b.${grain}`)];
  const groups = [...bucket, ...groupsOf(plan).map((dimension) => sql`p.${columnName(dimension)}`)];
  const body = selectSql(
    {
      columns: [...groups, sql`COUNT(*) AS row_count`, sql`${value} AS value`],
      from: [
        sql`buckets b`,
        sql`JOIN people p ON p.org_id = ${orgId}
    AND b.last_day >= p.valid_from AND (p.valid_to IS NULL OR b.last_day <= p.valid_to)`,
        ...joins,
      ],
      where: teamConditions(plan, sql`p.team`),
      groupBy: groups,
    },
    '  ',
  );
  return {
    named: [...named, { name: 'facts', body }],
    values: [{ column: VALUE, nothing: 'zero' }],
    isByDay: true,
    onlyIf: sql`EXISTS (SELECT 1 FROM people WHERE org_id = ${orgId})`,
  };
}

/** The people who have a user with a row in the bucket, by whom the user is on its last day. */
function activePeople(plan: Plan): NamedQuery[] {
  const { orgId, grain } = plan;
  const everyone: Plan = {
    ...plan,
    source: userRows,
    by: grain === undefined ? [] : [grain],
    team: undefined,
  };
  const rows = rollupRows(everyone, []) ?? dailyRows(everyone, []);
  const bucket =
    rows.bucket === undefined || grain === undefined ? [] : [sql`${rows.bucket} AS ${sql.raw(grain)}`];
  const column = grain === undefined ? [] : [sql.raw(`b.${grain}`)];
  const users = selectSql(
    {
      columns: [sql.join([sql`DISTINCT `, sql.join([...bucket, sql`r.user_id`], sql`, `)])],
      from: rows.from,
      where: rows.where,
    },
    '  ',
  );
  const people = selectSql(
    {
      columns: [sql.join([sql`DISTINCT `, sql.join([...column, sql`t.person`], sql`, `)])],
      from: [
        sql`active_users u`,
        grain === undefined
          ? sql`CROSS JOIN buckets b`
          : sql`JOIN buckets b ON ${sql.raw(`b.${grain} = u.${grain}`)}`,
        sql`JOIN user_teams t ON t.org_id = ${orgId} AND t.user_id = u.user_id
    AND b.last_day BETWEEN t.valid_from AND t.valid_to`,
      ],
    },
    '  ',
  );
  return [...rows.named, { name: 'active_users', body: users }, { name: 'active_people', body: people }];
}
