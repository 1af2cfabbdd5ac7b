import type { ColumnSource } from 'hyparquet-writer';
import type { AnyTable, Column } from '../../schema/define.ts';
import { type ColumnKind, KINDS } from '../../schema/define.ts';
import type { Value, Values } from '../../schema/row.ts';
import { tables } from '../../schema/tables.ts';
import { StorageError } from '../core/errors.ts';

/** Rows of a table in key order. */
export interface Batch {
  readonly rows: readonly Values[];
  /** For `user_daily`: the languages of each row. */
  readonly languages?: readonly (readonly string[])[];
}

/** The type of a column in a Parquet file. */
export type LakeType = 'string' | 'date' | 'timestamp' | 'double' | 'integer' | 'boolean' | 'list';

/** Properties of the values of a column. */
interface Shape {
  readonly type: LakeType;
  readonly isRequired: boolean;
  /** True if values repeat within a row group: the file then has each of them once. */
  readonly isRepetitive: boolean;
}

/** A column of the Parquet files of a table. */
export interface LakeColumn extends Shape {
  readonly name: string;
  /** Position of its value in a row of the table; -1 for a column that the table lacks. */
  readonly position: number;
}

/** JSON is a string: engines disagree about Parquet's JSON type, and all of them read the same text from a string. */
const LAKE_TYPES = {
  text: 'string',
  date: 'date',
  'double precision': 'double',
  bigint: 'integer',
  boolean: 'boolean',
  timestamptz: 'timestamp',
  jsonb: 'string',
  json: 'string',
} as const satisfies Record<(typeof KINDS)[ColumnKind]['postgres'], LakeType>;

const REPETITIVE: ReadonlySet<ColumnKind> = new Set(['key', 'text', 'label']);

/** The day of a unit in the ledger: '' for readiness, which is NULL in a lake. */
const UNIT_DAY: Shape = { type: 'date', isRequired: false, isRepetitive: false };

const LANGUAGES: Shape = { type: 'list', isRequired: false, isRepetitive: false };

/**
 * Returns the columns of the Parquet files of a table: all but the organization, which is in the path. If a partition column
 * were in the file too, an engine would refuse it (BigQuery) or have to choose.
 */
export function lakeColumnsOf(table: AnyTable): LakeColumn[] {
  const columns = Object.entries(table.columns).flatMap(([name, column], position) =>
    name === 'org_id' ? [] : [{ name, position, ...shapeOf(table, name, column) }],
  );
  return hasLanguages(table) ? [...columns, { name: 'languages', position: -1, ...LANGUAGES }] : columns;
}

/** Returns true for `user_daily`: a lake also has its child table of languages as a list in each row. */
export function hasLanguages(table: AnyTable): boolean {
  return table.name === tables.userDaily.name;
}

function shapeOf(table: AnyTable, name: string, { kind }: Column): Shape {
  if (table.role === 'ledger' && name === 'date') return UNIT_DAY;
  const { postgres, isNullable } = KINDS[kind];
  return {
    type: LAKE_TYPES[postgres],
    isRequired: !isNullable,
    isRepetitive: REPETITIVE.has(kind),
  };
}

/** Collects the values of one column for a row group. */
export interface ColumnBuffer {
  /**
   * Adds the values of the rows from `start` to before `end`. Returns how many characters their texts have; equal texts of a
   * repetitive column are kept and counted once.
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
  // Users and their lists of languages repeat: each text is held once.
  const known = isRepetitive || column.type === 'list' ? new Map<string, LakeValue>() : null;
  let data: LakeValue[] = [];
  return {
    add({ rows, languages = [] }, start, end) {
      let characters = 0;
      for (let at = start; at < end; at += 1) {
        const value = rows[at]?.[position] ?? null;
        const converted = convert === null ? (languages[at] ?? []) : value === null ? null : convert(value);
        if (converted === undefined || (converted === null && isRequired))
          throw misfitError(table, column, value);
        const text = Array.isArray(converted) ? JSON.stringify(converted) : converted;
        if (typeof text !== 'string') {
          data.push(converted);
          continue;
        }
        const same = known?.get(text);
        data.push(same ?? converted);
        if (same !== undefined) continue;
        characters += text.length;
        known?.set(text, converted);
      }
      return characters;
    },
    take() {
      const taken = data;
      data = [];
      known?.clear();
      // The library would decide by the first 1,000 rows, which do not show that the same 3,000 users occur every day.
      // An empty dictionary would be valid, but is so rare that readers may not expect it.
      const hasDictionary = isRepetitive && taken.some((value) => value !== null);
      return { ...form, ...(hasDictionary ? { encoding: 'RLE_DICTIONARY' } : {}), data: taken };
    },
  };
}

/** Smallest and largest values of texts would name people outside the columns, in the log of a Delta table too. */
const WITH_STATISTICS: ReadonlySet<LakeType> = new Set(['date', 'timestamp', 'double', 'integer']);

/** Returns true for dates and numbers: a reader finds their smallest and largest value, and skips what it does not need. */
export function hasStatistics({ type }: Pick<LakeColumn, 'type'>): boolean {
  return WITH_STATISTICS.has(type);
}

function formOf({ name, type }: LakeColumn): Omit<ColumnSource, 'data'> {
  return {
    name,
    statistics: hasStatistics({ type }),
    offsetIndex: false,
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

const DAY_MS = 24 * 60 * 60 * 1000;

/** A value as hyparquet-writer takes it: days since 1970 for a date, milliseconds since then for a timestamp. */
type LakeValue = string | number | bigint | boolean | readonly string[] | null;

/**
 * Converts a value of the warehouse to the type of its column in a lake. Returns undefined for a value that does not
 * belong in such a column, and null for the empty day of a readiness unit.
 */
type Conversion = (value: Value) => LakeValue | undefined;

/** Returns the conversion for one column; call it with the column's values in their order. */
function conversionOf(type: Exclude<LakeType, 'list'>): Conversion {
  switch (type) {
    case 'string':
      return (value) => (typeof value === 'string' ? value : undefined);
    case 'double':
      // Adding 0 turns -0 into 0: the dictionary of a column has one zero, which otherwise depends on the order of the rows.
      return (value) => (typeof value === 'number' ? value + 0 : undefined);
    case 'integer':
      return (value) => (Number.isSafeInteger(value) ? BigInt(Number(value)) : undefined);
    case 'boolean':
      return (value) => (typeof value === 'number' ? value !== 0 : undefined);
    case 'date':
      return dateConversion();
    case 'timestamp':
      return millisOf;
  }
}

/** Rows come day by day, so the next result is nearly always the same as the last one. */
function dateConversion(): Conversion {
  let last: Value = '';
  let days: number | null | undefined = null;
  return (value) => {
    if (value !== last) {
      last = value;
      days = daysOf(value);
    }
    return days;
  };
}

function daysOf(value: Value): number | null | undefined {
  if (value === '') return null;
  const millis = millisOf(`${value}T00:00:00.000Z`);
  return millis === undefined ? undefined : millis / DAY_MS;
}

function millisOf(value: Value): number | undefined {
  const millis = typeof value === 'string' ? Date.parse(value) : Number.NaN;
  return Number.isNaN(millis) ? undefined : millis;
}
