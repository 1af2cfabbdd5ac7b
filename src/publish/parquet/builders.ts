import { StorageError } from '../../core/errors.ts';
import type { Value } from '../../warehouse/port.ts';
import { ROW_GROUP_ROWS_MAX } from '../limits.ts';
import type { Batch, LakeColumn } from './column.ts';
import { type Conversion, conversionOf } from './conversions.ts';
import { TextBytes } from './text-bytes.ts';

/** Lists that are remembered at most. */
const LISTS_MAX = 10_000;

/** Values of one column, in the form that the Parquet writer takes. */
export type ColumnValues = Float64Array | unknown[];

/** Collects the values of one column, a row group at a time. */
export interface ColumnBuilder {
  /** Puts the values of rows at the places from `at` on. Answers how many characters their texts have. */
  put(batch: Batch, at: number): number;
  /** The first `count` values, for as long as nothing else is put there. */
  take(count: number): ColumnValues;
}

/** The builder of a column of a table. A row group has {@link ROW_GROUP_ROWS_MAX} rows at most. */
export function builderOf(table: string, column: LakeColumn): ColumnBuilder {
  if (column.type === 'double') return doubles(table, column);
  if (column.type === 'string') return texts(table, column);
  if (column.type === 'list') return lists();
  return converted(table, column, conversionOf(column.type));
}

// Metrics are most of what there is. An array of doubles takes half the memory of one of values.
function doubles(table: string, column: LakeColumn): ColumnBuilder {
  const { position } = column;
  const values = new Float64Array(ROW_GROUP_ROWS_MAX);
  let nulls: number[] = [];
  return {
    put({ rows }, at) {
      let place = at;
      for (const row of rows) {
        const value = row[position];
        // The dictionary of a column knows one zero: without the sum it would be the one that came first, 0 or -0.
        if (typeof value === 'number') values[place] = value + 0;
        else if (value === null) nulls.push(place);
        else throw misfit(table, column, value);
        place += 1;
      }
      return 0;
    },
    take(count) {
      if (nulls.length === 0) return values.subarray(0, count);
      const withNulls: unknown[] = Array.from(values.subarray(0, count));
      for (const place of nulls) withNulls[place] = null;
      nulls = [];
      return withNulls;
    },
  };
}

// Texts are bytes as long as they repeat. Within a row group they are all of one kind, because the Parquet writer
// compares them for its statistics.
function texts(table: string, column: LakeColumn): ColumnBuilder {
  const { position } = column;
  const values: unknown[] = new Array(ROW_GROUP_ROWS_MAX).fill(null);
  let bytes: TextBytes | null = new TextBytes();
  return {
    put({ rows }, at) {
      let place = at;
      let characters = 0;
      for (const row of rows) {
        const value = row[position];
        if (typeof value === 'string') {
          values[place] = bytes === null ? value : bytes.of(value);
          characters += value.length;
        } else if (value === null) values[place] = null;
        else throw misfit(table, column, value);
        place += 1;
      }
      return characters;
    },
    take(count) {
      if (bytes?.isFull) bytes = null;
      return count === values.length ? values : values.slice(0, count);
    },
  };
}

function converted(table: string, column: LakeColumn, convert: Conversion): ColumnBuilder {
  const { position } = column;
  const values: unknown[] = new Array(ROW_GROUP_ROWS_MAX).fill(null);
  return {
    put({ rows }, at) {
      let place = at;
      for (const row of rows) {
        const value = row[position] ?? null;
        const result = value === null ? null : convert(value);
        if (result === undefined) throw misfit(table, column, value);
        values[place] = result;
        place += 1;
      }
      return 0;
    },
    take: (count) => (count === values.length ? values : values.slice(0, count)),
  };
}

function lists(): ColumnBuilder {
  const values: unknown[] = new Array(ROW_GROUP_ROWS_MAX).fill(null);
  const texts = new TextBytes();
  const known = new Map<readonly string[], Uint8Array[]>();
  return {
    put({ languages = [] }, at) {
      let place = at;
      for (const list of languages) {
        const bytes = known.get(list) ?? list.map((text) => texts.of(text));
        if (known.size < LISTS_MAX) known.set(list, bytes);
        values[place] = bytes;
        place += 1;
      }
      return 0;
    },
    take: (count) => (count === values.length ? values : values.slice(0, count)),
  };
}

function misfit(table: string, { name, type }: LakeColumn, value: Value | undefined): StorageError {
  return new StorageError(
    `publish ${table}.${name}: the warehouse has ${JSON.stringify(value)} where a ${type} belongs`,
    {
      hint: 'something else has written to the warehouse; daywalk backfill --force repairs what it exported',
    },
  );
}
