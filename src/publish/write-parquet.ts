import { createHash } from 'node:crypto';
import { type FileHandle, open } from 'node:fs/promises';
import { zstdCompressSync } from 'node:zlib';
import { ByteWriter, ParquetWriter, type SchemaElement } from 'hyparquet-writer';
import { packageVersion } from '../core/files.ts';
import {
  type Batch,
  type ColumnBuffer,
  createColumnBuffer,
  type LakeColumn,
  type LakeType,
} from './parquet-columns.ts';

/** The most rows of a row group. Readers skip or read a row group as a whole, and a publish holds one in memory. */
const ROW_GROUP_ROWS_MAX = 100_000;

/** A row group ends once its different texts have this many characters: events may hold whole prompts. */
const ROW_GROUP_CHARACTERS_MAX = 8 * 1024 * 1024;

/** Facts about a Parquet file that was written. */
export interface FileFacts {
  readonly rows: number;
  readonly bytes: number;
  readonly sha256: string;
}

/** The values of a date or number in a file: days or milliseconds since 1970, or the number. */
export interface ColumnRange {
  /** Infinity if there is no value. */
  readonly min: number;
  /** -Infinity if there is no value. */
  readonly max: number;
  readonly nulls: number;
}

/** A file, and the ranges of its columns with statistics by name. */
export interface WrittenFile extends FileFacts {
  readonly ranges: ReadonlyMap<string, ColumnRange>;
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
): Promise<WrittenFile> {
  const file = await open(path, 'w');
  try {
    const sink = new FileSink(file);
    const groups = new RowGroups(sink, table);
    for await (const batch of batches) await groups.add(batch);
    const rows = await groups.finish();
    await file.sync();
    return { rows, bytes: sink.offset, sha256: sink.sha256(), ranges: groups.ranges() };
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
    this.#writer = new ParquetWriter({
      ...{ writer: sink, schema: fileSchemaOf(columns), createdBy },
      codec: 'ZSTD',
      compressors: { ZSTD: (bytes) => zstdCompressSync(bytes) },
    });
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

  /** The ranges over all row groups, as the writer has found them. */
  ranges(): Map<string, ColumnRange> {
    const ranges = new Map<string, ColumnRange>();
    for (const { meta_data: column } of this.#writer.row_groups.flatMap(({ columns }) => columns)) {
      const name = column?.path_in_schema[0];
      if (name === undefined || column?.statistics === undefined) continue;
      const {
        min_value: min = Infinity,
        max_value: max = -Infinity,
        null_count: nulls = 0n,
      } = column.statistics;
      const known = ranges.get(name) ?? { min: Infinity, max: -Infinity, nulls: 0 };
      ranges.set(name, {
        min: Math.min(known.min, Number(min)),
        max: Math.max(known.max, Number(max)),
        nulls: known.nulls + Number(nulls),
      });
    }
    return ranges;
  }

  async #write(): Promise<void> {
    const columnData = this.#columns.map((column) => column.take());
    await this.#writer.write({ columnData, rowGroupSize: this.#held, pageSize: 0 });
    this.#written += this.#held;
    this.#held = 0;
    this.#characters = 0;
  }
}

/** Bytes that the buffer begins with; it grows to the largest row group. */
const BUFFER_BYTES = 1024 * 1024;

/** Writes a Parquet file row group by row group: memory holds one of them at most. */
export class FileSink extends ByteWriter {
  readonly #file: FileHandle;
  readonly #hash = createHash('sha256');

  constructor(file: FileHandle) {
    super(BUFFER_BYTES);
    this.#file = file;
  }

  /** Writes what the buffer holds to the file. The Parquet writer calls this after each row group. */
  async flush(): Promise<void> {
    const bytes = this.getBytes();
    this.#hash.update(bytes);
    await this.#file.writeFile(bytes);
    this.index = 0;
  }

  override finish(): Promise<void> {
    return this.flush();
  }

  /** Returns the SHA-256 of the file. Call it once, at the end. */
  sha256(): string {
    return this.#hash.digest('hex');
  }
}

type Annotation = Omit<SchemaElement, 'name' | 'repetition_type'>;

const TEXT = { type: 'BYTE_ARRAY', converted_type: 'UTF8', logical_type: { type: 'STRING' } } as const;

/** Older readers look at `converted_type` only, newer ones at `logical_type` too. */
const ANNOTATIONS: Readonly<Record<LakeType, Annotation>> = {
  string: TEXT,
  date: { type: 'INT32', converted_type: 'DATE', logical_type: { type: 'DATE' } },
  // An instant in UTC for every reader. The logical type means the same, but makes DuckDB read a TIMESTAMP WITH TIME ZONE,
  // and most of DuckDB's functions for that need an extension.
  timestamp: { type: 'INT64', converted_type: 'TIMESTAMP_MILLIS' },
  double: { type: 'DOUBLE' },
  integer: { type: 'INT64' },
  boolean: { type: 'BOOLEAN' },
  list: { num_children: 1, converted_type: 'LIST', logical_type: { type: 'LIST' } },
};

/** Returns the Parquet schema of files with these columns. */
export function fileSchemaOf(columns: readonly LakeColumn[]): SchemaElement[] {
  return [{ name: 'root', num_children: columns.length }, ...columns.flatMap(elementsOf)];
}

function elementsOf({ name, type, isRequired }: LakeColumn): SchemaElement[] {
  const element: SchemaElement = {
    name,
    repetition_type: isRequired ? 'REQUIRED' : 'OPTIONAL',
    ...ANNOTATIONS[type],
  };
  return type === 'list' ? [element, ...LIST_OF_TEXTS] : [element];
}

/** The three levels that the format prescribes for a list. */
const LIST_OF_TEXTS: readonly SchemaElement[] = [
  { name: 'list', repetition_type: 'REPEATED', num_children: 1 },
  { name: 'element', repetition_type: 'OPTIONAL', ...TEXT },
];
