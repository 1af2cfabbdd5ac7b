import type { AnyTable, Column } from '../../../schema/define.ts';
import { type ColumnKind, KINDS } from '../../../schema/kinds.ts';
import { tables } from '../../../schema/tables.ts';
import type { Values } from '../../warehouse/port.ts';

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
  /** True if rows are nearly in the order of the column: its smallest and largest value let a reader skip row groups. */
  readonly isOrdered: boolean;
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

const ORDERED: ReadonlySet<ColumnKind> = new Set(['key', 'day', 'instant']);
const REPETITIVE: ReadonlySet<ColumnKind> = new Set(['key', 'text', 'label']);

/** The day of a unit in the ledger: '' for readiness, which is NULL in a lake. */
const UNIT_DAY: Shape = { type: 'date', isRequired: false, isOrdered: true, isRepetitive: false };

const LANGUAGES: Shape = { type: 'list', isRequired: false, isOrdered: false, isRepetitive: false };

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
    isOrdered: ORDERED.has(kind),
    isRepetitive: REPETITIVE.has(kind),
  };
}
