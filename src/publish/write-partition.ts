import type { AnyTable } from '../../schema/define.ts';
import { lakeColumnsOf } from './parquet/column.ts';
import { type FileFacts, writeParquet } from './parquet/write-file.ts';
import { type PartitionRows, readPartition } from './partition-rows.ts';
import type { RowSource } from './rows.ts';

/**
 * Reads the rows of a partition and writes them to a file, see {@link writeParquet}.
 * @throws {StorageError} when the warehouse cannot be read.
 * @throws {Error} of the file system when the file cannot be written.
 */
export function writePartition(
  source: RowSource,
  { table, rows }: { readonly table: AnyTable; readonly rows: PartitionRows },
  path: string,
): Promise<FileFacts> {
  const columns = lakeColumnsOf(table);
  return writeParquet(path, { name: table.name, columns }, readPartition(source, table, rows));
}
