import {
  chmodSync,
  closeSync,
  existsSync,
  openSync,
  readdirSync,
  readSync,
  realpathSync,
  renameSync,
  rmSync,
  statSync,
} from 'node:fs';
import { basename, dirname, join } from 'node:path';
import { savedArchives } from '../archive/index.ts';
import { BusyError, DaywalkError, messageOf, StorageError, UsageError } from '../core/errors.ts';
import { syncPath } from '../core/files.ts';
import { createPrivately, storageError, tryFileLock } from '../core/sqlite-files.ts';

/** What a file is, so that one kind never replaces another, or a warehouse. */
export interface FileKind {
  /** What messages call it. */
  readonly noun: string;
  /** A file keeps the mode of the one that it replaces, so that readers may go on. Otherwise only its owner may read it. */
  readonly keepsMode: boolean;
  /** True if a file is one of this kind. */
  isOne(path: string): boolean | Promise<boolean>;
}

/** The application ID of a warehouse ("DWLK"). */
const WAREHOUSE_ID = 0x44574c4b;
/** The user versions of files that are made from a warehouse. One in use never has them. */
export const COPY_MARK = 0x434f5059;
export const BACKUP_MARK = 0x4241434b;

/** A copy for readers. */
export const PUBLISHED_COPY: FileKind = {
  noun: 'published copy of a warehouse',
  keepsMode: true,
  isOne: (path) => hasMark(path, COPY_MARK),
};

export const BACKUP: FileKind = {
  noun: 'backup of a warehouse',
  keepsMode: false,
  isOne: (path) => hasMark(path, BACKUP_MARK),
};

const ARCHIVE_BACKUP: FileKind = {
  noun: 'backup of an archive',
  keepsMode: false,
  isOne: async (path) =>
    statSync(path).isFile() && (await (await savedArchives()).backupOfArchive(path)) !== null,
};

/** Where to put a file. */
export interface Place {
  readonly path: string;
  readonly kind: FileKind;
  /** What the file is made from, such as the path of the warehouse; null if that is no file. */
  readonly source: string | null;
  /** The file to lock, so that one process writes at a time. @default one beside the path */
  readonly lock?: string | undefined;
  /** Notes the path once it was found to be free, and before anything is written there. @default not noted */
  readonly begins?: (path: string) => Promise<void>;
}

/** A file that was put in place. */
export interface PlacedFile {
  readonly path: string;
  readonly bytes: number;
}

/**
 * Has a SQLite file written under a temporary name, and puts it in place at once and durably: readers see the old file or the new
 * one. The file is readable for its owner only; a published copy also for those who could read the file that it replaces.
 * @param write fills the file at a path, where there is an empty one.
 * @throws {UsageError} if the path holds something other than an earlier file of this kind.
 * @throws {BusyError} while another process writes there.
 */
export async function putFile(place: Place, write: (part: string) => Promise<void>): Promise<PlacedFile> {
  const { path, kind } = place;
  try {
    const before = statSync(path, { throwIfNoEntry: false });
    const target = before === undefined ? path : realpathSync(path);
    if (before !== undefined) await expectReplaceable(target, place);
    const lock = tryFileLock(place.lock ?? `${hiddenOf(target)}.lock`);
    if (lock === null)
      throw new BusyError(`another process writes ${target}`, { hint: 'wait for it to end, then run again' });
    try {
      if (place.lock !== undefined) removeParts(dirname(place.lock));
      await place.begins?.(path);
      return await writeUnderLock(target, write, kind.keepsMode ? before?.mode : undefined);
    } finally {
      lock.release();
    }
  } catch (error) {
    throw explain(error, `write the ${kind.noun} to`, path);
  }
}

function hiddenOf(target: string): string {
  return join(dirname(target), `.${basename(target)}`);
}

async function writeUnderLock(
  target: string,
  write: (part: string) => Promise<void>,
  mode: number | undefined,
): Promise<PlacedFile> {
  const part = `${hiddenOf(target)}.part.db`;
  remove(part);
  try {
    createPrivately(part);
    await write(part);
    if (mode !== undefined) chmodSync(part, mode & 0o777);
    syncPath(part);
    const { size } = statSync(part);
    renameSync(part, target);
    syncPath(dirname(target));
    return { path: target, bytes: size };
  } finally {
    remove(part);
  }
}

/** What a backup into a folder is called until it is in place, and what may lie beside it. */
const DATED_PART = /^\.daywalk-\d{8}T\d{6}Z(\.archive)?\.db\.part\.db/;

/** Removes what backups that were killed have left in a folder: it names people. Nobody else writes there under its lock. */
function removeParts(folder: string): void {
  for (const name of readdirSync(folder)) if (DATED_PART.test(name)) rmSync(join(folder, name));
}

function remove(part: string): void {
  for (const side of ['', '-journal', '-wal', '-shm', '.lock']) rmSync(`${part}${side}`, { force: true });
}

function explain(error: unknown, doing: string, path: string): unknown {
  // Nobody knows the temporary name.
  const isOfPart = error instanceof StorageError && error.message.includes('.part');
  const known = storageError(isOfPart ? (error.cause ?? error) : error, doing, path);
  if (known instanceof DaywalkError || !(error instanceof Error) || !('code' in error)) return known;
  return new StorageError(`${doing} ${path}: ${messageOf(error)}`, {
    cause: error,
    hint: 'free space there, and give this user the right to write the file and its folder',
  });
}

/** @throws {UsageError} that says what the file is, unless it is an earlier one that no program writes to. */
async function expectReplaceable(path: string, { kind, source }: Place): Promise<void> {
  if (source !== null && existsSync(source) && isSameFile(path, source))
    throw new UsageError(`${path} is ${source} itself`, { hint: 'name another file' });
  if (!(await kind.isOne(path)))
    throw new UsageError(`${path} is not a ${kind.noun}`, {
      hint: 'name a new file, or remove this one first',
    });
  // SQLite would treat it as the log of the new file.
  const log = [`${path}-wal`, `${path}-journal`].find((side) => existsSync(side));
  if (log !== undefined)
    throw new UsageError(`another program writes to ${path}: there is ${log}`, {
      hint: 'close it in that program; after a crash, remove the file and this log',
    });
}

function isSameFile(a: string, b: string): boolean {
  const [one, other] = [statSync(a), statSync(b)];
  return one.dev === other.dev && one.ino === other.ino;
}

/** Offsets in a SQLite file, see "The Database Header" in SQLite's file format. */
const HEADER_BYTES = 100;
const MAGIC = 'SQLite format 3\0';
const USER_VERSION_AT = 60;
const APPLICATION_ID_AT = 68;

function hasMark(path: string, mark: number): boolean {
  if (!statSync(path).isFile()) return false;
  const header = Buffer.alloc(HEADER_BYTES);
  const file = openSync(path, 'r');
  try {
    readSync(file, header, 0, HEADER_BYTES, 0);
  } finally {
    closeSync(file);
  }
  return (
    header.toString('latin1', 0, MAGIC.length) === MAGIC &&
    header.readUInt32BE(USER_VERSION_AT) === mark &&
    header.readUInt32BE(APPLICATION_ID_AT) === WAREHOUSE_ID
  );
}

/** Has the backup of an archive written, see {@link putFile}. */
export function putArchive(
  path: string,
  lock: string | undefined,
  write: (part: string) => Promise<void>,
): Promise<PlacedFile> {
  return putFile({ path, kind: ARCHIVE_BACKUP, source: null, lock }, write);
}
