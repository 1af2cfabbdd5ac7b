import type { AnyTable } from '../../schema/define.ts';
import { ContentHash, warehouseSha256 } from '../../schema/digest.ts';
import { contentTables, sourceTables } from '../../schema/tables.ts';
import type { CopyObserver } from './events.ts';
import { canonicalRow } from './same-row.ts';
import { inTurns, type Sides, type Source } from './sides.ts';

/** The comparison of one table. */
export interface ComparedTable {
  readonly table: string;
  /** Rows in the source. */
  readonly rows: number;
  readonly isSame: boolean;
}

/** The comparison of source and destination. */
export interface Comparison {
  readonly tables: readonly ComparedTable[];
  /** The digests of the content, as `daywalk digest` prints them. */
  readonly digest: { readonly from: string; readonly to: string };
}

/** Reads every table of both sides but the rollups, the ledger too, and compares their digests. Call inside a snapshot of each side. */
export async function compareSides(sides: Sides, observe: CopyObserver): Promise<Comparison> {
  const tables: ComparedTable[] = [];
  const content = { from: new Map<string, string>(), to: new Map<string, string>() };
  for (const table of sourceTables) {
    observe({ type: 'copy-comparing', table: table.name });
    const [from, to] = await Promise.all(
      [sides.source, sides.stored].map((warehouse) => hashTable(warehouse, table, sides.signal)),
    );
    if (from === undefined || to === undefined) continue;
    tables.push({ table: table.name, rows: from.rows, isSame: from.sha256 === to.sha256 });
    if (!contentTables.includes(table)) continue;
    content.from.set(table.name, from.sha256);
    content.to.set(table.name, to.sha256);
  }
  return {
    tables,
    digest: { from: warehouseSha256(content.from), to: warehouseSha256(content.to) },
  };
}

async function hashTable(warehouse: Source, table: AnyTable, signal: AbortSignal) {
  // Content is stored in canonical form. The JSON of the ledger is not: the databases may store it in different forms.
  const isLedger = !contentTables.includes(table);
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
