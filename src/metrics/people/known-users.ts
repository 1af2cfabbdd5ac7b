import { sql } from '../../../schema/query.ts';
import type { Steps } from '../../warehouse/port.ts';
import type { PeopleInput } from '../../warehouse/rollups/resolve-people.ts';

/** The users of an organization, as far as its rollups know them. */
export type KnownUsers = Pick<PeopleInput, 'emails' | 'users'>;

/** Reads every user with every email address that the user ever had. */
export function* readKnownUsers(orgId: string): Steps<KnownUsers> {
  const emails = yield sql`
    SELECT user_id, user_email, MAX(last_seen_on) AS last_seen_on FROM user_emails
    WHERE org_id = ${orgId} GROUP BY user_id, user_email`;
  const users = yield sql`SELECT DISTINCT user_id FROM user_monthly WHERE org_id = ${orgId} ORDER BY user_id`;
  return {
    emails: emails.map((row) => ({
      user_id: String(row['user_id']),
      user_email: String(row['user_email']),
      last_seen_on: String(row['last_seen_on']),
    })),
    users: users.map((row) => String(row['user_id'])),
  };
}
