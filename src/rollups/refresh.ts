import type { AnyTable } from '../../schema/define.ts';
import { type Dialect, listOf, type SQL, sql } from '../../schema/query.ts';
import { encoderOf, OPEN_END } from '../../schema/row.ts';
import { tables } from '../../schema/tables.ts';
import { daysBetween, daysFrom, isDay, shiftDay, type UtcDay } from '../core/day.ts';
import { type QueryRow, runReads, type Steps, type Warehouse } from '../port/index.ts';
import { type Bucket, bucketsOf, extendDates, groupsOf, hasAllDates, isIn } from './calendar.ts';
import { type TeamPeriod, teamPeriods } from './resolve-people.ts';
import {
  isUsersCurrent,
  PEOPLE_MARK,
  peopleSha256,
  readStanding,
  type Standing,
  storedOf,
  streamOf,
} from './standing.ts';
import { columnList, organizationTotals, tablesOfBucket, usersOfToday } from './totals.ts';

/** The name under which one process at a time writes rollups, see `Warehouse.oneAtATime`. */
export const ROLLUPS = 'rollups';

/**
 * About how many rows of `user_daily` one transaction reads. SQLite blocks the process during a statement, so a
 * transaction must stay short; a bucket with more rows has a transaction of its own.
 */
const ROWS_PER_TRANSACTION = 100_000;

/** How often months are computed again because other workers committed meanwhile. The next run does the rest. */
const ROUNDS_MAX = 3;

/** What to refresh. */
interface RefreshOptions {
  readonly orgId: string;
  /** The present, up to two years after which `dates` goes. */
  readonly now: Date;
  /** Days whose rollups are computed again even if they are current, for rollups that somebody edited. @default none */
  readonly force?: { readonly firstDay: UtcDay; readonly lastDay: UtcDay } | undefined;
  /** Aborted when the process must stop: the refresh ends between two transactions, and the next one resumes. */
  readonly signal?: AbortSignal | undefined;
}

/** What a refresh has computed again. */
interface Refreshed {
  readonly weeks: number;
  readonly months: number;
  /** `users` and `user_teams` were computed again. */
  readonly users: boolean;
  /** Days of `team_daily` and of `team_model_daily`. */
  readonly teamDays: number;
}

/**
 * Computes those rollups of an organization again that differ from the ledger, in short transactions. May be repeated at
 * will, also after a kill at any instant. Waits while another process refreshes.
 * @throws {StorageError} when the database fails; what was computed before stays.
 */
export async function refreshRollups(warehouse: Warehouse, options: RefreshOptions): Promise<Refreshed> {
  if (options.force === undefined && (await isAllCurrent(warehouse, options))) return NOTHING;
  return warehouse.oneAtATime(ROLLUPS, () => refreshAlone(warehouse, options));
}

/**
 * As {@link refreshRollups}, for every organization: those in the ledger, and those that are in rollups only, because a
 * copy has removed them.
 */
export async function refreshAllRollups(
  warehouse: Warehouse,
  options: Omit<RefreshOptions, 'orgId'>,
): Promise<void> {
  const organizations = await warehouse.select(
    sql`SELECT org_id FROM export_units UNION SELECT org_id FROM rollup_marks ORDER BY org_id`,
  );
  for (const { org_id } of organizations) {
    if (options.signal?.aborted) return;
    await refreshRollups(warehouse, { ...options, orgId: String(org_id) });
  }
}

const NOTHING: Refreshed = { weeks: 0, months: 0, users: false, teamDays: 0 };

async function isAllCurrent(warehouse: Warehouse, { orgId, now }: RefreshOptions): Promise<boolean> {
  const { stale, isPeopleStale } = await runReads(warehouse, readStanding(orgId));
  const isCurrent = Object.values(stale).every((days) => days.length === 0) && !isPeopleStale;
  return isCurrent && (await runReads(warehouse, hasAllDates(now)));
}

async function refreshAlone(warehouse: Warehouse, options: RefreshOptions): Promise<Refreshed> {
  const { orgId, now, signal } = options;
  await warehouse.transact('extend the calendar of', () => extendDates(now, options.force !== undefined));
  if (options.force !== undefined)
    await warehouse.transact('clear rollups of', () => removeStrayBuckets(orgId));
  const done = { weeks: 0, months: 0, users: false, teamDays: 0 };
  for (let round = 1; round <= ROUNDS_MAX && !done.users; round += 1) {
    const standing = await runReads(warehouse, readStanding(orgId));
    const force = round === 1 ? options.force : undefined;
    const groups = groupsToRefresh(['weekly', 'monthly'], standing, force);
    if (groups.length === 0 && isUsersCurrent(standing)) break;
    for (const group of groups) {
      if (signal?.aborted) return done;
      await warehouse.transact('refresh rollups of', () => refreshBuckets(warehouse.dialect, orgId, group));
      done.weeks += group.filter(({ rollup }) => rollup === 'weekly').length;
      done.months += group.filter(({ rollup }) => rollup === 'monthly').length;
    }
    if (signal?.aborted) return done;
    done.users = await warehouse.transact('refresh users of', () => refreshUsers(warehouse.dialect, orgId));
  }
  const standing = await runReads(warehouse, readStanding(orgId));
  // Days of teams follow from who is in which team.
  if (!isUsersCurrent(standing)) return done;
  for (const group of groupsToRefresh(['teams', 'models'], standing, options.force)) {
    if (signal?.aborted) return done;
    await warehouse.transact('refresh teams of', () => refreshBuckets(warehouse.dialect, orgId, group));
    for (const { firstDay, lastDay } of group) done.teamDays += daysBetween(firstDay, lastDay) + 1;
  }
  return done;
}

/** The stale buckets and those of the forced days, in groups that fit one transaction. */
function groupsToRefresh(
  rollups: readonly Bucket['rollup'][],
  standing: Standing,
  force: RefreshOptions['force'],
): Bucket[][] {
  const forced = force === undefined ? [] : daysFrom(force.firstDay, force.lastDay);
  return rollups.flatMap((rollup) =>
    groupsOf(
      bucketsOf(rollup, [...standing.stale[rollup], ...forced]),
      storedOf(standing, rollup),
      ROWS_PER_TRANSACTION,
    ),
  );
}

/**
 * Computes buckets again: their marks, their rows, and `org_monthly` from them. Run it in one transaction. The marks are
 * written first: if a commit came between two statements, a mark could only be too old, and the bucket would be computed
 * once more.
 */
function* refreshBuckets(dialect: Dialect, orgId: string, buckets: readonly Bucket[]): Steps<void> {
  for (const bucket of buckets) {
    yield* markBucket(orgId, bucket);
    for (const { table, rows } of tablesOfBucket(dialect, orgId, bucket))
      yield* replace(table, orgId, isIn(bucket), rows);
  }
  const first = buckets.find(({ rollup }) => rollup === 'monthly');
  if (first === undefined) return;
  // Later months too: a user who appears earlier than before is no longer new there.
  const totals = organizationTotals(orgId, first.name);
  yield* replace(tables.orgMonthly, orgId, sql`month >= ${first.name}`, totals);
}

/** Replaces the rows of an organization that satisfy a condition by those of a query. */
function* replace(table: AnyTable, orgId: string, condition: SQL, rows: SQL): Steps<void> {
  const name = sql.identifier(table.name);
  yield sql`DELETE FROM ${name} WHERE org_id = ${orgId} AND ${condition}`;
  yield sql`
    INSERT INTO ${name} (${columnList(table)})
    SELECT ${columnList(table)} FROM (${rows}) AS computed`;
}

function* markBucket(orgId: string, { rollup, firstDay, lastDay }: Bucket): Steps<void> {
  yield sql`
    DELETE FROM rollup_marks
    WHERE org_id = ${orgId} AND rollup = ${rollup} AND date BETWEEN ${firstDay} AND ${lastDay}`;
  yield sql`
    INSERT INTO rollup_marks (org_id, rollup, date, content_sha256)
    SELECT org_id, CAST(${rollup} AS text), date, content_sha256 FROM export_units
    WHERE org_id = ${orgId} AND stream = ${streamOf(rollup)} AND content_sha256 IS NOT NULL
      AND date BETWEEN ${firstDay} AND ${lastDay}`;
}

/** Deletes rows of weeks and months in which no day is stored. Only another program can have written them. */
function* removeStrayBuckets(orgId: string): Steps<void> {
  const { stored, tokens } = yield* readStanding(orgId);
  for (const [table, own] of [
    [tables.teamDaily, stored],
    [tables.teamModelDaily, tokens],
  ] as const) {
    const kept =
      own.length === 0 ? sql`` : sql` AND date NOT IN (${listOf(own.map(({ day }) => sql`${day}`))})`;
    yield sql`DELETE FROM ${sql.identifier(table.name)} WHERE org_id = ${orgId}${kept}`;
  }
  const days = stored.map(({ day }) => day);
  const weeks = bucketsOf('weekly', days).map(({ firstDay }) => sql`${firstDay}`);
  const months = bucketsOf('monthly', days).map(({ name }) => sql`${name}`);
  if (days.length === 0) return;
  yield sql`DELETE FROM user_weekly WHERE org_id = ${orgId} AND week_start NOT IN (${listOf(weeks)})`;
  const ofMonths = [tables.userMonthly, tables.userEmails, tables.userMonthlyLanguages, tables.orgMonthly];
  for (const { name } of ofMonths) {
    yield sql`
      DELETE FROM ${sql.identifier(name)} WHERE org_id = ${orgId} AND month NOT IN (${listOf(months)})`;
  }
}

const encodePeriod = encoderOf(tables.userTeams);
const encodeMark = encoderOf(tables.rollupMarks);

/**
 * Computes `user_teams` and `users` again, from the people and the rollups by month. Run it in one transaction, which
 * may be the one that stores people. If a month is stale, so are they: they get no marks, and false is returned.
 */
export function* refreshUsers(dialect: Dialect, orgId: string): Steps<boolean> {
  const standing = yield* readStanding(orgId);
  const { stale, today } = standing;
  const isCurrent = stale.monthly.length === 0;
  yield sql`DELETE FROM rollup_marks WHERE org_id = ${orgId} AND rollup = 'users'`;
  if (isCurrent) yield* markUsers(orgId, standing);
  const before =
    yield sql`SELECT user_id, valid_from, valid_to, team FROM user_teams WHERE org_id = ${orgId}`;
  yield sql`DELETE FROM user_teams WHERE org_id = ${orgId}`;
  const periods = yield* teamPeriods(orgId, standing);
  yield* unmarkMoves(orgId, standing, { before, after: periods });
  if (periods.length > 0) yield { table: tables.userTeams, rows: periods.map(encodePeriod) };
  if (today === null) yield sql`DELETE FROM users WHERE org_id = ${orgId}`;
  else yield* replace(tables.users, orgId, sql`TRUE`, usersOfToday(dialect, orgId, today));
  return isCurrent;
}

function* markUsers(orgId: string, { stored, people }: Standing): Steps<void> {
  const mark = (date: string, sha256: string) =>
    encodeMark({ org_id: orgId, rollup: 'users', date, content_sha256: sha256 });
  const days = stored.map(({ day, contentSha256 }) => mark(day, contentSha256));
  const ofPeople = people.length === 0 ? [] : [mark(PEOPLE_MARK, peopleSha256(people))];
  yield { table: tables.rollupMarks, rows: [...ofPeople, ...days] };
}

/**
 * Fills all rollups of a warehouse that has just got their tables, in the transaction of the migration. A warehouse
 * without stored units stays as it is.
 */
export function* fillRollups(dialect: Dialect, now: Date): Steps<void> {
  const organizations = yield sql`
    SELECT DISTINCT org_id FROM export_units WHERE stream IN ('users', 'tokens') AND content_sha256 IS NOT NULL`;
  if (organizations.length > 0) yield* extendDates(now);
  for (const row of organizations) {
    const orgId = String(row['org_id']);
    const standing = yield* readStanding(orgId);
    const groupsOfBoth = (...rollups: Bucket['rollup'][]) => groupsToRefresh(rollups, standing, undefined);
    for (const group of groupsOfBoth('weekly', 'monthly')) yield* refreshBuckets(dialect, orgId, group);
    yield* refreshUsers(dialect, orgId);
    for (const group of groupsOfBoth('teams', 'models')) yield* refreshBuckets(dialect, orgId, group);
  }
}

/** Days on which a user has another team than before. */
interface Move {
  readonly user: string;
  readonly from: string;
  readonly to: string;
}

/** With more users or more rows to look for, every day of the moves is computed again. */
const USERS_MAX = 1_000;
const LOOKUPS_MAX = 200_000;

/**
 * Takes the marks of `team_daily` and `team_model_daily` from the days on which users with another team than before have rows, so
 * that these days are computed again. Run it in the transaction that writes the periods.
 * @param before rows of `user_teams`.
 */
export function* unmarkMoves(
  orgId: string,
  standing: Standing,
  { before, after }: { readonly before: readonly QueryRow[]; readonly after: readonly TeamPeriod[] },
): Steps<void> {
  const moves = movesBetween(before, after);
  const users = [...moves.keys()];
  const spans = [...moves.values()].flat();
  const [first] = spans.map(({ from }) => from).toSorted();
  const last = spans
    .map(({ to }) => to)
    .toSorted()
    .at(-1);
  if (first === undefined || last === undefined) return;
  const isMoved = ({ user_id, date }: QueryRow) =>
    moves.get(String(user_id))?.some(({ from, to }) => from <= String(date) && String(date) <= to);
  for (const [rollup, table] of [
    ['teams', tables.userDaily],
    ['models', tables.tokensDailyByUserModel],
  ] as const) {
    const stored = storedOf(standing, rollup).map(({ day }) => day);
    let days: unknown[] = stored.filter((day) => first <= day && day <= last);
    if (users.length <= USERS_MAX && users.length * days.length <= LOOKUPS_MAX && days.length > 0) {
      // Each row is found by the key.
      const rows = yield sql`
        SELECT DISTINCT date, user_id FROM ${sql.identifier(table.name)}
        WHERE org_id = ${orgId} AND date IN (${valuesOf(days)}) AND user_id IN (${valuesOf(users)})`;
      days = [...new Set(rows.filter(isMoved).map(({ date }) => date))];
    }
    if (days.length === 0) continue;
    yield sql`
      DELETE FROM rollup_marks WHERE org_id = ${orgId} AND rollup = ${rollup} AND date IN (${valuesOf(days)})`;
  }
}

function valuesOf(values: readonly unknown[]): SQL {
  return listOf(values.map((value) => sql`${value}`));
}

/** The moves of each user. */
function movesBetween(before: readonly QueryRow[], after: readonly TeamPeriod[]): Map<string, Move[]> {
  const [was, is] = [before, after].map((rows) =>
    Map.groupBy<unknown, QueryRow>(rows, ({ user_id }) => user_id),
  );
  const moves = new Map<string, Move[]>();
  for (const user of new Set([...(was?.keys() ?? []), ...(is?.keys() ?? [])])) {
    const own = movesOf(String(user), was?.get(user) ?? [], is?.get(user) ?? []);
    if (own.length > 0) moves.set(String(user), own);
  }
  return moves;
}

function movesOf(user: string, before: readonly QueryRow[], after: readonly QueryRow[]): Move[] {
  const starts = new Set<string>();
  for (const { valid_from, valid_to } of [...before, ...after]) {
    starts.add(String(valid_from));
    if (isDay(valid_to) && valid_to !== OPEN_END) starts.add(shiftDay(valid_to, 1));
  }
  const sorted = [...starts].toSorted();
  return sorted.flatMap((from, index) => {
    if (teamOn(from, before) === teamOn(from, after)) return [];
    const next = sorted[index + 1];
    return [{ user, from, to: isDay(next) ? shiftDay(next, -1) : OPEN_END }];
  });
}

function teamOn(day: string, periods: readonly QueryRow[]): unknown {
  const period = periods.find(
    ({ valid_from, valid_to }) => String(valid_from) <= day && day <= String(valid_to),
  );
  return period?.['team'] ?? null;
}
