import type { UtcDay } from '../../core/day.ts';
import { isDayUnit, type Warehouse } from '../../warehouse/port.ts';
import { isLoaded } from '../stored-units.ts';

/** The newest loaded day of users; null if none is loaded. */
export async function newestDayOfUsers(
  warehouse: Pick<Warehouse, 'units'>,
  orgId: string,
): Promise<UtcDay | null> {
  const units = await warehouse.units(orgId, ['users']);
  const days = units.filter(isDayUnit).filter(isLoaded);
  return days.reduce<UtcDay | null>(
    (newest, { day }) => (newest === null || day > newest ? day : newest),
    null,
  );
}
