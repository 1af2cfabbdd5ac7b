import { exportFocus } from '../src/bi/focus/focus.ts';
import type { FocusReport } from '../src/bi/focus/report.ts';
import type { FocusRequest } from '../src/bi/focus/request.ts';
import { dayOf, FIRST_DAY } from '../src/core/day.ts';
import { UsageError } from '../src/core/errors.ts';
import type { JobContext } from '../src/core/job-context.ts';
import type { Month } from '../src/core/month.ts';
import type { Settings } from '../src/settings/settings.ts';
import { chooseOrganization } from '../src/warehouse/choose-organization.ts';
import { withWarehouse } from '../src/warehouse/with-warehouse.ts';

/** Which FOCUS file to write. */
export interface FocusJob extends Omit<FocusRequest, 'orgId' | 'isOver'> {
  /** Default: the only organization of the warehouse. */
  readonly organization: string | undefined;
}

/**
 * Writes the charges of a month as a FOCUS file, see {@link exportFocus}. Only reads the warehouse, and may run during a
 * run. Repeated at the same state of the warehouse, it leaves the file as it is.
 * @throws {UsageError} also for a month without data, and if there is no such warehouse or organization.
 */
export async function focus(
  { warehouse: location }: Pick<Settings, 'warehouse'>,
  { organization, ...request }: FocusJob,
  { clock, signal }: Pick<JobContext, 'clock' | 'signal'>,
): Promise<FocusReport> {
  const today = dayOf(clock.now());
  expectBegun(request.month, today);
  return withWarehouse(location, { clock, create: false }, async (warehouse) => {
    const orgId = await chooseOrganization(warehouse, organization);
    return exportFocus(warehouse, { ...request, orgId, isOver: request.month.next <= today }, signal);
  });
}

function expectBegun({ name, first, last }: Month, today: string): void {
  if (last < FIRST_DAY) {
    throw new UsageError(`${name} is before the first day of the service`, {
      hint: `the first day with data is ${FIRST_DAY}`,
    });
  }
  if (first >= today) {
    throw new UsageError(`no day of ${name} is over yet`, { hint: 'choose a month that has begun' });
  }
}
