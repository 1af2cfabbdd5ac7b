import { open } from 'node:fs/promises';
import { type ColumnSource, ParquetWriter } from 'hyparquet-writer';
import { packageVersion } from '../../core/version.ts';
import { ROW_GROUP_CHARACTERS_MAX, ROW_GROUP_ROWS_MAX } from '../limits.ts';
import { builderOf, type ColumnBuilder } from './builders.ts';
import type { Batch, LakeColumn } from './column.ts';
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
  readonly #writer: ParquetWriter;
  readonly #columns: readonly {
    readonly spec: Omit<ColumnSource, 'data'>;
    readonly builder: ColumnBuilder;
  }[];
  #held = 0;
  #characters = 0;
  #written = 0;

  constructor(
    sink: FileSink,
    { name, columns }: { readonly name: string; readonly columns: readonly LakeColumn[] },
  ) {
    const createdBy = `daywalk version ${packageVersion()}`;
    this.#writer = new ParquetWriter({ writer: sink, schema: fileSchemaOf(columns), createdBy });
    this.#columns = columns.map((column) => ({
      spec: specOf(column),
      builder: builderOf(name, column),
    }));
  }

  async add(batch: Batch): Promise<void> {
    const count = batch.rows.length;
    for (let start = 0; start < count; ) {
      const end = Math.min(count, start + ROW_GROUP_ROWS_MAX - this.#held);
      const part = start === 0 && end === count ? batch : partOf(batch, start, end);
      for (const { builder } of this.#columns) this.#characters += builder.put(part, this.#held);
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

  async #write(): Promise<void> {
    const count = this.#held;
    const columnData = this.#columns.map(({ spec, builder }) => ({ ...spec, data: builder.take(count) }));
    await this.#writer.write({ columnData, rowGroupSize: ROW_GROUP_ROWS_MAX });
    this.#written += count;
    this.#held = 0;
    this.#characters = 0;
  }
}

function partOf({ rows, languages }: Batch, start: number, end: number): Batch {
  const part = { rows: rows.slice(start, end) };
  return languages === undefined ? part : { ...part, languages: languages.slice(start, end) };
}

function specOf({ name, type, isOrdered }: LakeColumn): Omit<ColumnSource, 'data'> {
  return {
    name,
    statistics: isOrdered,
    // Texts shrink to a half. Numbers are small already, by their dictionary: an eighth of the file, a tenth of the time.
    codec: type === 'string' || type === 'list' ? 'SNAPPY' : 'UNCOMPRESSED',
    // The run lengths that the writer would choose are read by Spark since 3.3 only.
    ...(type === 'boolean' ? { encoding: 'PLAIN' } : {}),
  };
}
