import { type Dialect, sql } from '../../../schema/query.ts';
import { ROLLUP_SUMS } from '../../../schema/tables/rollups.ts';
import { tables } from '../../../schema/tables.ts';
import type { Steps } from '../queries.ts';
import type { Bucket } from './buckets.ts';
import { columnList, isIn, SUMS, tableOf, userTotals } from './user-sums.ts';

/**
 * Computes buckets again: their marks, their rows, and `org_monthly` from them. Run it in one transaction. The marks are
 * written first: if a commit came between two statements, a mark could only be too old, and the bucket would be computed
 * once more.
 */
export function* refreshBuckets(dialect: Dialect, orgId: string, buckets: readonly Bucket[]): Steps<void> {
  for (const bucket of buckets) {
    yield* markBucket(orgId, bucket);
    const table = sql.identifier(tableOf(bucket).name);
    yield sql`DELETE FROM ${table} WHERE org_id = ${orgId} AND ${isIn(bucket)}`;
    yield sql`
      INSERT INTO ${table} (${columnList(tableOf(bucket))}) ${userTotals(dialect, orgId, bucket)}`;
    if (bucket.rollup === 'monthly') yield* refreshMonth(orgId, bucket);
  }
  const first = buckets.find(({ rollup }) => rollup === 'monthly');
  if (first !== undefined) yield* countNewUsers(orgId, first.name);
}

function* markBucket(orgId: string, { rollup, firstDay, lastDay }: Bucket): Steps<void> {
  yield sql`
    DELETE FROM rollup_marks
    WHERE org_id = ${orgId} AND rollup = ${rollup} AND date BETWEEN ${firstDay} AND ${lastDay}`;
  yield sql`
    INSERT INTO rollup_marks (org_id, rollup, date, content_sha256)
    SELECT org_id, CAST(${rollup} AS text), date, content_sha256 FROM export_units
    WHERE org_id = ${orgId} AND stream = 'users' AND content_sha256 IS NOT NULL
      AND date BETWEEN ${firstDay} AND ${lastDay}`;
}

/** Computes the emails and the organization's totals of a month. New users are counted when all months are there. */
function* refreshMonth(orgId: string, { name, firstDay, lastDay }: Bucket): Steps<void> {
  yield sql`DELETE FROM user_emails WHERE org_id = ${orgId} AND month = ${name}`;
  yield sql`
    INSERT INTO user_emails (${columnList(tables.userEmails)})
    SELECT org_id, CAST(${name} AS text), user_id, user_email, MAX(date) FROM user_daily
    WHERE org_id = ${orgId} AND date BETWEEN ${firstDay} AND ${lastDay} AND user_email IS NOT NULL
    GROUP BY org_id, user_id, user_email`;
  yield sql`DELETE FROM org_monthly WHERE org_id = ${orgId} AND month = ${name}`;
  const sums = sql.join(
    ROLLUP_SUMS.map((column) => sql.identifier(column)),
    sql`, `,
  );
  yield sql`
    INSERT INTO org_monthly (org_id, month, active_users, user_days, ${sums}, thinking_tokens)
    SELECT org_id, month, COUNT(*), SUM(active_days), ${SUMS}, SUM(thinking_tokens) FROM user_monthly
    WHERE org_id = ${orgId} AND month = ${name}
    GROUP BY org_id, month`;
}

/** Counts the new users of a month and all later ones: a user who appears earlier is no longer new later. */
function* countNewUsers(orgId: string, since: string): Steps<void> {
  yield sql`
    UPDATE org_monthly SET new_users = (
      SELECT COUNT(*) FROM user_monthly AS own
      WHERE own.org_id = org_monthly.org_id AND own.month = org_monthly.month AND NOT EXISTS (
        SELECT 1 FROM user_monthly AS earlier
        WHERE earlier.org_id = own.org_id AND earlier.user_id = own.user_id AND earlier.month < own.month))
    WHERE org_id = ${orgId} AND month >= ${since}`;
}
