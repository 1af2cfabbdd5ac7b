import type { AnyTable, Column, ColumnKind } from '../../../schema/define.ts';
import { tables } from '../../../schema/tables.ts';
import type { Row } from '../../warehouse/port.ts';

/** Rows of a table in key order. */
export interface Batch {
  readonly rows: readonly Row[];
  /** For `user_daily`: the languages of each row. */
  readonly languages?: readonly (readonly string[])[];
}

/** What a column of a Parquet file holds. */
export type LakeType = 'string' | 'date' | 'timestamp' | 'double' | 'integer' | 'boolean' | 'list';

/** What kind of values a column of a Parquet file holds. */
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

const shape = (type: LakeType, traits: Partial<Shape> = {}): Shape => ({
  type,
  isRequired: false,
  isOrdered: false,
  isRepetitive: false,
  ...traits,
});

/** JSON is a string: engines disagree about Parquet's JSON type, and all of them read the same text from a string. */
const SHAPES: Readonly<Record<ColumnKind, Shape>> = {
  key: shape('string', { isRequired: true, isOrdered: true, isRepetitive: true }),
  day: shape('date', { isRequired: true, isOrdered: true }),
  text: shape('string', { isRequired: true, isRepetitive: true }),
  label: shape('string', { isRepetitive: true }),
  metric: shape('double'),
  integer: shape('integer'),
  count: shape('integer', { isRequired: true }),
  flag: shape('boolean'),
  instant: shape('timestamp', { isRequired: true, isOrdered: true }),
  moment: shape('timestamp'),
  json: shape('string'),
  record: shape('string', { isRequired: true }),
};

/** The day of a unit in the ledger: '' for readiness, which is NULL in a lake. */
const UNIT_DAY = shape('date', { isOrdered: true });

/**
 * Returns the columns of the Parquet files of a table: all but the organization, which is in the path. If a partition column
 * were in the file too, an engine would refuse it (BigQuery) or have to choose.
 */
export function lakeColumnsOf(table: AnyTable): LakeColumn[] {
  const columns = Object.entries(table.columns).flatMap(([name, column], position) =>
    name === 'org_id' ? [] : [{ name, position, ...shapeOf(table, name, column) }],
  );
  return hasLanguages(table) ? [...columns, { name: 'languages', position: -1, ...shape('list') }] : columns;
}

/** Returns true for `user_daily`: a lake also has its child table of languages as a list in each row. */
export function hasLanguages(table: AnyTable): boolean {
  return table.name === tables.userDaily.name;
}

function shapeOf(table: AnyTable, name: string, { kind }: Column): Shape {
  return table.role === 'ledger' && name === 'date' ? UNIT_DAY : SHAPES[kind];
}
