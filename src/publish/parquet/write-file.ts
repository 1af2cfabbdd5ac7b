import { open } from 'node:fs/promises';
import { ParquetWriter } from 'hyparquet-writer';
import { packageVersion } from '../../core/package.ts';
import { ROW_GROUP_CHARACTERS_MAX, ROW_GROUP_ROWS_MAX } from '../limits.ts';
import type { Batch, LakeColumn } from './column.ts';
import { type ColumnBuffer, createColumnBuffer } from './column-buffer.ts';
import { FileSink } from './file-sink.ts';
import { fileSchemaOf } from './schema.ts';

/** Facts about a Parquet file that was written. */
export interface FileFacts {
  readonly rows: number;
  readonly bytes: number;
  readonly sha256: string;
}

/**
 * Writes rows to a Parquet file, replaces what is there, and syncs it. Memory holds one row group. Equal rows give equal
 * bytes.
 * @throws {StorageError} for a value that does not belong in its column.
 * @throws {Error} of the file system when the file cannot be written.
 */
export async function writeParquet(
  path: string,
  table: { readonly name: string; readonly columns: readonly LakeColumn[] },
  batches: AsyncIterable<Batch>,
): Promise<FileFacts> {
  const file = await open(path, 'w');
  try {
    const sink = new FileSink(file);
    const groups = new RowGroups(sink, table);
    for await (const batch of batches) await groups.add(batch);
    const rows = await groups.finish();
    await file.sync();
    return { rows, bytes: sink.offset, sha256: sink.sha256() };
  } finally {
    await file.close();
  }
}

/** Collects the values of rows by column, and writes each row group once it is full. */
class RowGroups {
  readonly #writer: ParquetWriter;
  readonly #columns: readonly ColumnBuffer[];
  #held = 0;
  #characters = 0;
  #written = 0;

  constructor(
    sink: FileSink,
    { name, columns }: { readonly name: string; readonly columns: readonly LakeColumn[] },
  ) {
    const createdBy = `daywalk version ${packageVersion()}`;
    this.#writer = new ParquetWriter({ writer: sink, schema: fileSchemaOf(columns), createdBy });
    this.#columns = columns.map((column) => createColumnBuffer(name, column));
  }

  async add(batch: Batch): Promise<void> {
    const count = batch.rows.length;
    for (let start = 0; start < count; ) {
      const end = Math.min(count, start + ROW_GROUP_ROWS_MAX - this.#held);
      for (const column of this.#columns) this.#characters += column.add(batch, start, end);
      this.#held += end - start;
      if (this.#held === ROW_GROUP_ROWS_MAX || this.#characters >= ROW_GROUP_CHARACTERS_MAX) {
        await this.#write();
      }
      start = end;
    }
  }

  async finish(): Promise<number> {
    if (this.#held > 0) await this.#write();
    await this.#writer.finish();
    return this.#written;
  }

  async #write(): Promise<void> {
    const columnData = this.#columns.map((column) => column.take());
    await this.#writer.write({ columnData, rowGroupSize: this.#held, pageSize: 0 });
    this.#written += this.#held;
    this.#held = 0;
    this.#characters = 0;
  }
}
