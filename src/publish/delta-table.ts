import { existsSync } from 'node:fs';
import { type FileHandle, link, mkdir, open, readdir, readFile, rename, rm, stat } from 'node:fs/promises';
import { dirname, join } from 'node:path';
import { asyncBufferFromFile, parquetReadObjects } from 'hyparquet';
import { ParquetWriter, type SchemaElement } from 'hyparquet-writer';
import { BusyError, StorageError } from '../core/errors.ts';
import { hasCode, removeBelow, syncPath } from '../core/files.ts';
import { isObject } from '../core/json.ts';
import {
  type Action,
  type AddedFile,
  actionOf,
  logText,
  type MetaData,
  PROTOCOL,
  parseLog,
  type RemovedFile,
} from './delta-actions.ts';
import { FileSink } from './write-parquet.ts';

/** The folder of the log in the folder of a table. */
export const LOG_FOLDER = '_delta_log';

/** After so many commits a checkpoint is due: a reader then opens one file instead of all before it. */
const COMMITS_BETWEEN_CHECKPOINTS = 10;

const LAST_CHECKPOINT = '_last_checkpoint';
const LOG_FILE = /^(\d{20})\.json$/;
const CHECKPOINT_FILE = /^(\d{20})\.checkpoint\.parquet$/;

/** A Delta table as its log has it. Daywalk alone writes it, under the lock of the lake. */
export class DeltaTable {
  readonly folder: string;
  /** The newest version; -1 if there is none. */
  version = -1;
  metaData: MetaData | null = null;
  /** The files of the newest version by path. */
  readonly files = new Map<string, AddedFile>();
  /** Files of earlier versions by path, which readers of those may still read. */
  readonly removed = new Map<string, RemovedFile>();
  /** The version of the newest checkpoint. */
  #checkpoint: number | null = null;
  /** The file that is being written, outside the folders of the tables. */
  readonly #part: string;
  readonly #changedFolders = new Set<string>();

  private constructor(folder: string, part: string) {
    this.folder = folder;
    this.#part = part;
  }

  /**
   * Reads the log of a table; there may be none.
   * @throws {StorageError} if it has a gap.
   */
  static async read(folder: string, part: string): Promise<DeltaTable> {
    const table = new DeltaTable(folder, part);
    const names = await namesIn(table.#log());
    const checkpoint = Math.max(...versionsOf(names, CHECKPOINT_FILE), -1);
    if (checkpoint >= 0) {
      table.#apply(await readCheckpoint(table.#log(`${numbered(checkpoint)}.checkpoint.parquet`)));
      table.version = checkpoint;
      table.#checkpoint = checkpoint;
    }
    for (const version of versionsOf(names, LOG_FILE).filter((each) => each > checkpoint)) {
      if (version !== table.version + 1)
        throw new StorageError(`read the log of ${folder}: version ${table.version + 1} is missing`, {
          hint: 'another program has changed the folder: restore it, or remove it and publish again',
        });
      table.#apply(parseLog(await readFile(table.#log(`${numbered(version)}.json`), 'utf8')));
      table.version = version;
    }
    return table;
  }

  /** Gives the written file its name in the folder of the table. Returns the path for the log; no version has it yet. */
  async place(path: string): Promise<string> {
    const target = join(this.folder, path);
    await mkdir(dirname(target), { recursive: true });
    await rename(this.#part, target);
    for (let folder = dirname(path); folder !== '.'; folder = dirname(folder))
      this.#changedFolders.add(join(this.folder, folder));
    return encodeURI(path);
  }

  /**
   * Makes the next version visible by one file, which is created only if there is none.
   * @throws {BusyError} if another program has made this version.
   */
  async commit(actions: readonly Action[]): Promise<void> {
    const version = this.version + 1;
    await mkdir(this.#log(), { recursive: true });
    // What the log will name must be there after a power loss.
    for (const folder of [...this.#changedFolders, this.folder, dirname(this.folder)]) syncPath(folder);
    this.#changedFolders.clear();
    await this.#write(logText(version === 0 ? [PROTOCOL, ...actions] : actions));
    await this.#placeNew(this.#log(`${numbered(version)}.json`));
    this.#apply(actions);
    this.version = version;
  }

  /** Writes a checkpoint of the newest version, if one is due. Files that were removed until an instant are left out. */
  async checkpoint(until: number, { isDue = this.#isCheckpointDue() } = {}): Promise<void> {
    if (!isDue || this.metaData === null || this.#checkpoint === this.version) return;
    const actions: Action[] = [
      ...[PROTOCOL, { metaData: this.metaData }],
      ...[...this.files.values()].map((add) => ({ add })),
      ...[...this.removed.values()].filter(isAfter(until)).map((remove) => ({ remove })),
    ];
    await rm(this.#part, { force: true });
    await writeCheckpoint(this.#part, actions);
    await this.#place(this.#log(`${numbered(this.version)}.checkpoint.parquet`));
    await this.#write(JSON.stringify({ version: this.version, size: actions.length }));
    await this.#place(this.#log(LAST_CHECKPOINT));
    this.#checkpoint = this.version;
  }

  /**
   * Removes data files that no version needs that was the newest one after an instant, also those that a killed publish has left,
   * and the log before the last checkpoint of that time.
   */
  async sweep(until: number): Promise<void> {
    const kept = [...this.removed.values()].filter(isAfter(until)).map(({ path }) => path);
    const needed = new Set([...this.files.keys(), ...kept].map(decodeURIComponent));
    const log = await namesIn(this.#log());
    const base = await this.#lastCheckpoint(log, until);
    for (const path of await dataFilesIn(this.folder))
      if (!needed.has(path)) await removeBelow(this.folder, path);
    for (const name of log)
      if (versionOf(name, /^(\d{20})\./) < base) await rm(this.#log(name), { force: true });
  }

  /** Returns true if the folder has a file as the log describes it. */
  async has({ path, size }: Pick<AddedFile, 'path' | 'size'>): Promise<boolean> {
    const found = await stat(join(this.folder, decodeURIComponent(path))).catch(absent);
    return found?.size === size;
  }

  #isCheckpointDue(): boolean {
    return this.version - (this.#checkpoint ?? 0) >= COMMITS_BETWEEN_CHECKPOINTS;
  }

  /** The newest checkpoint of a version that was committed until an instant; 0 if there is none. */
  async #lastCheckpoint(names: readonly string[], until: number): Promise<number> {
    for (const version of versionsOf(names, CHECKPOINT_FILE).toReversed()) {
      const path = this.#log(`${numbered(version)}.json`);
      const actions = parseLog((await readFile(path, 'utf8').catch(absent)) ?? '');
      const info = actions.find((each) => 'commitInfo' in each);
      if (info === undefined || info.commitInfo.timestamp <= until) return version;
    }
    return 0;
  }

  #apply(actions: readonly Action[]): void {
    for (const action of actions) {
      if ('metaData' in action) this.metaData = action.metaData;
      if ('add' in action) {
        this.files.set(action.add.path, action.add);
        this.removed.delete(action.add.path);
      }
      if ('remove' in action) {
        this.files.delete(action.remove.path);
        this.removed.set(action.remove.path, action.remove);
      }
    }
  }

  async #write(text: string): Promise<void> {
    // It may be another name of a file in the log, if a publish was killed between two steps.
    await rm(this.#part, { force: true });
    const file = await open(this.#part, 'wx');
    try {
      await file.writeFile(text);
      await file.sync();
    } finally {
      await file.close();
    }
  }

  async #place(path: string): Promise<void> {
    await rename(this.#part, path);
    syncPath(this.#log());
  }

  /** Gives the written file its name, at once and only if no file has it. */
  async #placeNew(path: string): Promise<void> {
    try {
      await link(this.#part, path);
      await rm(this.#part, { force: true });
      syncPath(this.#log());
    } catch (error) {
      if (hasCode(error, 'EEXIST') || existsSync(path))
        throw new BusyError(
          `publish to ${this.folder}: another program has made version ${this.version + 1}`,
          {
            cause: error,
            hint: 'let only daywalk write this table, then run again',
          },
        );
      // A file system without links.
      if (!hasCode(error, 'EPERM', 'ENOTSUP', 'EOPNOTSUPP', 'ENOSYS', 'EMLINK')) throw error;
      await this.#place(path);
    }
  }

  #log(name = ''): string {
    return join(this.folder, LOG_FOLDER, name);
  }
}

function isAfter(until: number): (file: RemovedFile) => boolean {
  return ({ deletionTimestamp }) => deletionTimestamp > until;
}

function absent(error: unknown): null {
  if (hasCode(error, 'ENOENT', 'ENOTDIR')) return null;
  throw error;
}

async function namesIn(folder: string): Promise<string[]> {
  return ((await readdir(folder).catch(absent)) ?? []).toSorted();
}

/** Other programs may have written data files in folders of their own. Links are not followed. */
async function dataFilesIn(folder: string): Promise<string[]> {
  const paths = (await readdir(folder, { recursive: true }).catch(absent)) ?? [];
  return paths.filter((path) => path.endsWith('.parquet') && !path.startsWith(`${LOG_FOLDER}/`));
}

function numbered(version: number): string {
  return String(version).padStart(20, '0');
}

function versionOf(name: string, pattern: RegExp): number {
  return Number(pattern.exec(name)?.[1] ?? Number.NaN);
}

function versionsOf(names: readonly string[], pattern: RegExp): number[] {
  return names.map((name) => versionOf(name, pattern)).filter((version) => !Number.isNaN(version));
}

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
