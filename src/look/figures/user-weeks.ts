import { listOf, type SQL, sql } from '../../../schema/query.ts';
import { shiftDay, type UtcDay, weekdayOf } from '../../core/day.ts';
import type { NamedQuery, Period } from '../../metrics/index.ts';
import { readableRollups } from '../../rollups/index.ts';
import type { PageReader } from '../reader.ts';

/** A run pulls the last month again at most, which touches six weeks. */
const STALE_WEEKS_MAX = 6;

/**
 * Rows about the users of a period: its whole weeks from `user_weekly`, and its other days, and weeks that the rollup must not be read
 * for, from `user_daily`.
 * @param rolled the statement for the weeks of two Mondays and all between
 * @param ofDays the statement for days, which has the same columns
 */
export async function readByWeeks(
  { warehouse, filters: { orgId } }: PageReader,
  { from, until }: Period,
  {
    rolled,
    ofDays,
  }: { rolled: (first: UtcDay, last: UtcDay) => SQL; ofDays: (first: UtcDay, last: UtcDay) => SQL },
): Promise<SQL> {
  const first = shiftDay(from, (8 - weekdayOf(from)) % 7);
  const last = shiftDay(until, -(weekdayOf(until) % 7));
  if (first > last) return ofDays(from, until);
  const { stale } = await readableRollups(warehouse, orgId, first, last);
  if (stale.weekly.length > STALE_WEEKS_MAX) return ofDays(from, until);
  const others = stale.weekly.map(({ name }) => sql`${name}`);
  return sql.join(
    [
      others.length === 0
        ? rolled(first, last)
        : sql`${rolled(first, last)} AND week_start NOT IN (${listOf(others)})`,
      ...stale.weekly.map(({ firstDay, lastDay }) => ofDays(firstDay, lastDay)),
      ...(from < first ? [ofDays(from, shiftDay(first, -1))] : []),
      ...(last < until ? [ofDays(shiftDay(last, 1), until)] : []),
    ],
    sql`\n  UNION ALL\n`,
  );
}

/** The days with a row of each user in the period of the filters, whatever the team; a user can have several rows. */
export async function activityOfUsers(reader: PageReader): Promise<NamedQuery> {
  const { orgId } = reader.filters;
  const body = await readByWeeks(reader, reader.filters, {
    rolled: (first, last) => sql`  SELECT user_id, active_days, last_active_on FROM user_weekly
  WHERE org_id = ${orgId} AND week_start BETWEEN ${first} AND ${last}`,
    ofDays: (
      first,
      last,
    ) => sql`  SELECT user_id, COUNT(*) AS active_days, MAX(date) AS last_active_on FROM user_daily
  WHERE org_id = ${orgId} AND date BETWEEN ${first} AND ${last} GROUP BY user_id`,
  });
  return { name: 'activity', body };
}
