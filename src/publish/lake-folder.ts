import { mkdir, open, readdir, readFile, rename, stat } from 'node:fs/promises';
import { join } from 'node:path';
import type { AnyTable } from '../../schema/define.ts';
import { BusyError, DaywalkError, messageOf, StorageError, UsageError } from '../core/errors.ts';
import { hasCode, syncPath } from '../core/files.ts';
import { isObject, parseJson } from '../core/json.ts';
import { type FileLock, tryFileLock } from '../core/sqlite-files.ts';

/** Names that a folder may hold and still count as empty: Daywalk's own files, hidden files, and those of a new disk. */
const IN_EMPTY_FOLDER = /^(_daywalk\..*|\..*|lost\+found)$/;

const FOLDER_MODE = 0o700;

const LOCK_FILE = '_daywalk.lock';
/** The file that is being written. It is outside the folders of the tables, so that no reader finds it. */
export const PART_FILE = '_daywalk.part';

/**
 * Creates the folder of a lake if it is missing, and locks it. `isOurs` says whether a folder that is not empty is such a lake.
 * @throws {UsageError} when it holds something else, or is not a folder.
 * @throws {BusyError} when another publish works on it.
 */
export async function lockFolder(directory: string, isOurs: () => Promise<boolean>): Promise<FileLock> {
  await makeFolder(directory);
  if (!(await isOurs())) await expectEmpty(directory);
  const lock = tryFileLock(join(directory, LOCK_FILE));
  if (lock !== null) return lock;
  throw new BusyError(`another publish works on ${directory}`, {
    hint: 'wait for it to end, then run again',
  });
}

async function makeFolder(directory: string): Promise<void> {
  try {
    // A lake names people: other users may read it only after its owner has opened the folder to them.
    await mkdir(directory, { recursive: true, mode: FOLDER_MODE });
  } catch (error) {
    if (!hasCode(error, 'EEXIST', 'ENOTDIR')) throw error;
    throw new UsageError(`${directory} is not a folder`, {
      cause: error,
      hint: 'name a folder; it is created if it does not exist',
      reason: 'lake-not-a-folder',
    });
  }
}

async function expectEmpty(directory: string): Promise<void> {
  const foreign = (await readdir(directory)).find((name) => !IN_EMPTY_FOLDER.test(name));
  if (foreign === undefined) return;
  throw new UsageError(`${directory} is not a lake of daywalk: it holds ${foreign}`, {
    hint: 'name a new or an empty folder',
    reason: 'lake-folder-taken',
  });
}

/** Reads the manifest of a lake; returns undefined if there is none. */
export async function readManifest(directory: string): Promise<Manifest | undefined> {
  const path = join(directory, MANIFEST_FILE);
  try {
    return parseManifest(await readFile(path, 'utf8'), path);
  } catch (error) {
    if (hasCode(error, 'ENOENT')) return undefined;
    throw error;
  }
}

/** Replaces the manifest of a lake, see {@link replaceIn}. */
export async function writeManifest(directory: string, manifest: Manifest): Promise<void> {
  await replaceIn(directory, MANIFEST_FILE, manifestText(manifest));
}

/** Replaces a file in a lake durably: after a power loss the folder has this one or the one before. */
export async function replaceIn(directory: string, name: string, text: string): Promise<void> {
  const part = join(directory, `${MANIFEST_FILE}.part`);
  const file = await open(part, 'w');
  try {
    await file.writeFile(text);
    await file.sync();
  } finally {
    await file.close();
  }
  await rename(part, join(directory, name));
  syncPath(directory);
}

/** Runs work on a path. Turns errors of the file system and of the lock into a {@link StorageError} with path and remedy. */
export async function explained<Result>(path: string, work: () => Promise<Result>): Promise<Result> {
  try {
    return await work();
  } catch (error) {
    if (!isOfStorage(error)) throw error;
    throw new StorageError(`publish to ${path}: ${messageOf(error)}`, {
      cause: error,
      hint: hasCode(error, 'ENOSPC', 'EDQUOT', 'EFBIG')
        ? 'free space there, then run again: every file is complete, and the rest follows'
        : 'give this user the right to write the folder and everything in it, then run again',
    });
  }
}

/** Returns true for errors of the file system and of SQLite, which makes the lock. */
function isOfStorage(error: unknown): boolean {
  if (error instanceof DaywalkError || !(error instanceof Error) || !('code' in error)) return false;
  return 'syscall' in error || String(error.code).startsWith('SQLITE_');
}

/** The file in which a lake lists what it holds. Readers ignore names that begin with an underscore. */
export const MANIFEST_FILE = '_daywalk.json';

const FORMAT = 'daywalk lake';
/** The version of the files that name their format. */
export const VERSION = 1;

/** What the manifest says about a partition. */
export interface PartitionFacts {
  /** The signature of the rows from which it was made. If it is equal, there is nothing to do. */
  readonly signature: string;
  readonly rows: number;
  /** Size of its file; 0 if there is none because there are no rows. */
  readonly bytes: number;
  readonly sha256: string;
}

/** The partitions of a lake by the path of their file. */
export type Manifest = ReadonlyMap<string, PartitionFacts>;

/** Returns a manifest as JSON text. */
function manifestText(partitions: Manifest): string {
  const sorted = [...partitions].toSorted(([a], [b]) => (a < b ? -1 : 1));
  return `${JSON.stringify({ format: FORMAT, version: VERSION, partitions: Object.fromEntries(sorted) }, null, 1)}\n`;
}

/** Parses a manifest. A damaged one counts as empty, so that everything is written again. */
function parseManifest(text: string, path: string): Manifest {
  const partitions = parseOwn(text, path, FORMAT)?.['partitions'];
  return new Map(isObject(partitions) ? Object.entries(partitions).filter(isPartition) : []);
}

/**
 * Parses a file of a lake that names its format. Returns undefined for a damaged one.
 * @throws {UsageError} when it belongs to something else, or to a newer version.
 */
export function parseOwn(text: string, path: string, format: string): Record<string, unknown> | undefined {
  const document = parseJson(text);
  if (document === undefined) return undefined;
  if (!isObject(document) || document['format'] !== format) {
    throw new UsageError(`${path} is not that of a ${format}`, {
      hint: 'name a new folder',
      reason: 'lake-is-foreign',
    });
  }
  const { version } = document;
  if (typeof version === 'number' && version <= VERSION) return document;
  throw new UsageError(`${path} was written by a newer version of daywalk`, {
    hint: 'update daywalk, or name a new folder',
    reason: 'lake-is-newer',
  });
}

// Another program may have changed the manifest. A path that is not that of a partition must never be opened or removed.
function isPartition(entry: [string, unknown]): entry is [string, PartitionFacts] {
  const [path, facts] = entry;
  return (
    tableNameOf(path) !== undefined &&
    isObject(facts) &&
    typeof facts['signature'] === 'string' &&
    typeof facts['rows'] === 'number' &&
    typeof facts['bytes'] === 'number' &&
    typeof facts['sha256'] === 'string'
  );
}

/** Names of the folders in the path of a partition: the table, then columns with their values. */
const TABLE_FOLDER = /^[a-z][a-z0-9_]*$/;
const COLUMN_FOLDER = /^(org_id|month)=/;
/** The most folders in the path of a partition: table, organization, month. */
const DEPTH_MAX = 3;

/** Finds every file in a lake whose path is that of a partition, with its size. Other programs may have written some of them. */
export async function partitionFiles(lake: string): Promise<Map<string, number>> {
  const files = new Map<string, number>();
  const walk = async (folder: string, depth: number): Promise<void> => {
    for (const entry of await readdir(join(lake, folder), { withFileTypes: true })) {
      const path = folder === '' ? entry.name : `${folder}/${entry.name}`;
      const pattern = depth === 0 ? TABLE_FOLDER : COLUMN_FOLDER;
      // Links are not followed: what they lead to is not part of the lake.
      if (entry.isDirectory() && depth < DEPTH_MAX && pattern.test(entry.name)) await walk(path, depth + 1);
      else if (entry.isFile() && tableNameOf(path) !== undefined) {
        files.set(path, (await stat(join(lake, path))).size);
      }
    }
  };
  await walk('', 0);
  return files;
}

/** The most bytes of a file name, on every file system in use. */
const FILE_NAME_BYTES_MAX = 255;

/** Hive's name for a partition without a value; readers return NULL for it. */
const NO_VALUE = '__HIVE_DEFAULT_PARTITION__';

/** A partition is one file, so that one rename replaces it. */
const DATA_FILE = 'data.parquet';

/** The path of a partition's file in a lake: a table, its organization, and its month where it has months. */
const PATH = /^([a-z][a-z0-9_]*)\/org_id=[^/\0]+(\/month=[^/\0]+)?\/data\.parquet$/;

/** A partition of a table. */
interface Partition {
  readonly table: AnyTable;
  /** Null or '' if the organization is not known. */
  readonly orgId: string | null;
  /** `YYYY-MM`, or null if no row has one; ignored for tables without months. */
  readonly month: string | null;
}

/** Returns the column whose month partitions a table, besides the organization; null for tables that change as a whole. */
export function monthColumnOf({ role, columns }: AnyTable): string | null {
  if (role === 'fact') return 'date';
  if (role !== 'event') return null;
  return Object.keys(columns).find((name) => columns[name]?.kind === 'instant') ?? null;
}

/**
 * Returns the path of the file of a partition, relative to the lake.
 * @throws {UsageError} for an organization whose ID is too long for a folder.
 */
export function pathOf({ table, orgId, month }: Partition): string {
  const folders = [table.name, folderOf('org_id', orgId)];
  if (monthColumnOf(table) !== null) folders.push(folderOf('month', month));
  return [...folders, DATA_FILE].join('/');
}

/** Returns the table of the path of a partition; undefined for any other path. */
export function tableNameOf(path: string): string | undefined {
  return PATH.exec(path)?.[1];
}

function folderOf(column: string, value: string | null): string {
  const name = `${column}=${value === null || value === '' ? NO_VALUE : escaped(value)}`;
  if (Buffer.byteLength(name) <= FILE_NAME_BYTES_MAX) return name;
  throw new UsageError(
    `publish organization ${value?.slice(0, 40)}…: its folder would have a name of ${Buffer.byteLength(name)} bytes`,
    {
      hint: `no file system allows names of more than ${FILE_NAME_BYTES_MAX} bytes; read the warehouse itself`,
    },
  );
}

/**
 * Escapes a value as Hive does, so that readers get it back: ASCII characters that are not plain become a percent sign and
 * their code. Other characters stay as they are, because Spark and Hive decode each escape to one character.
 */
function escaped(value: string): string {
  // Readers take these two words for NULL.
  const isWord = value === NO_VALUE || /^null$/i.test(value);
  const text = value.replace(/[^A-Za-z0-9_.\u0080-\u{10FFFF}-]/gu, escapeOf);
  return isWord ? escapeOf(text.slice(0, 1)) + text.slice(1) : text;
}

function escapeOf(character: string): string {
  return `%${character.charCodeAt(0).toString(16).toUpperCase().padStart(2, '0')}`;
}

/** Finds two paths that are the same for a file system that ignores case; returns undefined if there are none. */
export function sameButForCase(paths: Iterable<string>): readonly [string, string] | undefined {
  const known = new Map<string, string>();
  for (const path of paths) {
    const folded = path.normalize('NFC').toLowerCase();
    const other = known.get(folded);
    if (other !== undefined) return [other, path];
    known.set(folded, path);
  }
  return undefined;
}
