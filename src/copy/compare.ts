import type { AnyTable } from '../../schema/define.ts';
import { ContentHash, warehouseSha256 } from '../../schema/digest.ts';
import { allTables } from '../../schema/tables.ts';
import type { Warehouse } from '../warehouse/port.ts';
import type { CopyObserver } from './events.ts';
import { canonicalRow } from './same-row.ts';
import { inTurns, type Sides } from './sides.ts';

/** What both sides hold in one table. */
export interface ComparedTable {
  readonly table: string;
  /** Rows in the source. */
  readonly rows: number;
  readonly isSame: boolean;
}

/** What both sides hold. */
export interface Comparison {
  readonly tables: readonly ComparedTable[];
  /** The digests of the content, as `daywalk digest` tells them. */
  readonly digest: { readonly from: string; readonly to: string };
}

/** Reads every table of both sides, the ledger's too, and compares their digests. Both must stand in a snapshot. */
export async function compareSides(sides: Sides, observe: CopyObserver): Promise<Comparison> {
  const tables: ComparedTable[] = [];
  const content = { from: new Map<string, string>(), to: new Map<string, string>() };
  for (const table of allTables) {
    observe({ type: 'copy-comparing', table: table.name });
    const [from, to] = await Promise.all(
      [sides.source, sides.stored].map((warehouse) => hashTable(warehouse, table, sides.signal)),
    );
    if (from === undefined || to === undefined) continue;
    tables.push({ table: table.name, rows: from.rows, isSame: from.sha256 === to.sha256 });
    if (table.role === 'ledger') continue;
    content.from.set(table.name, from.sha256);
    content.to.set(table.name, to.sha256);
  }
  return {
    tables,
    digest: { from: warehouseSha256(content.from), to: warehouseSha256(content.to) },
  };
}

async function hashTable(warehouse: Warehouse, table: AnyTable, signal: AbortSignal) {
  // The content is canonical by itself, and its digest is over what is stored; the ledger's JSON is only a value.
  const isLedger = table.role === 'ledger';
  const canonical = canonicalRow(table);
  const hash = new ContentHash();
  hash.begin(table);
  let count = 0;
  for await (const rows of inTurns(warehouse.scan(table), signal)) {
    hash.add(isLedger ? rows.map(canonical) : rows);
    count += rows.length;
  }
  return { rows: count, sha256: hash.hex() };
}
