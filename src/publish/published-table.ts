import type { Replaced } from './lake/lake.ts';

export interface PublishedTable {
  readonly table: string;
  /** Numbers of files by outcome. */
  readonly written: number;
  readonly unchanged: number;
  readonly removed: number;
  /** Number of rows in the lake, and of those in files that were written. */
  readonly rows: number;
  readonly rowsWritten: number;
  /** Bytes of the files in the lake, and of those that were written. */
  readonly bytes: number;
  readonly bytesWritten: number;
}

/** Returns the counts of a table before its first partition. */
export function nothingOf(table: string): PublishedTable {
  return { table, written: 0, unchanged: 0, removed: 0, rows: 0, rowsWritten: 0, bytes: 0, bytesWritten: 0 };
}

/** Returns the counts with one more partition. */
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
