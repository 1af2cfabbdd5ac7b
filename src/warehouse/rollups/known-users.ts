import { type SQL, sql } from '../../../schema/query.ts';
import type { QueryRow, Steps } from '../queries.ts';
import { bucketsOf } from './buckets.ts';
import { listOf } from './fragments.ts';
import { compareText, type PeopleInput } from './resolve-people.ts';
import type { Standing } from './standing.ts';

/** The users of an organization, in the order of their IDs, and the email addresses that they ever had. */
export interface KnownUsers extends Pick<PeopleInput, 'emails' | 'users'> {
  /** The last day with a row of each user. */
  readonly lastActiveOn: ReadonlyMap<string, string>;
}

/**
 * Reads every user with every email address that the user ever had: from the rollups of the months that are current, from
 * `user_daily` in the others.
 * @param standing the standing of the rollups in the same state of the database.
 */
export function* readKnownUsers(orgId: string, { stale }: Pick<Standing, 'stale'>): Steps<KnownUsers> {
  const months = bucketsOf('monthly', stale.monthly);
  const names = months.map(({ name }) => sql`${name}`);
  const ofCurrentMonths: SQL =
    names.length === 0 ? sql`org_id = ${orgId}` : sql`org_id = ${orgId} AND month NOT IN (${listOf(names)})`;
  const active = yield sql`
    SELECT user_id, NULL AS user_email, MAX(last_active_on) AS last_seen_on FROM user_monthly
    WHERE ${ofCurrentMonths} GROUP BY user_id`;
  const addressed = yield sql`
    SELECT user_id, user_email, MAX(last_seen_on) AS last_seen_on FROM user_emails
    WHERE ${ofCurrentMonths} GROUP BY user_id, user_email`;
  const found = [...active, ...addressed];
  for (const { firstDay, lastDay } of months) {
    const rows = yield sql`
      SELECT user_id, user_email, MAX(date) AS last_seen_on FROM user_daily
      WHERE org_id = ${orgId} AND date BETWEEN ${firstDay} AND ${lastDay} GROUP BY user_id, user_email`;
    found.push(...rows);
  }
  return knownIn(found);
}

/** Rows without an email address only tell when a user was active. */
function knownIn(rows: readonly QueryRow[]): KnownUsers {
  const lastActiveOn = new Map<string, string>();
  for (const row of rows) {
    const [user, day] = [String(row['user_id']), String(row['last_seen_on'])];
    if ((lastActiveOn.get(user) ?? '') < day) lastActiveOn.set(user, day);
  }
  const emails = rows.flatMap(({ user_id, user_email = null, last_seen_on }) =>
    user_email === null
      ? []
      : [{ user_id: String(user_id), user_email: String(user_email), last_seen_on: String(last_seen_on) }],
  );
  return { emails, users: [...lastActiveOn.keys()].toSorted(compareText), lastActiveOn };
}
