import type { JobContext } from '../src/core/job-context.ts';
import type { Settings } from '../src/settings/settings.ts';
import type { QuarantineScope } from '../src/warehouse/port.ts';
import { withWarehouse } from '../src/warehouse/with-warehouse.ts';

/**
 * Accepts the quarantined records of a stream, a day, or all. They stay in quarantine but no longer affect the exit code
 * of runs; a record that changes does again. May be repeated. Returns how many were not accepted before.
 * @throws {UsageError} when there is no such warehouse.
 */
export function acceptQuarantine(
  { warehouse: location }: Settings,
  scope: QuarantineScope,
  { clock }: Pick<JobContext, 'clock'>,
): Promise<number> {
  return withWarehouse(location, { clock, create: false }, (warehouse) =>
    warehouse.acceptQuarantine(scope, clock.now()),
  );
}
