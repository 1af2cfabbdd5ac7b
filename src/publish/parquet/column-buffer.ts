import type { ColumnSource } from 'hyparquet-writer';
import { StorageError } from '../../core/errors.ts';
import type { Value } from '../../warehouse/port.ts';
import type { Batch, LakeColumn } from './column.ts';
import { conversionOf, type LakeValue } from './values.ts';

/** Collects the values of one column for a row group. */
export interface ColumnBuffer {
  /**
   * Adds the values of the rows from `start` to before `end`. Returns how many characters their texts have.
   * @throws {StorageError} for a value that does not belong in the column.
   */
  add(batch: Batch, start: number, end: number): number;
  /** Returns the collected values for the Parquet writer, and forgets them. */
  take(): ColumnSource;
}

/** Creates the buffer of a column. `table` is named in errors. */
export function createColumnBuffer(table: string, column: LakeColumn): ColumnBuffer {
  const { position, isRequired, isRepetitive } = column;
  const convert = column.type === 'list' ? null : conversionOf(column.type);
  const form = formOf(column);
  let data: LakeValue[] = [];
  return {
    add({ rows, languages = [] }, start, end) {
      let characters = 0;
      for (let at = start; at < end; at += 1) {
        const value = rows[at]?.[position] ?? null;
        const converted = convert === null ? (languages[at] ?? []) : value === null ? null : convert(value);
        if (converted === undefined || (converted === null && isRequired))
          throw misfitError(table, column, value);
        if (typeof converted === 'string') characters += converted.length;
        data.push(converted);
      }
      return characters;
    },
    take() {
      const taken = data;
      data = [];
      // The library would decide by the first 1,000 rows, which do not show that the same 3,000 users occur every day.
      // An empty dictionary would be valid, but is so rare that readers may not expect it.
      const hasDictionary = isRepetitive && taken.some((value) => value !== null);
      return { ...form, ...(hasDictionary ? { encoding: 'RLE_DICTIONARY' } : {}), data: taken };
    },
  };
}

function formOf({ name, type, isOrdered }: LakeColumn): Omit<ColumnSource, 'data'> {
  return {
    name,
    statistics: isOrdered,
    offsetIndex: false,
    // Numbers are small already, by their dictionary: Snappy would save an eighth of the file for a tenth of the time.
    codec: type === 'string' || type === 'list' ? 'SNAPPY' : 'UNCOMPRESSED',
    // The library would choose run-length encoding, which older engines do not read in pages of this version.
    ...(type === 'boolean' ? { encoding: 'PLAIN' } : {}),
  };
}

function misfitError(table: string, { name, type }: LakeColumn, value: Value): StorageError {
  return new StorageError(
    `publish ${table}.${name}: the warehouse has ${JSON.stringify(value)} where a ${type} belongs`,
    {
      hint: 'another program has written to the warehouse; a forced backfill repairs what Daywalk exported',
      reason: 'rows-damaged',
    },
  );
}
