import { createHash, type Hash } from 'node:crypto';
import type { AnyTable } from './define.ts';
import { activityTest, additiveColumns, positionsOf, type TableRows, type Values } from './row.ts';

/** Rows encoded at once: few enough for a cheap garbage collection. It affects speed only, never the digest. */
const CHUNK_ROWS = 500;

/**
 * A SHA-256 over the content of tables. Every database with the same rows has the same hash.
 *
 * Each table contributes its name, then its rows in key order, each as the JSON array of its values. A database that
 * reorders JSON (PostgreSQL's jsonb) must make it canonical again first.
 */
export class ContentHash {
  readonly #hash: Hash = createHash('sha256');

  /** Begins a table. Call it before the first rows, and also for a table without rows. */
  begin(table: AnyTable): void {
    this.#hash.update(`${table.name}\n`);
  }

  /** Adds rows of the current table. They must come in key order over all calls. */
  add(rows: readonly Values[]): void {
    for (const text of encodedChunks(rows)) this.addEncoded(text);
  }

  /** As {@link add}, for the text of a JSON array of at least one row. */
  addEncoded(text: string): void {
    this.#hash.update(`${text.slice(1, -1)},`);
  }

  /** The digest in lower-case hexadecimal. Ends the hash. */
  hex(): string {
    return this.#hash.digest('hex');
  }
}

/** Yields the rows as texts of JSON arrays, some hundred rows each; nothing if there are no rows. */
function* encodedChunks(rows: readonly Values[]): Generator<string, void, void> {
  for (let start = 0; start < rows.length; start += CHUNK_ROWS) {
    yield JSON.stringify(rows.slice(start, start + CHUNK_ROWS));
  }
}

/** All rows of one table, or their texts as {@link encodedChunks} yields them. */
type Content = { readonly table: AnyTable } & (
  | { readonly rows: readonly Values[] }
  | { readonly texts: readonly string[] }
);

/** The digest of a unit: its tables in the order of the schema, rows in key order. */
export function contentSha256(tables: readonly Content[]): string {
  const hash = new ContentHash();
  for (const content of tables) {
    hash.begin(content.table);
    for (const text of 'texts' in content ? content.texts : encodedChunks(content.rows))
      hash.addEncoded(text);
  }
  return hash.hex();
}

/** The digest of a warehouse: over the digests of its content tables, by name in the order of the schema. */
export function warehouseSha256(tables: ReadonlyMap<string, string>): string {
  const hash = createHash('sha256');
  for (const [name, hex] of tables) hash.update(`${name} ${hex}\n`);
  return hash.digest('hex');
}

/** As {@link TableRows}, encoded as for their digest: small, and cheap to send to a thread. */
export interface EncodedRows {
  readonly table: AnyTable;
  /** How many rows there are. */
  readonly count: number;
  /** How many of them show activity, see `row.ts`. */
  readonly active: number;
  /** The sums of the columns that may be added up, in their order; null for one in which a row has no value. */
  readonly sums: readonly (number | null)[];
  /** Texts of JSON arrays, some hundred rows each, see `encodedChunks` in `digest.ts`. */
  readonly texts: readonly string[];
}

/** Encodes rows in the form from which their digest is computed. */
export function encodeRows({ table, rows }: TableRows): EncodedRows {
  const encoder = new RowEncoder(table);
  for (const row of rows) encoder.add(row);
  return encoder.finish();
}

/** Encodes rows one by one, so that only their encoding stays in memory. */
export class RowEncoder {
  readonly #table: AnyTable;
  readonly #texts: string[] = [];
  #pending: Values[] = [];
  readonly #isActive: (row: Values) => boolean;
  readonly #added: readonly number[];
  readonly #sums: Float64Array;
  #count = 0;
  #active = 0;

  constructor(table: AnyTable) {
    this.#table = table;
    this.#isActive = activityTest(table);
    this.#added = positionsOf<AnyTable>(table, additiveColumns(table));
    this.#sums = new Float64Array(this.#added.length);
  }

  add(row: Values): void {
    this.#count += 1;
    if (this.#isActive(row)) this.#active += 1;
    for (let index = 0; index < this.#added.length; index += 1) {
      const value = row[this.#added[index] ?? 0];
      this.#sums[index] = (this.#sums[index] ?? 0) + (typeof value === 'number' ? value : Number.NaN);
    }
    if (this.#pending.push(row) >= CHUNK_ROWS) this.#encode();
  }

  finish(): EncodedRows {
    if (this.#pending.length > 0) this.#encode();
    const sums = [...this.#sums].map((sum) => (Number.isNaN(sum) ? null : sum));
    return { table: this.#table, count: this.#count, active: this.#active, sums, texts: this.#texts };
  }

  #encode(): void {
    this.#texts.push(JSON.stringify(this.#pending));
    this.#pending = [];
  }
}

/** Decodes rows in chunks of some hundred, so that few are in memory at once. */
export function* decodedChunks({
  texts,
}: Pick<EncodedRows, 'texts'>): Generator<readonly Values[], void, void> {
  for (const text of texts) yield JSON.parse(text) as Values[];
}

/** Decodes all rows at once. */
export function decodeRows({ table, texts }: EncodedRows): TableRows {
  return { table, rows: [...decodedChunks({ texts })].flat() };
}
