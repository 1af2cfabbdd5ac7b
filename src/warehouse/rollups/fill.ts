import { type Dialect, sql } from '../../../schema/query.ts';
import type { Steps } from '../queries.ts';
import { extendDates } from './dates.ts';
import { groupsToRefresh } from './refresh.ts';
import { refreshBuckets } from './refresh-buckets.ts';
import { refreshUsers } from './refresh-users.ts';
import { readStanding } from './standing.ts';

/**
 * Fills all rollups of a warehouse that has just got their tables, in the transaction of the migration. A warehouse
 * without stored units stays as it is.
 */
export function* fillRollups(dialect: Dialect, now: Date): Steps<void> {
  const organizations = yield sql`
    SELECT DISTINCT org_id FROM export_units WHERE stream = 'users' AND content_sha256 IS NOT NULL`;
  if (organizations.length > 0) yield* extendDates(now);
  for (const row of organizations) {
    const orgId = String(row['org_id']);
    const standing = yield* readStanding(orgId);
    for (const group of groupsToRefresh(standing, undefined)) yield* refreshBuckets(dialect, orgId, group);
    yield* refreshUsers(dialect, orgId);
  }
}
