import type { AnyTable } from '../../schema/define.ts';
import { compareUtf8 } from '../../schema/order.ts';
import { ChunkReader } from '../core/chunk-reader.ts';
import type { Row, Warehouse } from '../warehouse/port.ts';

/** The first values of the key that the rows of a group share. */
export type GroupKey = readonly string[];

/**
 * Reads tables side by side in key order, one group of rows with equal first key values at a time. Memory holds a chunk of
 * each table, never a whole group.
 */
export class Groups {
  readonly #readers: ReadonlyMap<AnyTable, ChunkReader<Row>>;
  readonly #keyLength: number;

  /** In each of these tables, the first `keyLength` columns must be the first columns of its key. */
  constructor(warehouse: Warehouse, tables: readonly AnyTable[], keyLength: number) {
    this.#readers = new Map(tables.map((table) => [table, new ChunkReader(warehouse.scan(table))]));
    this.#keyLength = keyLength;
  }

  /** Returns the key of the next group; undefined at the end. */
  async next(): Promise<GroupKey | undefined> {
    let first: GroupKey | undefined;
    for (const reader of this.#readers.values()) {
      const row = await reader.fill();
      if (row === undefined) continue;
      const key = row.slice(0, this.#keyLength).map(String);
      if (first === undefined || compareKeys(key, first) < 0) first = key;
    }
    return first;
  }

  /** Yields the rows of one table in the group of `key`, a chunk at a time. Read it to its end. */
  async *rows(table: AnyTable, key: GroupKey): AsyncGenerator<readonly Row[]> {
    const reader = this.#readers.get(table);
    if (reader !== undefined)
      yield* reader.takeWhile((row) => key.every((part, at) => String(row[at]) === part));
  }

  async close(): Promise<void> {
    for (const reader of this.#readers.values()) await reader.close();
  }
}

/** Compares keys by their bytes, as the databases do. */
function compareKeys(a: GroupKey, b: GroupKey): number {
  for (const [at, part] of a.entries()) {
    const order = compareUtf8(part, b[at] ?? '');
    if (order !== 0) return order;
  }
  return 0;
}
