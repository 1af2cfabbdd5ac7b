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

/** A column of the Parquet files of a table. */
export interface LakeColumn {
  readonly name: string;
  readonly type: LakeType;
  /** Where its value stands in a row of the table; -1 where it stands in none. */
  readonly position: number;
  readonly isRequired: boolean;
  /** True where rows are in the order of the column, or nearly: a reader skips row groups by its smallest and largest value. */
  readonly isOrdered: boolean;
}

interface Shape {
  readonly type: LakeType;
  readonly isRequired: boolean;
  readonly isOrdered: boolean;
}

const ordered = (type: LakeType): Shape => ({ type, isRequired: true, isOrdered: true });
const required = (type: LakeType): Shape => ({ type, isRequired: true, isOrdered: false });
const optional = (type: LakeType): Shape => ({ type, isRequired: false, isOrdered: false });

/** JSON is a string: engines disagree about Parquet's JSON type, and a string is the same text for all of them. */
const SHAPES: Readonly<Record<ColumnKind, Shape>> = {
  key: ordered('string'),
  day: ordered('date'),
  text: required('string'),
  label: optional('string'),
  metric: optional('double'),
  integer: optional('integer'),
  count: required('integer'),
  flag: optional('boolean'),
  instant: ordered('timestamp'),
  moment: optional('timestamp'),
  json: optional('string'),
  record: required('string'),
};

/** The day of a unit in the ledger: '' for readiness, which no date can be. */
const UNIT_DAY: Shape = { type: 'date', isRequired: false, isOrdered: true };

/**
 * The columns of the Parquet files of a table: all of it but the organization, which is in the path. An engine that
 * finds a partition column in the file as well refuses (BigQuery) or has to choose.
 */
export function lakeColumnsOf(table: AnyTable): LakeColumn[] {
  const columns = Object.entries(table.columns).flatMap(([name, column], position) =>
    name === 'org_id' ? [] : [{ name, position, ...shapeOf(table, name, column) }],
  );
  return hasLanguages(table)
    ? [...columns, { name: 'languages', position: -1, ...optional('list') }]
    : columns;
}

/** True for the users of a day: a lake has their languages as a list too, where the warehouse has a child table. */
export function hasLanguages(table: AnyTable): boolean {
  return table.name === tables.userDaily.name;
}

function shapeOf(table: AnyTable, name: string, { kind }: Column): Shape {
  return table.role === 'ledger' && name === 'date' ? UNIT_DAY : SHAPES[kind];
}
