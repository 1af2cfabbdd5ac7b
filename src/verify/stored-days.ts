import type { AnyTable } from '../../schema/define.ts';
import { compareUtf8 } from '../../schema/order.ts';
import { tablesOf } from '../../schema/tables.ts';
import type { DailyStream } from '../core/stream.ts';
import type { Row, TableRows, Warehouse } from '../warehouse/port.ts';

/** One day of one stream, as its tables hold it. */
export interface StoredDay {
  readonly orgId: string;
  readonly day: string;
  /** Every table of the stream, in the order of the schema; without rows where it has none that day. */
  readonly tables: readonly TableRows[];
}

/**
 * Every day that any table of a stream has a row of, in the order of organization and day. The tables are read side by
 * side in key order, so one day is held at a time.
 */
export async function* storedDays(warehouse: Warehouse, stream: DailyStream): AsyncGenerator<StoredDay> {
  const readers = tablesOf(stream).map((table) => new DayReader(table, warehouse.scan(table)));
  try {
    for (;;) {
      const heads: Row[] = [];
      for (const reader of readers) {
        const head = await reader.head();
        if (head !== undefined) heads.push(head);
      }
      const next = heads.reduce<Row | undefined>(
        (first, head) => (first === undefined || compareDays(head, first) < 0 ? head : first),
        undefined,
      );
      if (next === undefined) return;
      const tables: TableRows[] = [];
      for (const reader of readers) tables.push({ table: reader.table, rows: await reader.takeDay(next) });
      yield { orgId: String(next[0]), day: String(next[1]), tables };
    }
  } finally {
    for (const reader of readers) await reader.close();
  }
}

function compareDays(a: Row, b: Row): number {
  return compareUtf8(String(a[0]), String(b[0])) || compareUtf8(String(a[1]), String(b[1]));
}

/** The rows of one table, a day at a time. */
class DayReader {
  readonly table: AnyTable;
  readonly #chunks: AsyncIterator<readonly Row[]>;
  #chunk: readonly Row[] = [];
  #at = 0;

  constructor(table: AnyTable, chunks: AsyncIterable<readonly Row[]>) {
    this.table = table;
    this.#chunks = chunks[Symbol.asyncIterator]();
  }

  /** The next row; undefined at the end. */
  async head(): Promise<Row | undefined> {
    while (this.#at >= this.#chunk.length) {
      const next = await this.#chunks.next();
      if (next.done === true) return undefined;
      this.#chunk = next.value;
      this.#at = 0;
    }
    return this.#chunk[this.#at];
  }

  /** The rows of the day that `of` is about. */
  async takeDay(of: Row): Promise<Row[]> {
    const rows: Row[] = [];
    for (
      let row = await this.head();
      row !== undefined && compareDays(row, of) === 0;
      row = await this.head()
    ) {
      rows.push(row);
      this.#at += 1;
    }
    return rows;
  }

  async close(): Promise<void> {
    await this.#chunks.return?.();
  }
}
