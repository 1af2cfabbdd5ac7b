import type { JobContext } from '../src/core/job-context.ts';
import { type DrainReport, drainSpool } from '../src/hooks/drain/drain.ts';
import type { Settings } from '../src/settings/settings.ts';
import { expectEmailSalt } from '../src/warehouse/email-salt.ts';
import { withWarehouse } from '../src/warehouse/with-warehouse.ts';

/**
 * Moves received hook events from the spool into the warehouse, see {@link drainSpool}. May be repeated at will.
 * @throws {UsageError} when emails would be hashed with another salt than before.
 */
export function drainHooks(
  settings: Settings,
  { clock, signal }: Pick<JobContext, 'clock' | 'signal'>,
): Promise<DrainReport> {
  return withWarehouse(settings.warehouse, { clock, create: true }, async (warehouse) => {
    await expectEmailSalt(warehouse, settings.emails);
    return drainSpool(warehouse, settings, signal);
  });
}
