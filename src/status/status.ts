import { FIRST_DAY, type UtcDay, yesterdayOf } from '../core/day.ts';
import type { QuarantineCount, RunRecord, Warehouse } from '../warehouse/port.ts';
import { type OrganizationStatus, readOrganization } from './organization.ts';
import { isCompleteRun, RUNS_MAX } from './runs.ts';

/** The days, holes and problems of a warehouse. */
export interface WarehouseStatus {
  readonly warehouse: string;
  readonly asOf: string;
  readonly firstDay: UtcDay;
  readonly lastDay: UtcDay;
  readonly organizations: readonly OrganizationStatus[];
  readonly quarantine: readonly QuarantineCount[];
  /** How many stored numbers the service changed later. */
  readonly restatements: number;
  /** Newest first. */
  readonly runs: readonly RunRecord[];
  /** When the last complete run ended, see {@link isCompleteRun}; null when there was none. */
  readonly lastCompleteRunAt: string | null;
  readonly lastCompleteRunAgeMs: number | null;
}

/** Reads what a warehouse holds, up to the day before `now`. Writes nothing. */
export async function readWarehouseStatus(warehouse: Warehouse, now: Date): Promise<WarehouseStatus> {
  const lastDay = yesterdayOf(now);
  const runs = await warehouse.runs(RUNS_MAX);
  const endedAt = runs.find(isCompleteRun)?.endedAt ?? null;
  const organizations: OrganizationStatus[] = [];
  for (const orgId of await warehouse.organizations()) {
    organizations.push(await readOrganization(warehouse, orgId, lastDay));
  }
  return {
    warehouse: warehouse.location,
    asOf: now.toISOString(),
    firstDay: FIRST_DAY,
    lastDay,
    organizations,
    quarantine: await warehouse.quarantineCounts(),
    restatements: await warehouse.restatementCount(),
    runs,
    lastCompleteRunAt: endedAt,
    lastCompleteRunAgeMs: endedAt === null ? null : Math.max(0, now.getTime() - Date.parse(endedAt)),
  };
}
