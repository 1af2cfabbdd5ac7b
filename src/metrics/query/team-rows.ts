import type { Term } from '../../../schema/metrics/dictionary.ts';
import { type SQL, sql } from '../../../schema/query.ts';
import { tables } from '../../../schema/tables.ts';
import { daysBetween } from '../../core/day.ts';
import { type ReadableRollups, UNASSIGNED } from '../../rollups/index.ts';
import { equals, expressionOf, filterConditions } from './conditions.ts';
import { columnName, conditionsOf, groupsOf, needsTeam, type Plan, selectSql } from './plan.ts';
import { dailyColumns, rollupRows } from './rollup-rows.ts';
import { bucketOf, columnsOfTerm, type Rows, rowsBetween, teamJoin } from './rows.ts';

/** With more stale days, everything is likely to be stale. A run pulls the last month again at most. */
const STALE_DAYS_MAX = 31;

/**
 * The days of teams in the period, or their days by model, the stale ones from the rows of users. Undefined if they cannot serve the
 * question: they know no single user, so that users are only counted within one day.
 */
export function teamRows(plan: Plan, terms: readonly Term[]): Rows | undefined {
  if (!isServed(plan, terms)) return undefined;
  const { grain } = plan;
  const parts = [currentRows(plan, terms), ...staleOf(plan).map((days) => staleRows(plan, terms, days))];
  return {
    kind: 'team days',
    named: [{ name: 'activity', body: sql.join(parts, sql.raw('\n  UNION ALL\n')) }],
    from: [sql`activity r`],
    where: [],
    team: sql`r.team`,
    bucket: grain === undefined ? undefined : sql.raw(`r.${grain}`),
  };
}

/**
 * The users of the period from a rollup of users, and what they cost from the days of teams: rows with a user alone, and rows with
 * credits and their price alone. Undefined if either cannot serve the question.
 */
export function costAndUserRows(plan: Plan, terms: readonly Term[]): Rows | undefined {
  const sums = terms.filter(({ kind }) => kind !== 'users');
  if (sums.length === terms.length || !sums.some(({ kind }) => kind === 'cost')) return undefined;
  const [people, days] = [rollupRows(plan, []), teamRows(plan, sums)];
  const [active, teamDays] = [people?.named.at(-1), days?.named.at(-1)];
  if (people === undefined || active === undefined || days === undefined || teamDays === undefined)
    return undefined;
  const columns = [...new Set(sums.flatMap((term) => columnsOfTerm(term, 'team days')))];
  const bucket = (rows: Rows) =>
    plan.grain === undefined ? [] : [sql`${rows.bucket} AS ${sql.raw(plan.grain)}`];
  const team = needsTeam(plan) ? [sql`r.team`] : [];
  const parts = [
    {
      columns: [
        ...bucket(people),
        sql`r.user_id`,
        ...team,
        ...[...columns, 'price_per_million'].map((column) => sql.raw(`NULL AS ${column}`)),
      ],
      from: [sql`active r`],
    },
    {
      columns: [
        ...bucket(days),
        sql`NULL`,
        ...team,
        ...columns.map((column) => sql.raw(`r.${column}`)),
        sql`r.price_per_million`,
      ],
      from: [sql`team_days r`],
    },
  ].map((part) => selectSql(part, '  '));
  return {
    ...people,
    named: [
      // The days of the query are there anyway, for their prices.
      ...people.named.slice(0, -1).filter(({ name }) => name !== 'days (date)'),
      { ...active, name: 'active' },
      { ...teamDays, name: 'team_days' },
      { name: 'activity', body: sql.join(parts, sql.raw('\n  UNION ALL\n')) },
    ],
  };
}

/** What the key of each rollup of teams begins with. The rest of it tells the rows of a team on a day apart. */
const TEAM_DAY_KEY: ReadonlySet<string> = new Set(['org_id', 'date', 'team']);

function isServed(plan: Plan, terms: readonly Term[]): boolean {
  const { source, rollups, user, except, grain, from, until, teams } = plan;
  const table = source.rollups.teams;
  if (table === undefined || rollups === null || user !== undefined || except !== undefined) return false;
  const parts = table.key.filter((column) => !TEAM_DAY_KEY.has(column));
  const staleDays = staleOf(plan).reduce(
    (sum, { firstDay, lastDay }) => sum + daysBetween(firstDay, lastDay) + 1,
    0,
  );
  if (staleDays > STALE_DAYS_MAX) return false;
  // The days that are stale are those of the table's own stream: with parts, another one than that which says who is new.
  const areTeamsKnown = teams.every(
    ({ isOnlyOfStaleDays }) => isOnlyOfStaleDays === true && parts.length === 0,
  );
  if (needsTeam(plan) && !areTeamsKnown) return false;
  const countsUsers = terms.some(({ kind }) => kind === 'users');
  if (countsUsers && (parts.length > 0 || (grain !== 'date' && from !== until))) return false;
  return [...groupsOf(plan), ...conditionsOf(plan)].every(
    (dimension) =>
      dimension === 'team' || source.columns[dimension]?.every((column) => parts.includes(column)),
  );
}

/** The days in the period whose rows of teams may not be read. */
function staleOf({ source, rollups }: Plan): ReadableRollups['stale']['teams'] {
  if (rollups === null) return [];
  return source.rollups.teams === tables.teamModelDaily ? rollups.stale.models : rollups.stale.teams;
}

/** The columns of rows `r` that the question groups by, besides time, user and team. */
export function groupColumns(plan: Plan): SQL[] {
  return groupsOf(plan).flatMap((dimension) =>
    (plan.source.columns[dimension] ?? []).map((column) => sql.raw(`r.${column}`)),
  );
}

function currentRows(plan: Plan, terms: readonly Term[]): SQL {
  const { phrases, from, until, team, where } = plan;
  const columns = new Set(terms.flatMap((term) => columnsOfTerm(term, 'team days')));
  return rowsOnDays(plan, terms, {
    columns: [
      ...(needsTeam(plan) ? [sql`NULLIF(r.team, ${UNASSIGNED}) AS team`] : []),
      ...groupColumns(plan),
      ...users(sql`r.active_users`, terms),
      ...[...columns].map((column) => sql.raw(`r.${column}`)),
    ],
    from: [sql.raw(`${plan.source.rollups.teams?.name} r`)],
    where: [
      sql`r.date BETWEEN ${phrases.day(from)} AND ${phrases.day(until)}`,
      ...(team === undefined ? [] : [sql`r.team = ${team ?? UNASSIGNED}`]),
      ...conditionsOf(plan).map((dimension) =>
        equals(expressionOf(plan, dimension), where[dimension] ?? null),
      ),
      ...staleOf(plan).map(
        ({ firstDay, lastDay }) =>
          sql`r.date NOT BETWEEN ${phrases.day(firstDay)} AND ${phrases.day(lastDay)}`,
      ),
    ],
  });
}

/** The rows of the users of stale days, each of one user. */
function staleRows(plan: Plan, terms: readonly Term[], { firstDay, lastDay }: Days): SQL {
  const { phrases } = plan;
  return rowsOnDays(plan, terms, {
    columns: [
      ...(needsTeam(plan) ? [sql`t.team`] : []),
      ...groupColumns(plan),
      ...users(sql`1`, terms),
      ...dailyColumns(terms),
    ],
    from: [rowsBetween(plan, firstDay, lastDay), ...teamJoin(plan)],
    where: [
      sql`r.date BETWEEN ${phrases.day(firstDay)} AND ${phrases.day(lastDay)}`,
      ...filterConditions(plan),
    ],
  });
}

/** Days that follow each other. */
type Days = ReadableRollups['stale']['teams'][number];

/** A part of the rows, with their bucket and price. Each part finds its rows by the key; all together would have no index. */
function rowsOnDays(
  plan: Plan,
  terms: readonly Term[],
  part: { readonly columns: readonly SQL[]; readonly from: readonly SQL[]; readonly where: readonly SQL[] },
): SQL {
  const { grain, orgId } = plan;
  const withPrice = terms.some(({ kind }) => kind === 'cost');
  const usesDays = grain === 'week' || grain === 'month' || withPrice;
  const [rows, ...joins] = part.from;
  return selectSql(
    {
      columns: [
        ...(grain === undefined ? [] : [sql`${bucketOf(plan)} AS ${columnName(grain)}`]),
        ...part.columns,
        ...(withPrice ? [sql`d.price_per_million`] : []),
      ],
      from: [...(usesDays ? [sql`days d`, sql`CROSS JOIN ${rows}`] : [sql`${rows}`]), ...joins],
      where: [sql`r.org_id = ${orgId}`, ...(usesDays ? [sql`r.date = d.date`] : []), ...part.where],
    },
    '  ',
  );
}

/** The number of users of a row, for terms that count them. */
function users(expression: SQL, terms: readonly Term[]): SQL[] {
  return terms.some(({ kind }) => kind === 'users') ? [sql`${expression} AS active_users`] : [];
}
