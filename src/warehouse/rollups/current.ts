import type { UtcDay } from '../../core/day.ts';
import type { Warehouse } from '../port.ts';
import { runReads } from './refresh.ts';
import type { TeamPeriod } from './resolve-people.ts';
import { isUsersCurrent, MARKED_ROLLUPS, type MarkedRollup, readStanding } from './standing.ts';
import { teamPeriods } from './team-periods.ts';

export type { MarkedRollup, TeamPeriod };

/**
 * The rollups that may be read in place of `user_daily`: those computed from the content that the ledger has now. Call
 * inside the snapshot of the read. A result that holds `weekly` or `monthly` is about the rows whose whole week or month
 * lies in the range, and about `new_users` of `org_monthly` if the range begins with the first stored day. `users` (with
 * `user_teams`) is about all days and all people, whatever the range.
 *
 * @example
 * const current = await currentRollups(warehouse, orgId, from, until);
 * const source = current.has('weekly') ? tables.userWeekly : tables.userDaily;
 */
export async function currentRollups(
  warehouse: Pick<Warehouse, 'select'>,
  orgId: string,
  from: UtcDay,
  until: UtcDay,
): Promise<ReadonlySet<MarkedRollup>> {
  const standing = await runReads(warehouse, readStanding(orgId));
  const { stale } = standing;
  const isCurrent: Record<MarkedRollup, boolean> = {
    weekly: !stale.weekly.some((day) => day >= from && day <= until),
    monthly: !stale.monthly.some((day) => day >= from && day <= until),
    users: isUsersCurrent(standing),
  };
  return new Set(MARKED_ROLLUPS.filter((rollup) => isCurrent[rollup]));
}

/**
 * The rows that `user_teams` should have, if the table was computed from other people or days; null where the table is
 * current and may be read. Call inside the snapshot of the read. Reads `user_daily` in the months that are not current.
 */
export async function periodsInPlaceOfTable(
  warehouse: Pick<Warehouse, 'select'>,
  orgId: string,
): Promise<readonly TeamPeriod[] | null> {
  const standing = await runReads(warehouse, readStanding(orgId));
  return isUsersCurrent(standing) ? null : runReads(warehouse, teamPeriods(orgId, standing));
}
