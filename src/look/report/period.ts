import { FIRST_DAY, monthOf, type UtcDay } from '../../core/day.ts';
import { UsageError } from '../../core/errors.ts';
import { type AskedPeriod, type Period, resolvePeriod } from '../../metrics/period.ts';
import type { Warehouse } from '../../warehouse/port.ts';

/**
 * The period of a report. By default it ends on the newest loaded day of users, and begins with the month of its last day.
 * @param yesterday the newest day of which there can be data.
 * @throws {UsageError} if it is reversed, too long, outside the days of the service, or if nothing is loaded.
 */
export async function reportPeriod(
  warehouse: Pick<Warehouse, 'units'>,
  orgId: string,
  { from, until }: AskedPeriod,
  yesterday: UtcDay,
): Promise<Period> {
  if (until !== undefined && until > yesterday) {
    throw new UsageError(`the period ends on ${until}, a day that is not over yet`, {
      hint: `the last day can be ${yesterday}`,
    });
  }
  const units = await warehouse.units(orgId, ['users']);
  const asked = resolvePeriod(units, ['users'], { from, until });
  return from === undefined ? { from: startOfMonth(asked.until), until: asked.until } : asked;
}

/** The service began within a month. */
function startOfMonth(day: UtcDay): UtcDay {
  const first = monthOf(day);
  return first < FIRST_DAY ? FIRST_DAY : first;
}
