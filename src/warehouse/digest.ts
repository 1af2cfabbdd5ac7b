import { ContentHash, warehouseSha256 } from '../../schema/digest.ts';
import { contentTables } from '../../schema/tables.ts';
import type { Warehouse } from '../port/index.ts';

/** Digests of what a warehouse holds, in lower-case hexadecimal. */
export interface WarehouseDigest {
  /** One SHA-256 over the digests of all tables. */
  readonly warehouse: string;
  /** SHA-256 by table. Covers the tables with the service's data, not the exporter's own. */
  readonly tables: Readonly<Record<string, string>>;
}

/** Computes the digests of one state of a warehouse. It streams the rows, so memory stays bounded. */
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
