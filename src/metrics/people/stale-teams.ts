import { FIRST_DAY } from '../../core/day.ts';
import type { Warehouse } from '../../warehouse/port.ts';
import { currentRollups } from '../../warehouse/rollups/current.ts';

/** What limits numbers by team while `user_teams` lags behind the people or the days that are stored. */
export const STALE_TEAMS =
  'the teams of users do not reflect the latest changes yet; the next run brings them up to date';

/** {@link STALE_TEAMS} if it holds, otherwise nothing. Call inside the snapshot that reads the teams. */
export async function staleTeamsWarnings(warehouse: Warehouse, orgId: string): Promise<string[]> {
  const current = await currentRollups(warehouse, orgId, FIRST_DAY, FIRST_DAY);
  return current.has('users') ? [] : [STALE_TEAMS];
}
