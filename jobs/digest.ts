import { createHash } from 'node:crypto';
import { ContentHash } from '../schema/digest.ts';
import { contentTables } from '../schema/tables.ts';
import type { Settings } from '../src/settings/settings.ts';
import type { Warehouse } from '../src/warehouse/port.ts';
import type { JobContext } from './context.ts';
import { withWarehouse } from './open-warehouse.ts';

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
  const whole = createHash('sha256');
  const tables: Record<string, string> = {};
  for (const table of contentTables) {
    const hash = new ContentHash();
    hash.begin(table);
    for await (const rows of warehouse.scan(table)) hash.add(rows);
    const hex = hash.hex();
    tables[table.name] = hex;
    whole.update(`${table.name} ${hex}\n`);
  }
  return { warehouse: whole.digest('hex'), tables };
}
