import { asyncBufferFromFile, parquetMetadataAsync, parquetReadObjects, parquetSchema } from 'hyparquet';
import { expectLayout } from './layout.ts';
import type { ReadRow } from './parse-row.ts';

/**
 * Reads the rows of a Parquet file that this program has written, with their numbers. Memory holds one row group.
 * @throws {UsageError} without the name of the file, if it has other columns.
 * @throws {Error} of the file system, or if it is not a Parquet file.
 */
export async function* readParquet(path: string): AsyncGenerator<{ row: ReadRow; line: number }> {
  const file = await asyncBufferFromFile(path);
  const metadata = await parquetMetadataAsync(file);
  expectLayout(parquetSchema(metadata).children.map(({ element }) => element.name));
  let start = 0;
  for (const group of metadata.row_groups) {
    const end = start + Number(group.num_rows);
    const rows = await parquetReadObjects({ file, metadata, rowStart: start, rowEnd: end });
    for (const [at, row] of rows.entries()) yield { row: readRowOf(row), line: start + at + 1 };
    start = end;
  }
}

function readRowOf(row: Readonly<Record<string, unknown>>): ReadRow {
  return Object.fromEntries(Object.entries(row).map(([name, value]) => [name, cellValue(value)]));
}

function cellValue(value: unknown): string | number | null {
  if (value instanceof Date) return value.toISOString().replace('.000Z', 'Z');
  return typeof value === 'string' || typeof value === 'number' ? value : null;
}
