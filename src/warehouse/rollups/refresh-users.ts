import { type Dialect, type SQL, sql } from '../../../schema/query.ts';
import { encoderOf } from '../../../schema/row.ts';
import { ROLLUP_SUMS } from '../../../schema/tables/rollups.ts';
import { tables } from '../../../schema/tables.ts';
import { shiftDay, type UtcDay } from '../../core/day.ts';
import type { Steps } from '../queries.ts';
import { type PersonRow, peopleSha256 } from './people-digest.ts';
import { resolvePeople } from './resolve-people.ts';
import { PEOPLE_MARK, readStanding, type Standing } from './standing.ts';
import { dayValue, latestMonthsEmail } from './user-sums.ts';

/** `active_days_30` covers this many days up to today. */
const RECENT_DAYS = 30;

const encodePeriod = encoderOf(tables.userTeams);
const encodeMark = encoderOf(tables.rollupMarks);

/** The columns that `users` adds up over the months. */
const MONTHLY_SUMS = ROLLUP_SUMS.filter((name) => name in tables.users.columns);

/**
 * Computes `user_teams` and `users` again, from the people and the rollups by month. Run it in one transaction, which
 * may be the one that stores people. If a month is stale, so are they: they get no marks, and false is returned.
 */
export function* refreshUsers(dialect: Dialect, orgId: string): Steps<boolean> {
  const standing = yield* readStanding(orgId);
  const isCurrent = standing.stale.monthly.length === 0;
  yield sql`DELETE FROM rollup_marks WHERE org_id = ${orgId} AND rollup = 'users'`;
  if (isCurrent) yield* markUsers(orgId, standing);
  yield* refreshTeams(orgId, standing.people);
  yield sql`DELETE FROM users WHERE org_id = ${orgId}`;
  if (standing.today !== null) yield insertUsers(dialect, orgId, standing.today);
  return isCurrent;
}

function* markUsers(orgId: string, { stored, people }: Standing): Steps<void> {
  const mark = (date: string, sha256: string) =>
    encodeMark({ org_id: orgId, rollup: 'users', date, content_sha256: sha256 });
  const days = stored.map(({ day, contentSha256 }) => mark(day, contentSha256));
  yield { table: tables.rollupMarks, rows: [mark(PEOPLE_MARK, peopleSha256(people)), ...days] };
}

function* refreshTeams(orgId: string, people: readonly PersonRow[]): Steps<void> {
  yield sql`DELETE FROM user_teams WHERE org_id = ${orgId}`;
  if (people.length === 0) return;
  const emails = yield sql`
    SELECT user_id, user_email, MAX(last_seen_on) AS last_seen_on FROM user_emails
    WHERE org_id = ${orgId} GROUP BY user_id, user_email`;
  const users = yield sql`SELECT DISTINCT user_id FROM user_monthly WHERE org_id = ${orgId}`;
  const { periods } = resolvePeople({
    orgId,
    people,
    emails: emails.map((row) => ({
      user_id: String(row['user_id']),
      user_email: String(row['user_email']),
      last_seen_on: String(row['last_seen_on']),
    })),
    users: users.map((row) => String(row['user_id'])),
  });
  yield { table: tables.userTeams, rows: periods.map(encodePeriod) };
}

function insertUsers(dialect: Dialect, orgId: string, today: UtcDay): SQL {
  const sums = MONTHLY_SUMS.map((name) => sql`SUM(${sql.identifier(name)}) AS ${sql.identifier(name)}`);
  const totals = MONTHLY_SUMS.map((name) => sql`totals.${sql.identifier(name)}`);
  return sql`
    INSERT INTO users (org_id, user_id, user_email, first_active_on, last_active_on, active_days,
      ${list(MONTHLY_SUMS.map((name) => sql.identifier(name)))}, team, active_days_30)
    WITH totals AS (
      SELECT org_id, user_id, ${latestMonthsEmail(dialect)} AS user_email, MIN(first_active_on) AS first_active_on,
        MAX(last_active_on) AS last_active_on, SUM(active_days) AS active_days, ${list(sums)}
      FROM user_monthly WHERE org_id = ${orgId} GROUP BY org_id, user_id
    ), recent AS (
      SELECT user_id, COUNT(*) AS days FROM user_daily
      WHERE org_id = ${orgId}
        AND date BETWEEN ${shiftDay(today, 1 - RECENT_DAYS)} AND ${today}
      GROUP BY user_id
    )
    SELECT totals.org_id, totals.user_id, totals.user_email, first_active_on, last_active_on, active_days,
      ${list(totals)}, team, COALESCE(days, 0)
    FROM totals
    LEFT JOIN recent ON recent.user_id = totals.user_id
    LEFT JOIN user_teams ON user_teams.org_id = totals.org_id AND user_teams.user_id = totals.user_id
      AND ${dayValue(dialect, today)} BETWEEN user_teams.valid_from AND user_teams.valid_to`;
}

function list(parts: SQL[] | ReturnType<typeof sql.identifier>[]): SQL {
  return sql.join(parts, sql`, `);
}
