import { DaywalkError } from '../src/core/errors.ts';
import type { JobContext } from '../src/core/job-context.ts';
import type { Settings } from '../src/settings/settings.ts';
import { assessHealth, type Health } from '../src/status/health.ts';
import { readWarehouseStatus, type WarehouseStatus } from '../src/status/status.ts';
import { withWarehouse } from '../src/warehouse/with-warehouse.ts';

/**
 * Reads what the warehouse holds, up to yesterday by the clock. Writes nothing.
 * @throws {UsageError} when there is no such warehouse.
 */
export function readStatus(
  { warehouse: location }: Settings,
  { clock }: Pick<JobContext, 'clock'>,
): Promise<WarehouseStatus> {
  return withWarehouse(location, { clock, create: false }, (warehouse) =>
    readWarehouseStatus(warehouse, clock.now()),
  );
}

/** Reads whether the warehouse is healthy, see {@link assessHealth}. A warehouse that cannot be read is unhealthy. */
export async function readHealth(
  { warehouse: location }: Settings,
  { clock }: Pick<JobContext, 'clock'>,
  maxAgeHours: number,
): Promise<Health> {
  try {
    return await withWarehouse(location, { clock, create: false }, (warehouse) =>
      assessHealth(warehouse, { now: clock.now(), maxAgeHours }),
    );
  } catch (error) {
    if (!(error instanceof DaywalkError)) throw error;
    return { healthy: false, reason: error.message, lastCompleteExportAt: null };
  }
}
