import { type FileHandle, open } from 'node:fs/promises';
import { asyncBufferFromFile, parquetReadObjects } from 'hyparquet';
import { ParquetWriter, type SchemaElement } from 'hyparquet-writer';
import { isObject } from '../core/json.ts';
import { type Action, type AddedFile, actionOf, type RemovedFile } from './delta-actions.ts';
import { FileSink } from './write-parquet.ts';

/**
 * Writes actions as a checkpoint of a Delta table and syncs it: a Parquet file with one row per action, of which the column of
 * its kind is set.
 * @throws {Error} of the file system.
 */
export async function writeCheckpoint(path: string, actions: readonly Action[]): Promise<void> {
  const file: FileHandle = await open(path, 'wx');
  try {
    const writer = new ParquetWriter({ writer: new FileSink(file), schema: SCHEMA, statistics: false });
    const columnData = KINDS.map((name) => ({
      ...{ name, offsetIndex: false },
      data: actions.map((action) => (name in action ? wide(Object.entries(action)[0]?.[1]) : null)),
    }));
    await writer.write({ columnData, rowGroupSize: Math.max(1, actions.length) });
    await writer.finish();
    await file.sync();
  } finally {
    await file.close();
  }
}

/**
 * Reads the actions of a checkpoint.
 * @throws {Error} of the file system, or if it is not such a file.
 */
export async function readCheckpoint(path: string): Promise<Action[]> {
  const rows = await parquetReadObjects({ file: await asyncBufferFromFile(path) });
  return rows.flatMap((row) => actionOf(narrow(row)) ?? []);
}

/** The library takes 64-bit numbers as `bigint`. */
function wide(action: unknown): unknown {
  if (!isObject(action)) return null;
  return Object.fromEntries(
    Object.entries(action).map(([name, value]) => [
      name,
      LONGS.has(name) && typeof value === 'number' ? BigInt(value) : isObject(value) ? wide(value) : value,
    ]),
  );
}

function narrow(value: unknown): unknown {
  if (typeof value === 'bigint') return Number(value);
  if (Array.isArray(value) || !isObject(value)) return value;
  return Object.fromEntries(Object.entries(value).map(([name, inner]) => [name, narrow(inner)]));
}

const KINDS = ['protocol', 'metaData', 'add', 'remove'] as const;

type Field = readonly SchemaElement[];

function leaf(name: string, type: 'INT32' | 'INT64' | 'BOOLEAN'): Field {
  return [{ name, type, repetition_type: 'OPTIONAL' }];
}

function text(name: string, repetition: 'OPTIONAL' | 'REQUIRED' = 'OPTIONAL'): Field {
  return [{ name, repetition_type: repetition, type: 'BYTE_ARRAY', converted_type: 'UTF8' }];
}

function group(name: string, fields: readonly Field[], rest: Partial<SchemaElement> = {}): Field {
  return [{ name, repetition_type: 'OPTIONAL', num_children: fields.length, ...rest }, ...fields.flat()];
}

function mapOf(name: string): Field {
  const pair = group('key_value', [text('key', 'REQUIRED'), text('value')], { repetition_type: 'REPEATED' });
  return group(name, [pair], { converted_type: 'MAP' });
}

function listOf(name: string): Field {
  return group(name, [group('list', [text('element')], { repetition_type: 'REPEATED' })], {
    converted_type: 'LIST',
  });
}

/** The names of 64-bit fields in the actions. */
const LONGS: ReadonlySet<string> = new Set<keyof AddedFile | keyof RemovedFile | 'createdTime'>([
  'createdTime',
  'size',
  'modificationTime',
  'deletionTimestamp',
]);

const SCHEMA: SchemaElement[] = [
  { name: 'root', num_children: KINDS.length },
  ...group('protocol', [leaf('minReaderVersion', 'INT32'), leaf('minWriterVersion', 'INT32')]),
  ...group('metaData', [
    ...[text('id'), text('name'), group('format', [text('provider'), mapOf('options')])],
    ...[text('schemaString'), listOf('partitionColumns'), mapOf('configuration')],
    leaf('createdTime', 'INT64'),
  ]),
  ...group('add', [
    ...[text('path'), mapOf('partitionValues'), leaf('size', 'INT64'), leaf('modificationTime', 'INT64')],
    ...[leaf('dataChange', 'BOOLEAN'), text('stats'), mapOf('tags')],
  ]),
  ...group('remove', [
    ...[text('path'), leaf('deletionTimestamp', 'INT64'), leaf('dataChange', 'BOOLEAN')],
    ...[leaf('extendedFileMetadata', 'BOOLEAN'), mapOf('partitionValues'), leaf('size', 'INT64')],
  ]),
];
