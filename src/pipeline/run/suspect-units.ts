import { tables } from '../../../schema/tables.ts';
import { type NameInFile, readNames } from '../../warehouse/organization-names.ts';
import { keyOfValues, type LedgerUnit, unitName, type Warehouse } from '../../warehouse/port.ts';
import type { PlanRequest } from '../plan.ts';

export interface DoubtScope extends PlanRequest {
  readonly warehouse: Warehouse;
  /** @default the only organization of the warehouse */
  readonly orgId?: string | null;
  /** The name of the organization, if it has one. */
  readonly named?: NameInFile | undefined;
}

/**
 * Counts the doubted units of an organization that the service has not named: of the one that its name stands for, or else
 * of the only one.
 */
export async function countDoubtedBefore(options: DoubtScope): Promise<number> {
  const { warehouse } = options;
  try {
    const [only, ...others] = await candidatesFor(options);
    if (only === undefined || others.length > 0) return 0;
    return (await warehouse.units(only)).filter((unit) => isDoubted(unit, options)).length;
  } catch {
    // The run reports an unreadable warehouse when it records its end.
    return 0;
  }
}

async function candidatesFor({ warehouse, orgId = null, named }: DoubtScope): Promise<string[]> {
  if (orgId !== null) return [orgId];
  if (named === undefined) return warehouse.organizations();
  return (await readNames(warehouse)).flatMap((known) => (known.name === named.name ? [known.orgId] : []));
}

/** True for a doubted unit in the run's range. */
export function isDoubted(unit: LedgerUnit, { streams, firstDay, lastDay }: PlanRequest): boolean {
  const isInRange = unit.kind === 'readiness' || (unit.day >= firstDay && unit.day <= lastDay);
  return unit.state === 'doubted' && streams.includes(unit.stream) && isInRange;
}

/** The names of the units whose records in quarantine were all accepted by a person. */
export async function findAcceptedUnits(warehouse: Warehouse, orgId: string): Promise<Set<string>> {
  const accepted = new Set<string>();
  const open = new Set<string>();
  const columns = ['stream', 'date', 'accepted_at'] as const;
  for await (const rows of warehouse.scan(tables.quarantine, { orgId }, columns)) {
    for (const [stream, date, acceptedAt] of rows) {
      // A unit that this version does not know stays open.
      const key = keyOfValues([orgId, stream ?? null, date ?? null]);
      if (key !== undefined) (acceptedAt === null ? open : accepted).add(unitName(key));
    }
  }
  return new Set([...accepted].filter((name) => !open.has(name)));
}
