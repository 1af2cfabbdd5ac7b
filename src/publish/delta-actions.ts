import type { AnyTable } from '../../schema/define.ts';
import { isObject, parseJson } from '../core/json.ts';
import { monthColumnOf } from './lake-folder.ts';
import { type LakeType, lakeColumnsOf } from './parquet-columns.ts';
import type { PlannedPartition } from './plan-partitions.ts';
import type { ColumnRange, WrittenFile } from './write-parquet.ts';

/** Texts by name; null is a value that is absent. */
type Texts = Readonly<Record<string, string | null>>;

/** A data file that belongs to a Delta table from a version on. */
export interface AddedFile {
  /** Relative to the folder of the table. */
  readonly path: string;
  readonly partitionValues: Texts;
  readonly size: number;
  /** Milliseconds since 1970, as all times of a log. */
  readonly modificationTime: number;
  readonly dataChange: boolean;
  /** JSON: the number of rows, and the ranges of dates and numbers. */
  readonly stats: string;
  /** `signature` is that of the rows from which Daywalk has made the file. */
  readonly tags?: Texts | null;
}

/** A data file that belongs to a Delta table no longer. */
export interface RemovedFile extends Pick<AddedFile, 'path' | 'dataChange' | 'partitionValues' | 'size'> {
  readonly deletionTimestamp: number;
  readonly extendedFileMetadata: boolean;
}

/** What a Delta table is. */
export interface MetaData {
  readonly id: string;
  readonly name: string;
  readonly format: { readonly provider: string; readonly options: Texts };
  /** JSON: the columns and their types. */
  readonly schemaString: string;
  readonly partitionColumns: readonly string[];
  readonly configuration: Texts;
  readonly createdTime: number;
}

/** A line of the log of a Delta table, by the Delta transaction log protocol, without those that Daywalk neither writes nor needs. */
export type Action =
  | { readonly protocol: { readonly minReaderVersion: number; readonly minWriterVersion: number } }
  | { readonly metaData: MetaData }
  | { readonly add: AddedFile }
  | { readonly remove: RemovedFile }
  | { readonly commitInfo: { readonly timestamp: number } & Record<string, unknown> };

/** The protocol that every reader knows: no feature is needed. */
export const PROTOCOL: Action = { protocol: { minReaderVersion: 1, minWriterVersion: 2 } };

/** Returns a line of a log, or a row of a checkpoint, as an action; undefined for any other one. */
export function actionOf(value: unknown): Action | undefined {
  if (!isObject(value)) return undefined;
  for (const kind of ['commitInfo', 'add', 'remove', 'metaData', 'protocol']) {
    const body = value[kind];
    if (isObject(body))
      return isAction({ [kind]: body }) ? ({ [kind]: body } as unknown as Action) : undefined;
  }
  return undefined;
}

function isAction({ add, remove, metaData, commitInfo }: Readonly<Record<string, unknown>>): boolean {
  const file = add ?? remove;
  if (isObject(file)) return typeof file['path'] === 'string';
  if (isObject(metaData))
    return typeof metaData['schemaString'] === 'string' && typeof metaData['id'] === 'string';
  return !isObject(commitInfo) || typeof commitInfo['timestamp'] === 'number';
}

/** Returns a file of the log as text, one action per line. */
export function logText(actions: readonly Action[]): string {
  return actions.map((action) => `${JSON.stringify(action)}\n`).join('');
}

/** Parses a file of the log. */
export function parseLog(text: string): Action[] {
  return text.split('\n').flatMap((line) => actionOf(parseJson(line)) ?? []);
}

const DELTA_TYPES: Readonly<Record<LakeType, unknown>> = {
  string: 'string',
  date: 'date',
  timestamp: 'timestamp',
  double: 'double',
  integer: 'long',
  boolean: 'boolean',
  list: { type: 'array', elementType: 'string', containsNull: true },
};

/** Returns what a log says about the columns of a table: those of its files, and the partitions, which files do not have. */
export function describeColumns(table: AnyTable): Pick<MetaData, 'schemaString' | 'partitionColumns'> {
  const partitionColumns = monthColumnOf(table) === null ? ['org_id'] : ['org_id', 'month'];
  const columns = [
    ...partitionColumns.map((name) => ({ name, type: 'string' as const })),
    ...lakeColumnsOf(table),
  ];
  const fields = columns.map(({ name, type }) => ({
    ...{ name, type: DELTA_TYPES[type] },
    ...{ nullable: true, metadata: {} },
  }));
  return { schemaString: JSON.stringify({ type: 'struct', fields }), partitionColumns };
}

/** Returns the values of the partition columns. Delta has no empty one. */
export function partitionValuesOf({ table, orgId, month }: PlannedPartition): Texts {
  const org = { org_id: orgId === '' ? null : orgId };
  return monthColumnOf(table) === null ? org : { ...org, month };
}

/** The name of a partition among those of its table. */
export function partitionName({ org_id: orgId = null, month = null }: Texts): string {
  return JSON.stringify([orgId, month]);
}

/** Returns what the log says about the rows of a file, as JSON: how many there are, and the ranges of dates and numbers. */
export function statsOf(table: AnyTable, { rows, ranges }: WrittenFile): string {
  const minValues: Record<string, unknown> = {};
  const maxValues: Record<string, unknown> = {};
  const nullCount: Record<string, number> = {};
  for (const { name, type } of lakeColumnsOf(table)) {
    const range = ranges.get(name);
    if (range === undefined) continue;
    nullCount[name] = range.nulls;
    if (range.min > range.max) continue;
    minValues[name] = shown(type, range, 'min');
    maxValues[name] = shown(type, range, 'max');
  }
  return JSON.stringify({ numRecords: rows, minValues, maxValues, nullCount });
}

const DAY_MS = 24 * 60 * 60 * 1000;

function shown(type: LakeType, range: ColumnRange, end: 'min' | 'max'): string | number {
  const value = range[end];
  if (type === 'date') return new Date(value * DAY_MS).toISOString().slice(0, 10);
  return type === 'timestamp' ? new Date(value).toISOString() : value;
}

/** Returns the number of rows that the log says a file has. */
export function rowsOf({ stats }: AddedFile): number {
  const parsed = parseJson(stats ?? '');
  return isObject(parsed) ? Number(parsed['numRecords'] ?? 0) : 0;
}
