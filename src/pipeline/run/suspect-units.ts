import { tables } from '../../../schema/tables.ts';
import { keyOfValues, type LedgerUnit, unitName, type Warehouse } from '../../warehouse/port.ts';
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
export function isDoubted(unit: LedgerUnit, { streams, firstDay, lastDay }: PlanRequest): boolean {
  const isInRange = unit.kind === 'readiness' || (unit.day >= firstDay && unit.day <= lastDay);
  return unit.state === 'doubted' && streams.includes(unit.stream) && isInRange;
}

/** Names of the units of an organization that have records in quarantine, of which a person has accepted every one. */
export async function acceptedUnits(warehouse: Warehouse, orgId: string): Promise<Set<string>> {
  const accepted = new Set<string>();
  const open = new Set<string>();
  const columns = ['stream', 'date', 'accepted_at'];
  for await (const rows of warehouse.scan(tables.quarantine, { orgId }, columns)) {
    for (const [stream, date, acceptedAt] of rows) {
      // A unit that this version does not know stays open.
      const key = keyOfValues([orgId, stream ?? null, date ?? null]);
      if (key !== undefined) (acceptedAt === null ? open : accepted).add(unitName(key));
    }
  }
  return new Set([...accepted].filter((name) => !open.has(name)));
}
