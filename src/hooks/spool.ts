import {
  closeSync,
  constants,
  existsSync,
  fstatSync,
  fsyncSync,
  lstatSync,
  mkdirSync,
  openSync,
  statSync,
  writeSync,
} from 'node:fs';
import { join, resolve } from 'node:path';
import { hasCode, syncPath } from '../core/files.ts';
import { isObject, parseJson } from '../core/json.ts';
import { isPostgres } from '../port/index.ts';

/** The file that receivers append to. */
export const OPEN_FILE = 'events.jsonl';

/** A drain that renames the file costs one attempt. Many failed attempts in a row have another cause. */
const ATTEMPTS_MAX = 20;

/**
 * Appends a record to the spool durably: after it returns, the record survives any kill and a power loss.
 *
 * Many processes append at the same time, so each record is one write to a file opened for appending. A drain renames the
 * file and then reads it. If the file is no longer at its path after the write, the drain may have missed the record, so
 * it is written again. If the drain did read it, both copies have the same ID and are stored once.
 * @throws {Error} of the file system when it cannot be stored.
 */
export function appendDurably(directory: string, record: Uint8Array): void {
  const path = join(directory, OPEN_FILE);
  for (let attempt = 1; attempt <= ATTEMPTS_MAX; attempt += 1) {
    const file = openForAppend(directory, path);
    try {
      if (fstatSync(file).size > SPOOL_BYTES_MAX)
        throw new Error(`${path} is larger than ${SPOOL_BYTES_MAX} bytes; drain it with daywalk hooks drain`);
      const written = writeSync(file, record);
      // Another receiver may have written after the incomplete record, so the whole record is written again. The drain
      // ignores the incomplete line.
      if (written < record.length) continue;
      fsyncSync(file);
      if (!isStillAt(path, file)) continue;
    } finally {
      closeSync(file);
    }
    // Without this, a power loss could remove the name of a new file. It costs nothing if the folder has not changed.
    syncPath(directory);
    return;
  }
  throw new Error(`${path} could not be written in ${ATTEMPTS_MAX} attempts`);
}

const APPEND = constants.O_WRONLY | constants.O_APPEND | constants.O_CREAT;

function openForAppend(directory: string, path: string): number {
  try {
    return openRegular(path, APPEND);
  } catch (error) {
    if (!hasCode(error, 'ENOENT')) throw error;
  }
  makeFolder(directory);
  return openRegular(path, APPEND);
}

// Does not create parent folders: without its folder there is no warehouse, and on some file systems Node never stops
// trying to create parents.
function makeFolder(directory: string): void {
  try {
    mkdirSync(directory, { mode: 0o700 });
  } catch (error) {
    // Another receiver has created it first.
    if (!existsSync(directory)) throw error;
  }
}

function isStillAt(path: string, file: number): boolean {
  const there = statSync(path, { throwIfNoEntry: false });
  const { ino, dev } = fstatSync(file);
  return there?.ino === ino && there.dev === dev;
}

/** An event in the spool. */
export interface SpoolRecord {
  /** When the event was received, as an ISO instant. */
  readonly receivedAt: string;
  /** Process ID and monotonic clock of the receiver. Distinguishes equal events that arrive at the same instant. */
  readonly order: string;
  /** The event as the client wrote it, except that line breaks are replaced. Parsing it again would lose digits. */
  readonly text: string;
}

/** A line of the spool. */
type SpoolLine =
  | { readonly kind: 'record'; readonly record: SpoolRecord; readonly event: Record<string, unknown> }
  /** An incomplete line. Its receiver was killed before it acknowledged the event. */
  | { readonly kind: 'torn' }
  /** Valid JSON of a kind that this version does not know, or whose time is damaged. */
  | { readonly kind: 'unknown' };

const HEAD = /^\{"v":1,"at":"([^"]{1,40})","order":"([^"]{1,80})","event":/;
// Replacing line breaks does not change the value of a JSON text, because inside strings they are always escaped.
const LINE_BREAKS = /[\r\n]+/g;

/**
 * Encodes a record as a line of the spool. It begins with a line break, which ends an incomplete line of a killed
 * receiver.
 */
export function encodeRecord({ receivedAt, order, text }: SpoolRecord): Buffer {
  const event = text.trim().replace(LINE_BREAKS, ' ');
  return Buffer.from(`\n{"v":1,"at":"${receivedAt}","order":"${order}","event":${event}}\n`);
}

/**
 * Decodes a line of the spool. An incomplete JSON object is never valid JSON, so a torn line is never taken for a
 * record.
 */
export function decodeLine(line: string): SpoolLine {
  const head = HEAD.exec(line);
  const [all = '', receivedAt = '', order = ''] = head ?? [];
  const text = line.slice(all.length, -1);
  // No database holds a time that a disk or a person has damaged, and the other events must not wait for it.
  const hasTime = new Date(Date.parse(receivedAt) || 0).toISOString() === receivedAt;
  const event = hasTime && line.endsWith('}') ? parseJson(text) : undefined;
  if (isObject(event)) return { kind: 'record', record: { receivedAt, order, text }, event };
  return { kind: parseJson(line) === undefined ? 'torn' : 'unknown' };
}

/** Windows lacks these flags, and does not need them. */
const SAFELY = (constants.O_NOFOLLOW ?? 0) | (constants.O_NONBLOCK ?? 0);

/** Readable only by its owner, because events contain prompts and paths. */
const NEW_FILE_MODE = 0o600;

/**
 * Opens a regular file. Follows no link and never blocks. Opening a FIFO, for example, would wait for its other end, and the
 * process could not exit.
 * @throws {Error} of the file system, or because the path is not a regular file.
 */
export function openRegular(path: string, flags: number): number {
  // Opening some devices has side effects.
  if (lstatSync(path, { throwIfNoEntry: false })?.isFile() === false) throw irregular(path);
  const file = openSync(path, flags | SAFELY, NEW_FILE_MODE);
  if (fstatSync(file).isFile()) return file;
  closeSync(file);
  throw irregular(path);
}

function irregular(path: string): Error {
  return new Error(`${path} is not a regular file`);
}

/** The settings that decide where the spool is. */
interface SpoolChoice {
  /** The configured folder. Null or absent for the default. */
  readonly spool?: string | null;
  /** A SQLite path, or `postgres://…`. */
  readonly warehouse: string;
  /**
   * The folder to which relative paths refer.
   * @default the working directory
   */
  readonly directory?: string;
}

/** Returns the folder that holds hook events until they are drained: by default, beside the warehouse. */
export function spoolOf({ spool, warehouse, directory = '.' }: SpoolChoice): string {
  // There is no folder beside a database server, so the spool of the default SQLite warehouse is used.
  const beside = isPostgres(warehouse) ? 'daywalk.db' : warehouse;
  return resolve(directory, spool ?? `${beside}.spool`);
}

/** A larger event is rejected. Clients do not send such events, and a spool of them would fill the disk. */
export const EVENT_BYTES_MAX = 8 * 1024 * 1024;

/** The longest line of the spool: an event and the fields that the receiver adds. */
export const LINE_BYTES_MAX = EVENT_BYTES_MAX + 1024;

/** Above this size of the open file, the receiver stores no more events until a drain. */
const SPOOL_BYTES_MAX = 1024 * 1024 * 1024;
