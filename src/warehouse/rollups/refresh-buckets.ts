import type { AnyTable } from '../../../schema/define.ts';
import { type Dialect, type SQL, sql } from '../../../schema/query.ts';
import { tables } from '../../../schema/tables.ts';
import type { Steps } from '../queries.ts';
import { type Bucket, bucketsOf, isIn } from './buckets.ts';
import { columnList, listOf } from './fragments.ts';
import { readStanding } from './standing.ts';
import { monthEmails, organizationTotals, userTotals } from './totals.ts';

/**
 * Computes buckets again: their marks, their rows, and `org_monthly` from them. Run it in one transaction. The marks are
 * written first: if a commit came between two statements, a mark could only be too old, and the bucket would be computed
 * once more.
 */
export function* refreshBuckets(dialect: Dialect, orgId: string, buckets: readonly Bucket[]): Steps<void> {
  for (const bucket of buckets) {
    yield* markBucket(orgId, bucket);
    const totals = userTotals(dialect, orgId, bucket);
    if (bucket.rollup === 'weekly') {
      yield* replace(tables.userWeekly, orgId, isIn(bucket), totals);
    } else {
      yield* replace(tables.userMonthly, orgId, isIn(bucket), totals);
      yield* replace(tables.userEmails, orgId, isIn(bucket), monthEmails(orgId, bucket));
    }
  }
  const first = buckets.find(({ rollup }) => rollup === 'monthly');
  if (first === undefined) return;
  // Later months too: a user who appears earlier than before is no longer new there.
  const totals = organizationTotals(orgId, first.name);
  yield* replace(tables.orgMonthly, orgId, sql`month >= ${first.name}`, totals);
}

/** Replaces the rows of an organization that satisfy a condition by those of a query. */
export function* replace(table: AnyTable, orgId: string, condition: SQL, rows: SQL): Steps<void> {
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
    WHERE org_id = ${orgId} AND stream = 'users' AND content_sha256 IS NOT NULL
      AND date BETWEEN ${firstDay} AND ${lastDay}`;
}

/** Deletes rows of weeks and months in which no day is stored. Only another program can have written them. */
export function* removeStrayBuckets(orgId: string): Steps<void> {
  const { stored } = yield* readStanding(orgId);
  const days = stored.map(({ day }) => day);
  const weeks = bucketsOf('weekly', days).map(({ firstDay }) => sql`${firstDay}`);
  const months = bucketsOf('monthly', days).map(({ name }) => sql`${name}`);
  if (days.length === 0) return;
  yield sql`DELETE FROM user_weekly WHERE org_id = ${orgId} AND week_start NOT IN (${listOf(weeks)})`;
  for (const { name } of [tables.userMonthly, tables.userEmails, tables.orgMonthly]) {
    yield sql`
      DELETE FROM ${sql.identifier(name)} WHERE org_id = ${orgId} AND month NOT IN (${listOf(months)})`;
  }
}
