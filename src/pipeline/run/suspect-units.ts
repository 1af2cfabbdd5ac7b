import type { LedgerUnit, Warehouse } from '../../warehouse/port.ts';
import type { PlanRequest } from '../plan.ts';

/** Which units a run is about, and whose. */
export interface DoubtScope extends PlanRequest {
  readonly warehouse: Warehouse;
  /** The organization, where it is named. */
  readonly orgId?: string | null;
}

/** Doubted units of the only organization, for a run that ended before the service named it. */
export async function doubtedBefore(options: DoubtScope): Promise<number> {
  const { warehouse, orgId = null } = options;
  try {
    const [only, ...others] = orgId === null ? await warehouse.organizations() : [orgId];
    if (only === undefined || others.length > 0) return 0;
    return (await warehouse.units(only)).filter((unit) => isDoubted(unit, options)).length;
  } catch {
    // A warehouse that cannot be read shows when the end of the run is recorded.
    return 0;
  }
}

/** True for a unit of the run's scope that is doubted. */
export function isDoubted(
  { stream, day, state }: LedgerUnit,
  { streams, firstDay, lastDay }: PlanRequest,
): boolean {
  return (
    state === 'doubted' && streams.includes(stream) && (day === '' || (day >= firstDay && day <= lastDay))
  );
}
