import type { AnyTable, Column, ColumnKind } from '../../../schema/define.ts';
import { tables } from '../../../schema/tables.ts';
import type { Row } from '../../warehouse/port.ts';

/** Some rows of a table, in key order. */
export interface Batch {
  readonly rows: readonly Row[];
  /** For users of a day: the list of each row's languages. */
  readonly languages?: readonly (readonly string[])[];
}

/** What a column of a Parquet file holds. */
export type LakeType = 'string' | 'date' | 'timestamp' | 'double' | 'integer' | 'boolean' | 'list';

/** What kind of values a column of a Parquet file has. */
interface Shape {
  readonly type: LakeType;
  readonly isRequired: boolean;
  /** True where rows are in the order of the column, or nearly: its bounds let a reader skip row groups. */
  readonly isOrdered: boolean;
  /** True where values come again within a row group: the file has each of them once. */
  readonly isRepetitive: boolean;
}

/** A column of the Parquet files of a table. */
export interface LakeColumn extends Shape {
  readonly name: string;
  /** Where its value stands in a row of the table; -1 where it stands in none. */
  readonly position: number;
}

const shape = (type: LakeType, traits: Partial<Shape> = {}): Shape => ({
  type,
  isRequired: false,
  isOrdered: false,
  isRepetitive: false,
  ...traits,
});

/** JSON is a string: engines disagree about Parquet's JSON type, and a string is the same text for all of them. */
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

/** The day of a unit in the ledger: '' for readiness, which no date can be. */
const UNIT_DAY = shape('date', { isOrdered: true });

/**
 * The columns of the Parquet files of a table: all of it but the organization, which is in the path. An engine that
 * finds a partition column in the file as well refuses (BigQuery) or has to choose.
 */
export function lakeColumnsOf(table: AnyTable): LakeColumn[] {
  const columns = Object.entries(table.columns).flatMap(([name, column], position) =>
    name === 'org_id' ? [] : [{ name, position, ...shapeOf(table, name, column) }],
  );
  return hasLanguages(table) ? [...columns, { name: 'languages', position: -1, ...shape('list') }] : columns;
}

/** True for the users of a day: a lake has their languages as a list too, where the warehouse has a child table. */
export function hasLanguages(table: AnyTable): boolean {
  return table.name === tables.userDaily.name;
}

function shapeOf(table: AnyTable, name: string, { kind }: Column): Shape {
  return table.role === 'ledger' && name === 'date' ? UNIT_DAY : SHAPES[kind];
}
