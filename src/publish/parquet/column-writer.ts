import type { ByteWriter } from 'hyparquet-writer';
import { StorageError } from '../../core/errors.ts';
import type { Value } from '../../warehouse/port.ts';
import type { Batch, LakeColumn } from './column.ts';
import { type ChunkForm, type ColumnChunk, writeChunk } from './column-chunk.ts';
import { type Conversion, conversionOf } from './conversions.ts';
import type { Dictionary } from './dictionary.ts';
import { ListSlots } from './list-slots.ts';
import { NumberDictionary, type NumberFormat } from './number-dictionary.ts';
import { Slots } from './slots.ts';
import { TextDictionary } from './text-dictionary.ts';

/** Collects the values of one column and writes them, a row group at a time. */
export interface ColumnWriter {
  /** Takes the values of rows. Answers how many characters their texts have. */
  put(batch: Batch): number;
  /** Writes what was put, and forgets it. */
  write(out: ByteWriter): ColumnChunk;
}

/** The writer of a column of a table. */
export function columnWriter(table: string, column: LakeColumn): ColumnWriter {
  switch (column.type) {
    case 'double':
      return doubles(table, column);
    case 'string':
      return texts(table, column);
    case 'list':
      return lists(column);
    default:
      return converted(table, column, { format: FORMATS[column.type], convert: conversionOf(column.type) });
  }
}

const FORMATS = { date: 'INT32', timestamp: 'INT64', integer: 'INT64', boolean: 'BOOLEAN' } as const;

function doubles(table: string, column: LakeColumn): ColumnWriter {
  const { position, isRequired } = column;
  const dictionary = new NumberDictionary('DOUBLE');
  const slots = new Slots();
  return {
    put({ rows }) {
      for (const row of rows) {
        const value = row[position];
        // There is one zero in a dictionary: without the sum it would be the one that came first, 0 or -0.
        if (typeof value === 'number') slots.add(dictionary.numberOf(value + 0));
        else if (value === null && !isRequired) slots.addNothing();
        else throw misfit(table, column, value);
      }
      return 0;
    },
    write: flatWrite(flatForm(column, 'DOUBLE'), dictionary, slots),
  };
}

function texts(table: string, column: LakeColumn): ColumnWriter {
  const { position, isRequired } = column;
  const dictionary = new TextDictionary();
  const slots = new Slots();
  return {
    put({ rows }) {
      let characters = 0;
      for (const row of rows) {
        const value = row[position];
        if (typeof value === 'string') {
          slots.add(dictionary.numberOf(value));
          characters += value.length;
        } else if (value === null && !isRequired) slots.addNothing();
        else throw misfit(table, column, value);
      }
      return characters;
    },
    write: flatWrite(flatForm(column, 'BYTE_ARRAY'), dictionary, slots),
  };
}

function converted(
  table: string,
  column: LakeColumn,
  { format, convert }: { readonly format: NumberFormat; readonly convert: Conversion },
): ColumnWriter {
  const { position, isRequired } = column;
  const dictionary = new NumberDictionary(format);
  const slots = new Slots();
  return {
    put({ rows }) {
      for (const row of rows) {
        const value = row[position] ?? null;
        const number = value === null ? null : convert(value);
        if (number === undefined || (number === null && isRequired)) throw misfit(table, column, value);
        if (number === null) slots.addNothing();
        else slots.add(dictionary.numberOf(number));
      }
      return 0;
    },
    write: flatWrite(flatForm(column, format), dictionary, slots),
  };
}

function lists({ name, isOrdered }: LakeColumn): ColumnWriter {
  const dictionary = new TextDictionary();
  const slots = new ListSlots();
  // Thousands of users have the same few lists, each the same array.
  const known = new Map<readonly string[], readonly number[]>();
  const form: ChunkForm = {
    type: 'BYTE_ARRAY',
    path: [name, 'list', 'element'],
    isCompressed: true,
    hasStatistics: isOrdered,
    definitionMax: 3,
    repetitionMax: 1,
  };
  return {
    put({ languages = [] }) {
      for (const list of languages) {
        const numbers = known.get(list) ?? list.map((text) => dictionary.numberOf(text));
        known.set(list, numbers);
        slots.add(numbers);
      }
      return 0;
    },
    write(out) {
      const { rows, numbers, definition, repetition } = slots;
      const chunk = writeChunk(out, form, { rows, dictionary, numbers, definition, repetition });
      known.clear();
      dictionary.clear();
      slots.clear();
      return chunk;
    },
  };
}

function flatForm({ name, isRequired, isOrdered }: LakeColumn, type: ChunkForm['type']): ChunkForm {
  return {
    type,
    path: [name],
    // Texts shrink to a half. Numbers are small already, by their dictionary: an eighth of the file, a tenth of the time.
    isCompressed: type === 'BYTE_ARRAY',
    hasStatistics: isOrdered,
    definitionMax: isRequired ? 0 : 1,
    repetitionMax: 0,
  };
}

function flatWrite(form: ChunkForm, dictionary: Dictionary, slots: Slots): ColumnWriter['write'] {
  return (out) => {
    const { rows, numbers, isThere } = slots;
    const levels = form.definitionMax === 0 ? {} : { definition: isThere };
    const chunk = writeChunk(out, form, { rows, dictionary, numbers, ...levels });
    dictionary.clear();
    slots.clear();
    return chunk;
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
