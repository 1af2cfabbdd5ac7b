import type { JobContext } from '../src/core/job-context.ts';
import type { Settings } from '../src/settings/settings.ts';
import { digestOf, type WarehouseDigest } from '../src/warehouse/digest.ts';
import { withWarehouse } from '../src/warehouse/with-warehouse.ts';

/** Computes the digests of a warehouse. Two warehouses with the same content have the same digests. */
export function digestWarehouse(
  { warehouse }: Settings,
  { clock }: Pick<JobContext, 'clock'>,
): Promise<WarehouseDigest> {
  return withWarehouse(warehouse, { clock, create: false }, digestOf);
}
