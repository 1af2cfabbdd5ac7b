import type { Warehouse } from './port.ts';

/** Returns the organization of a warehouse; null when the warehouse has none or several. */
export async function onlyOrganization(warehouse: Warehouse): Promise<string | null> {
  const [only, ...others] = await warehouse.organizations();
  return others.length > 0 ? null : (only ?? null);
}
