import type { UtcDay } from '../../core/day.ts';
import type { Warehouse } from '../port.ts';
import { runReads } from './refresh.ts';
import { MARKED_ROLLUPS, type MarkedRollup, readStanding } from './standing.ts';

export type { MarkedRollup };

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
  warehouse: Warehouse,
  orgId: string,
  from: UtcDay,
  until: UtcDay,
): Promise<ReadonlySet<MarkedRollup>> {
  const { stale, isPeopleStale } = await runReads(warehouse, readStanding(orgId));
  const isCurrent: Record<MarkedRollup, boolean> = {
    weekly: !stale.weekly.some((day) => day >= from && day <= until),
    monthly: !stale.monthly.some((day) => day >= from && day <= until),
    users: stale.users.length === 0 && !isPeopleStale,
  };
  return new Set(MARKED_ROLLUPS.filter((rollup) => isCurrent[rollup]));
}
