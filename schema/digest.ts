import { createHash, type Hash } from 'node:crypto';
import type { AnyTable } from './define.ts';

type Values = readonly (string | number | null)[];

/** Rows that are encoded at once; only speed depends on it, never the digest. */
const CHUNK_ROWS = 500;

/**
 * A SHA-256 over the content of tables, the same for every database that holds the same rows.
 *
 * Each table is its name followed by its rows in key order, each row the JSON array of its values. Databases that
 * reorder what they store (PostgreSQL's jsonb) must hand in the canonical text again.
 */
export class ContentHash {
  readonly #hash: Hash = createHash('sha256');

  /** Begins a table. Call before its first rows, and for a table without rows too. */
  begin(table: AnyTable): void {
    this.#hash.update(`${table.name}\n`);
  }

  /** Adds rows of the table begun last, in key order over all calls. */
  add(rows: readonly Values[]): void {
    for (let start = 0; start < rows.length; start += CHUNK_ROWS) {
      const text = JSON.stringify(rows.slice(start, start + CHUNK_ROWS));
      this.#hash.update(`${text.slice(1, -1)},`);
    }
  }

  /** The digest in lower-case hexadecimal. Ends the hash. */
  hex(): string {
    return this.#hash.digest('hex');
  }
}

/** The digest of a unit: its tables in the order of the schema, rows in key order. */
export function contentSha256(tables: readonly { table: AnyTable; rows: readonly Values[] }[]): string {
  const hash = new ContentHash();
  for (const { table, rows } of tables) {
    hash.begin(table);
    hash.add(rows);
  }
  return hash.hex();
}

/** The digest of a warehouse: over the digests of its content tables, by name in the order of the schema. */
export function warehouseSha256(tables: ReadonlyMap<string, string>): string {
  const hash = createHash('sha256');
  for (const [name, hex] of tables) hash.update(`${name} ${hex}\n`);
  return hash.digest('hex');
}
