import type { AnyTable } from '../../schema/define.ts';
import { compareUtf8 } from '../../schema/order.ts';
import { pickerOf } from '../../schema/row.ts';
import { ChunkReader } from '../core/chunk-reader.ts';
import type { Values, Warehouse } from '../warehouse/port.ts';

/** The first values of the key that the rows of a group share. */
export type GroupKey = readonly string[];

interface TableReader {
  readonly chunks: ChunkReader<Values>;
  keyOf(row: Values): GroupKey;
}

/**
 * Reads tables side by side in key order, one group of rows with equal first key values at a time. Memory holds a chunk of
 * each table, never a whole group.
 */
export class Groups {
  readonly #readers: ReadonlyMap<AnyTable, TableReader>;

  /** Rows belong to one group if the first `keyLength` columns of their keys are equal. */
  constructor(warehouse: Warehouse, tables: readonly AnyTable[], keyLength: number) {
    this.#readers = new Map(
      tables.map((table) => {
        const pick = pickerOf(table, table.key.slice(0, keyLength));
        return [
          table,
          { chunks: new ChunkReader(warehouse.scan(table)), keyOf: (row) => pick(row).map(String) },
        ];
      }),
    );
  }

  /** Returns the key of the next group; undefined at the end. */
  async next(): Promise<GroupKey | undefined> {
    let first: GroupKey | undefined;
    for (const { chunks, keyOf } of this.#readers.values()) {
      const row = await chunks.fill();
      if (row === undefined) continue;
      const key = keyOf(row);
      if (first === undefined || compareKeys(key, first) < 0) first = key;
    }
    return first;
  }

  /** Yields the rows of one table in the group of `key`, a chunk at a time. Read it to its end. */
  async *rows(table: AnyTable, key: GroupKey): AsyncGenerator<readonly Values[]> {
    const reader = this.#readers.get(table);
    if (reader === undefined) return;
    const { chunks, keyOf } = reader;
    yield* chunks.takeWhile((row) => compareKeys(key, keyOf(row)) === 0);
  }

  async close(): Promise<void> {
    for (const { chunks } of this.#readers.values()) await chunks.close();
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
