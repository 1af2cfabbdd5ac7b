import type { Warehouse } from '../warehouse/port.ts';

/** The same warehouse, as if it held one organization only. */
export function limitedTo(warehouse: Warehouse, orgId: string): Warehouse {
  return {
    ...warehouse,
    organizations: async () => (await warehouse.organizations()).filter((known) => known === orgId),
    scan: (table, scope, columns) => warehouse.scan(table, scope ?? { orgId }, columns),
  };
}
