import { DaywalkError } from '../src/core/errors.ts';
import type { JobContext } from '../src/core/job-context.ts';
import { namesOf } from '../src/settings/organizations/choose-organizations.ts';
import type { Settings } from '../src/settings/settings.ts';
import { assessHealth, type Health } from '../src/status/health.ts';
import { readWarehouseStatus, type WarehouseStatus } from '../src/status/status.ts';
import { withWarehouse } from '../src/warehouse/with-warehouse.ts';

/**
 * Reads what the warehouse holds, up to yesterday by the clock. Writes nothing.
 * @param only the only organization to read, by its name or ID.
 * @throws {UsageError} when there is no such warehouse, or no such organization.
 */
export function readStatus(
  settings: Settings,
  { clock }: Pick<JobContext, 'clock'>,
  only?: string,
): Promise<WarehouseStatus> {
  return withWarehouse(settings.warehouse, { clock, create: false }, (warehouse) =>
    readWarehouseStatus(warehouse, clock.now(), { names: namesOf(settings), only }),
  );
}

/** Reads whether the warehouse is healthy, see {@link assessHealth}. A warehouse that cannot be read is unhealthy. */
export async function readHealth(
  settings: Settings,
  { clock }: Pick<JobContext, 'clock'>,
  maxAgeHours: number,
): Promise<Health> {
  try {
    return await withWarehouse(settings.warehouse, { clock, create: false }, (warehouse) =>
      assessHealth(warehouse, { now: clock.now(), maxAgeHours, names: namesOf(settings) }),
    );
  } catch (error) {
    if (!(error instanceof DaywalkError)) throw error;
    return { healthy: false, reason: error.message, lastCompleteExportAt: null };
  }
}
