import { type OpenOptions, openWarehouse } from './open.ts';
import type { Warehouse } from './port.ts';

/** Opens a warehouse, passes it to `use`, and closes it even if `use` fails. */
export async function withWarehouse<Result>(
  location: string,
  options: OpenOptions,
  use: (warehouse: Warehouse) => Promise<Result>,
): Promise<Result> {
  const warehouse = await openWarehouse(location, options);
  try {
    return await use(warehouse);
  } finally {
    await warehouse.close();
  }
}
