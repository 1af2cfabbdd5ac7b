import type { JobContext } from '../src/core/job-context.ts';
import type { Settings } from '../src/settings/settings.ts';
import { chooseOrganization } from '../src/warehouse/choose-organization.ts';
import type { QuarantineScope } from '../src/warehouse/port.ts';
import { withWarehouse } from '../src/warehouse/with-warehouse.ts';

/** The records to accept. */
export interface AcceptRequest extends Omit<QuarantineScope, 'orgId'> {
  /** The ID or the name of the only organization. @default all organizations */
  readonly organization?: string | undefined;
}

/**
 * Accepts the quarantined records of a stream, a day, or all. They stay in quarantine but no longer affect the exit code
 * of runs; a record that changes does again. May be repeated. Returns how many were not accepted before.
 * @throws {UsageError} when there is no such warehouse or organization.
 */
export function acceptQuarantine(
  { warehouse: location }: Settings,
  { organization, ...scope }: AcceptRequest,
  { clock }: Pick<JobContext, 'clock'>,
): Promise<number> {
  return withWarehouse(location, { clock, create: false }, async (warehouse) => {
    const orgId = organization === undefined ? undefined : await chooseOrganization(warehouse, organization);
    return warehouse.acceptQuarantine({ ...scope, orgId }, clock.now());
  });
}
