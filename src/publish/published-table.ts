import type { Replaced } from './lake/lake.ts';

/** What was published of a table. */
export interface PublishedTable {
  readonly table: string;
  /** Files, by what became of them. */
  readonly written: number;
  readonly unchanged: number;
  readonly removed: number;
  /** Rows that the lake has, and those of them in files that were written. */
  readonly rows: number;
  readonly rowsWritten: number;
  /** Bytes of the files of the lake, and of those that were written. */
  readonly bytes: number;
  readonly bytesWritten: number;
}

/** A table of which nothing is published yet. */
export function nothingOf(table: string): PublishedTable {
  return { table, written: 0, unchanged: 0, removed: 0, rows: 0, rowsWritten: 0, bytes: 0, bytesWritten: 0 };
}

/** What was published of a table with one more partition. */
export function addPartition(sum: PublishedTable, { outcome, rows, bytes }: Replaced): PublishedTable {
  const isWritten = outcome === 'written';
  return {
    ...sum,
    written: sum.written + Number(isWritten),
    unchanged: sum.unchanged + Number(outcome === 'unchanged' && bytes > 0),
    removed: sum.removed + Number(outcome === 'removed'),
    rows: sum.rows + rows,
    rowsWritten: sum.rowsWritten + (isWritten ? rows : 0),
    bytes: sum.bytes + bytes,
    bytesWritten: sum.bytesWritten + (isWritten ? bytes : 0),
  };
}
