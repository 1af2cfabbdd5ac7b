import { ContentHash, warehouseSha256 } from '../../schema/digest.ts';
import { contentTables } from '../../schema/tables.ts';
import type { JobContext } from '../core/job-context.ts';
import type { Settings } from '../settings/settings.ts';
import type { Warehouse } from './port.ts';
import { withWarehouse } from './with-warehouse.ts';

/** Digests of what a warehouse holds, in lower-case hexadecimal. */
export interface WarehouseDigest {
  /** One SHA-256 over the digests of all tables. */
  readonly warehouse: string;
  /** SHA-256 by table: every table of what the service said, none of the exporter's own. */
  readonly tables: Readonly<Record<string, string>>;
}

/** The digests of a warehouse: over the content alone, so two warehouses with the same content have the same. */
export function digestWarehouse(settings: Settings, { clock }: JobContext): Promise<WarehouseDigest> {
  return withWarehouse(settings.warehouse, { clock, create: false }, digestOf);
}

/** The digests of an open warehouse, all of one state of it. Streams, so memory stays bounded. */
export function digestOf(warehouse: Warehouse): Promise<WarehouseDigest> {
  return warehouse.inSnapshot(() => digestTables(warehouse));
}

async function digestTables(warehouse: Warehouse): Promise<WarehouseDigest> {
  const tables = new Map<string, string>();
  for (const table of contentTables) {
    const hash = new ContentHash();
    hash.begin(table);
    for await (const rows of warehouse.scan(table)) hash.add(rows);
    tables.set(table.name, hash.hex());
  }
  return { warehouse: warehouseSha256(tables), tables: Object.fromEntries(tables) };
}
