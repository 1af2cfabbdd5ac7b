import { open } from 'node:fs/promises';
import { ParquetWriter } from 'hyparquet-writer';
import { packageVersion } from '../../core/package.ts';
import { ROW_GROUP_CHARACTERS_MAX, ROW_GROUP_ROWS_MAX } from '../limits.ts';
import type { Batch, LakeColumn } from './column.ts';
import { type ColumnWriter, columnWriter } from './column-writer.ts';
import { FileSink } from './file-sink.ts';
import { fileSchemaOf } from './schema.ts';

/** What a Parquet file holds. */
export interface FileFacts {
  readonly rows: number;
  readonly bytes: number;
  readonly sha256: string;
}

/**
 * Writes rows to a Parquet file, whatever was there before, and syncs it. Memory is bounded by a row group. The same
 * rows give the same bytes.
 * @throws {Error} of the file system when it cannot be written.
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

/** Collects rows by column, and writes them as soon as they are a row group. */
class RowGroups {
  readonly #sink: FileSink;
  readonly #writer: ParquetWriter;
  readonly #columns: readonly ColumnWriter[];
  #held = 0;
  #characters = 0;
  #written = 0;

  constructor(
    sink: FileSink,
    { name, columns }: { readonly name: string; readonly columns: readonly LakeColumn[] },
  ) {
    const createdBy = `daywalk version ${packageVersion()}`;
    this.#sink = sink;
    this.#writer = new ParquetWriter({ writer: sink, schema: fileSchemaOf(columns), createdBy });
    this.#columns = columns.map((column) => columnWriter(name, column));
  }

  async add(batch: Batch): Promise<void> {
    const count = batch.rows.length;
    for (let start = 0; start < count; ) {
      const end = Math.min(count, start + ROW_GROUP_ROWS_MAX - this.#held);
      const part = start === 0 && end === count ? batch : partOf(batch, start, end);
      for (const column of this.#columns) this.#characters += column.put(part);
      this.#held += part.rows.length;
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

  // The library takes whole columns of values and looks at each several times. What it keeps of a row group for the
  // file's footer is told to it here, and the values go into the file without it.
  async #write(): Promise<void> {
    const start = this.#sink.offset;
    const columns = this.#columns.map((column) => column.write(this.#sink));
    this.#writer.row_groups.push({
      columns,
      total_byte_size: sum(columns.map(({ meta_data }) => meta_data?.total_uncompressed_size ?? 0n)),
      num_rows: BigInt(this.#held),
      total_compressed_size: BigInt(this.#sink.offset - start),
    });
    this.#writer.num_rows += BigInt(this.#held);
    await this.#sink.flush();
    this.#written += this.#held;
    this.#held = 0;
    this.#characters = 0;
  }
}

function sum(sizes: readonly bigint[]): bigint {
  return sizes.reduce((a, b) => a + b, 0n);
}

function partOf({ rows, languages }: Batch, start: number, end: number): Batch {
  const part = { rows: rows.slice(start, end) };
  return languages === undefined ? part : { ...part, languages: languages.slice(start, end) };
}
