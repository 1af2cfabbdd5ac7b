import { listOf, type SQL, sql } from '../../schema/query.ts';
import type { UtcDay } from '../core/day.ts';
import { runReads, type Steps, type Warehouse } from '../port/index.ts';
import { type Bucket, bucketsOf } from './calendar.ts';
import { type TeamPeriod, teamPeriods } from './resolve-people.ts';
import { isUsersCurrent, readStanding, type Standing } from './standing.ts';

// What may be read while a refresh is due.

/** Which rollups may be read in place of `user_daily`, see {@link readableRollups}. */
export interface ReadableRollups {
  /** `users` and `user_teams`, which are about all days and all people. */
  readonly users: boolean;
  /** The weeks and months that the range touches, and the days of teams in it, whose rows may not be read. */
  readonly stale: Readonly<Record<Bucket['rollup'], readonly Bucket[]>>;
  /** The newest day with rows of users, which ends all rollups; null for none. */
  readonly lastDay: UtcDay | null;
}

/**
 * The rollups that may be read in place of `user_daily`: those computed from the content that the ledger has now. Call
 * inside the snapshot of the read. `new_users` of `org_monthly` follows from the months before it too, so it may be read if no
 * month is stale and the range begins with the first stored day.
 *
 * @example
 * const { stale } = await readableRollups(warehouse, orgId, from, until);
 * const source = stale.weekly.length === 0 ? tables.userWeekly : tables.userDaily;
 */
export async function readableRollups(
  warehouse: Pick<Warehouse, 'select'>,
  orgId: string,
  from: UtcDay,
  until: UtcDay,
): Promise<ReadableRollups> {
  const standing = await runReads(warehouse, readStanding(orgId));
  const staleIn = (rollup: 'weekly' | 'monthly') =>
    bucketsOf(rollup, standing.stale[rollup]).filter(
      ({ firstDay, lastDay }) => lastDay >= from && firstDay <= until,
    );
  const staleDaysIn = (rollup: 'teams' | 'models') =>
    bucketsOf(
      rollup,
      standing.stale[rollup].filter((day) => day >= from && day <= until),
    );
  return {
    users: isUsersCurrent(standing),
    stale: {
      weekly: staleIn('weekly'),
      monthly: staleIn('monthly'),
      teams: staleDaysIn('teams'),
      models: staleDaysIn('models'),
    },
    lastDay: standing.today,
  };
}

/** How the rows that `user_teams` should have differ from those that it has. */
export interface TeamChanges {
  /** The users whose rows in the table do not count; null: nobody's do. */
  readonly users: readonly string[] | null;
  /** The rows of these users. */
  readonly periods: readonly TeamPeriod[];
  /** True if all of these users are new: they have rows on stale days only. */
  readonly areNew: boolean;
}

/**
 * What to read in place of `user_teams`, if the table was computed from other people or days; null where the table may be
 * read. Call inside the snapshot of the read. A few changed days cost a look at their users, everything else as much as a
 * refresh of the teams.
 */
export async function teamChanges(
  warehouse: Pick<Warehouse, 'select'>,
  orgId: string,
): Promise<TeamChanges | null> {
  const standing = await runReads(warehouse, readStanding(orgId));
  if (isUsersCurrent(standing)) return null;
  const changed = await runReads(warehouse, usersToResolve(orgId, standing));
  if (changed?.users.length === 0) return null;
  const { users, areNew } = changed ?? { users: null, areNew: false };
  const periods = await runReads(warehouse, teamPeriods(orgId, standing, users ?? undefined));
  return { users, periods, areNew };
}

/** From so many changed days or users on, everybody is resolved again. */
const CHANGED_DAYS_MAX = 31;
const CHANGED_USERS_MAX = 1_000;

/**
 * The users whose teams may have changed with the content of the stale days; null if that cannot be told. The teams of a user
 * follow from the people, and from the addresses of the user in the order in which they were seen last. Where `users` and
 * `user_emails` were computed from the same days, only this can change the order: a stale day has a row of an unknown user, or
 * with another address than the latest one of its user, or it lacks the row by which a user or an address was seen last.
 */
function* usersToResolve(
  orgId: string,
  { stale, isPeopleStale, isOneState }: Standing,
): Steps<{ readonly users: readonly string[]; readonly areNew: boolean } | null> {
  const days = stale.users;
  if (isPeopleStale || !isOneState || days.length > CHANGED_DAYS_MAX) return null;
  const inDays = (column: SQL) => sql`${column} IN (${listOf(days.map((day) => sql`${day}`))})`;
  const months = listOf(bucketsOf('monthly', days).map(({ name }) => sql`${name}`));
  // With a LIMIT, PostgreSQL would sort all users.
  const appeared = yield sql`
    SELECT DISTINCT r.user_id, u.user_id AS known FROM user_daily r
    LEFT JOIN users u ON u.org_id = r.org_id AND u.user_id = r.user_id
    WHERE r.org_id = ${orgId} AND ${inDays(sql`r.date`)}
      AND (u.user_id IS NULL OR u.user_email IS DISTINCT FROM COALESCE(r.user_email, u.user_email))`;
  const gone = yield sql`
    SELECT user_id FROM user_monthly
    WHERE org_id = ${orgId} AND month IN (${months}) AND ${inDays(sql`last_active_on`)}
      AND (last_active_on, user_id) NOT IN (
        SELECT date, user_id FROM user_daily WHERE org_id = ${orgId} AND ${inDays(sql`date`)})
    UNION
    SELECT user_id FROM user_emails
    WHERE org_id = ${orgId} AND month IN (${months}) AND ${inDays(sql`last_seen_on`)}
      AND (last_seen_on, user_id, user_email) NOT IN (
        SELECT date, user_id, user_email FROM user_daily
        WHERE org_id = ${orgId} AND ${inDays(sql`date`)} AND user_email IS NOT NULL)
    LIMIT ${CHANGED_USERS_MAX + 1}`;
  const users = new Set([...appeared, ...gone].map(({ user_id }) => String(user_id)));
  const areNew = gone.length === 0 && appeared.every(({ known }) => known === null);
  return users.size > CHANGED_USERS_MAX ? null : { users: [...users].toSorted(), areNew };
}
