import type { AnyTable } from '../../../schema/define.ts';
import type { Term } from '../../../schema/metrics/dictionary.ts';
import { listOf, type SQL, sql } from '../../../schema/query.ts';
import { daysBetween, FIRST_DAY, mondayOf, monthOf, shiftDay, type UtcDay } from '../../core/day.ts';
import type { ReadableRollups } from '../../rollups/index.ts';
import { filterConditions, userConditions } from './conditions.ts';
import { conditionsOf, groupsOf, type NamedQuery, needsTeam, type Plan, selectSql } from './plan.ts';
import { calendarOf, columnsOfTerm, type Rows, rowsBetween, teamJoin } from './rows.ts';

/** The whole weeks or months of a period, and the rollup that has their sums. */
interface Whole {
  readonly rollup: 'weekly' | 'monthly';
  readonly first: UtcDay;
  readonly last: UtcDay;
}

/** The whole weeks or months that a query reads from a rollup. */
interface Served extends Whole {
  readonly table: AnyTable;
  /** Those of them whose days it reads instead, because the rollup was computed from other content. */
  readonly stale: ReadableRollups['stale']['weekly'];
}

/** A run pulls the last month again at most, which touches six weeks. With more, everything is likely to be stale. */
const STALE_BUCKETS_MAX = 6;

/**
 * The rows of the period with its whole weeks or months from a rollup, and its other days from the rows of the source. Undefined if
 * no current rollup can serve the question.
 */
export function rollupRows(plan: Plan, terms: readonly Term[]): Rows | undefined {
  const found = wholeBuckets(plan);
  const table = found && plan.source.rollups[found.rollup];
  if (found === undefined || table === undefined || plan.rollups === null) return undefined;
  if (!isServed(plan, terms, table)) return undefined;
  const stale = plan.rollups.stale[found.rollup].filter(
    ({ firstDay, lastDay }) => found.first <= firstDay && lastDay <= found.last,
  );
  const whole = { ...found, table, stale };
  if (whole.stale.length > STALE_BUCKETS_MAX) return undefined;
  return {
    kind: 'rollup',
    named: [...(needsTeam(plan) ? movedUsers(plan, whole) : []), activity(plan, terms, whole)],
    from: [sql`activity r`],
    where: [],
    team: sql`r.team`,
    bucket: plan.grain === undefined ? undefined : sql.raw(`r.${plan.grain}`),
  };
}

function isServed(plan: Plan, terms: readonly Term[], table: AnyTable): boolean {
  if (conditionsOf(plan).length > 0) return false;
  if (terms.some(({ kind }) => kind === 'cost')) return false;
  // The database would read all teams again for each row.
  if (needsTeam(plan) && plan.teams.some(({ isTakenForSmall }) => isTakenForSmall)) return false;
  return [...groupsOf(plan), ...(plan.except?.by ?? [])].every(
    (dimension) =>
      dimension === 'user' ||
      dimension === 'team' ||
      plan.source.columns[dimension]?.every((column) => column in table.columns),
  );
}

/** The columns that tell the rows of one user in a week or month apart. */
function partsOf({ key }: AnyTable): SQL[] {
  return key.filter((column) => !BUCKET_KEY.has(column)).map((column) => sql.raw(column));
}

const BUCKET_KEY: ReadonlySet<string> = new Set(['org_id', 'week_start', 'month', 'user_id']);

function columnsIn(row: string, columns: readonly SQL[]): SQL[] {
  return columns.map((column) => sql`${sql.raw(row)}.${column}`);
}

/**
 * The whole weeks of a period cut by week, otherwise its whole months; undefined if it has none. The ones with the first day ever and
 * with the newest stored day are whole if the period has these days.
 */
function wholeBuckets({
  grain,
  from,
  until,
  rollups,
}: Pick<Plan, 'grain' | 'from' | 'until' | 'rollups'>): Whole | undefined {
  if (grain === 'date') return undefined;
  const start = grain === 'week' ? mondayOf : monthOf;
  const first = start(from) === from || from <= FIRST_DAY ? start(from) : nextStart(start, from);
  const isNewest = rollups?.lastDay !== null && rollups?.lastDay !== undefined && until >= rollups.lastDay;
  const last = shiftDay(isNewest ? nextStart(start, until) : start(shiftDay(until, 1)), -1);
  if (daysBetween(first, last) < 0) return undefined;
  return { rollup: grain === 'week' ? 'weekly' : 'monthly', first, last };
}

/** The longest bucket has this many days. */
const BUCKET_DAYS_MAX = 31;

function nextStart(start: (day: UtcDay) => UtcDay, day: UtcDay): UtcDay {
  const later = shiftDay(start(day), start === mondayOf ? 7 : BUCKET_DAYS_MAX);
  return start(later);
}

function activity(plan: Plan, terms: readonly Term[], whole: Served): NamedQuery {
  const { from, until } = plan;
  const { first, last, stale } = whole;
  const parts = [
    wholeRows(plan, terms, whole),
    ...(needsTeam(plan) ? [movedRows(plan, terms, whole)] : []),
    ...stale.map(({ firstDay, lastDay }) =>
      clippedRows(plan, terms, { ...whole, first: firstDay, last: lastDay }),
    ),
    ...(from < first ? [clippedRows(plan, terms, { ...whole, first: from, last: shiftDay(first, -1) })] : []),
    ...(last < until ? [clippedRows(plan, terms, { ...whole, first: shiftDay(last, 1), last: until })] : []),
  ];
  return { name: 'activity', body: sql.join(parts, sql.raw('\n  UNION ALL\n')) };
}

/** The rows of the rollup. The team of a user who does not move in a week or month is that of its first active day. */
function wholeRows(plan: Plan, terms: readonly Term[], whole: Served): SQL {
  const { key, table, conditions } = rollupOf(plan, whole);
  const columns = [...new Set(terms.flatMap((term) => columnsOfTerm(term, 'rollup')))];
  // As a list, the databases look up each row in an index that they make; with EXISTS, SQLite would read all of it.
  const parts = partsOf(whole.table);
  const own = listOf([sql`r.user_id`, key, ...columnsIn('r', parts)]);
  const hasMoved = sql`(${own}) IN (SELECT ${listOf([sql`user_id`, sql`bucket`, ...parts])} FROM moved)`;
  return selectSql(
    {
      columns: [...identityOf(plan, key, whole), ...columns.map((column) => sql.raw(`r.${column}`))],
      from: [table, ...teamJoin(plan, sql`r.first_active_on`)],
      where: [...conditions, ...filterConditions(plan), ...(needsTeam(plan) ? [sql`NOT ${hasMoved}`] : [])],
    },
    '  ',
  );
}

/** The users who change the team between two active days of a week or month, with the first and last of these days. */
function movedUsers(plan: Plan, whole: Served): NamedQuery[] {
  const { key, table, conditions, keyOn } = rollupOf(plan, whole);
  const { first, last } = whole;
  const body = selectSql(
    {
      columns: [
        sql`DISTINCT r.user_id`,
        sql`${key} AS bucket`,
        sql`r.first_active_on`,
        sql`r.last_active_on`,
        ...columnsIn('r', partsOf(whole.table)),
      ],
      // The few changes come first, so that the database finds their rows by the key.
      from: [sql`user_teams t`, sql`CROSS JOIN ${table}`],
      where: [
        sql`t.org_id = ${plan.orgId}`,
        sql`(t.valid_from BETWEEN ${first} AND ${last} OR t.valid_to BETWEEN ${first} AND ${last})`,
        sql`r.user_id = t.user_id`,
        sql`${key} IN (${keyOn(sql`t.valid_from`)}, ${keyOn(sql`t.valid_to`)})`,
        ...conditions,
        ...userConditions(plan),
        sql`((t.valid_from > r.first_active_on AND t.valid_from <= r.last_active_on)
      OR (t.valid_to >= r.first_active_on AND t.valid_to < r.last_active_on))`,
      ],
    },
    '  ',
  );
  const moved = { name: 'moved', body };
  return plan.grain === undefined ? [calendarOf(plan), moved] : [moved];
}

/** The days of the users who moved, with the columns of the rollup. */
function movedRows(plan: Plan, terms: readonly Term[], whole: Served): SQL {
  return selectSql(
    {
      columns: [...identityOf(plan, sql`m.bucket`, whole), ...dailyColumns(terms)],
      from: [
        sql`moved m`,
        sql`CROSS JOIN days d`,
        sql.raw(`CROSS JOIN ${plan.source.table.name} r`),
        ...teamJoin(plan),
      ],
      where: [
        sql`d.date BETWEEN m.first_active_on AND m.last_active_on`,
        sql`r.org_id = ${plan.orgId}`,
        sql`r.date = d.date`,
        sql`r.user_id = m.user_id`,
        ...partsOf(whole.table).map((part) => sql`r.${part} = m.${part}`),
        ...filterConditions(plan),
      ],
    },
    '  ',
  );
}

/** The rows of the days of one bucket that the rollup cannot serve, with the columns of the rollup. */
function clippedRows(plan: Plan, terms: readonly Term[], clip: Served): SQL {
  const { phrases, grain, orgId } = plan;
  const { first, last } = clip;
  const bucket = grain === 'week' ? phrases.day(mondayOf(first)) : sql`${first.slice(0, 7)}`;
  return selectSql(
    {
      columns: [...identityOf(plan, bucket, clip), ...dailyColumns(terms)],
      from: [rowsBetween(plan, first, last), ...teamJoin(plan)],
      where: [sql`r.org_id = ${orgId}`, sql`r.date BETWEEN ${first} AND ${last}`, ...filterConditions(plan)],
    },
    '  ',
  );
}

/** The columns that tell rows of activity apart: bucket, user and team as far as the question needs them, and parts. */
function identityOf(plan: Plan, bucket: SQL, { table }: Served): SQL[] {
  const { grain } = plan;
  return [
    ...(grain === undefined ? [] : [sql`${bucket} AS ${sql.raw(grain)}`]),
    sql`r.user_id`,
    ...(needsTeam(plan) ? [sql`t.team`] : []),
    ...columnsIn('r', partsOf(table)),
  ];
}

/** The key of the rows of a rollup, also on a day, their table, and the condition of the whole weeks or months that it serves. */
function rollupOf({ orgId, phrases }: Plan, { rollup, table, first, last, stale }: Served) {
  const org = sql`r.org_id = ${orgId}`;
  if (rollup === 'weekly') {
    const range = sql`r.week_start BETWEEN ${first} AND ${last}`;
    const others = noneOf(
      sql`r.week_start`,
      stale.map(({ firstDay }) => phrases.day(firstDay)),
    );
    return {
      key: sql`r.week_start`,
      keyOn: phrases.weekOf,
      table: sql.raw(`${table.name} r`),
      conditions: [org, range, ...others],
    };
  }
  const range = sql`r.month BETWEEN ${first.slice(0, 7)} AND ${last.slice(0, 7)}`;
  const others = noneOf(
    sql`r.month`,
    stale.map(({ name }) => sql`${name}`),
  );
  return {
    key: sql`r.month`,
    keyOn: phrases.monthOf,
    table: sql.raw(`${table.name} r`),
    conditions: [org, range, ...others],
  };
}

/** The condition that a column has none of some values; none without values. */
function noneOf(column: SQL, values: readonly SQL[]): SQL[] {
  return values.length === 0 ? [] : [sql`${column} NOT IN (${listOf(values)})`];
}

/** The columns of a rollup that terms read, from rows of days. */
export function dailyColumns(terms: readonly Term[]): Iterable<SQL> {
  return new Map(
    terms.flatMap((term) => {
      if (term.kind === 'users') return [];
      if (term.kind === 'cost') return [['billable_tokens', sql`r.billable_tokens`] as const];
      const { where } = term;
      if (where === undefined) return term.columns.map((column) => [column, sql.raw(`r.${column}`)] as const);
      const [column = ''] = term.columns;
      const value = sql`CASE WHEN r.${sql.raw(where.column)} = ${where.equals} THEN r.${sql.raw(column)} END`;
      return [[where.rollupColumn, sql`${value} AS ${sql.raw(where.rollupColumn)}`] as const];
    }),
  ).values();
}
