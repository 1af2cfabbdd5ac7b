import { randomUUID } from 'node:crypto';
import { constants, createReadStream, type Dirent, lstatSync, readdirSync, renameSync } from 'node:fs';
import { join } from 'node:path';
import { messageOf, StorageError } from '../core/errors.ts';
import { hasCode, replaceFile } from '../core/files.ts';
import { parseJson } from '../core/json.ts';
import { LINE_BYTES_MAX, OPEN_FILE, openRegular } from './spool.ts';

const SEALED = /^sealed-[0-9a-f-]{36}\.jsonl$/;

/** The content of a spool after its open file was sealed. */
interface SealedSpool {
  /** All sealed files that are still in the spool, sorted by name. */
  readonly files: readonly string[];
  /**
   * Entries that are not regular files: links, folders, FIFOs. Receivers do not create them, so a drain does not open
   * them.
   */
  readonly others: readonly string[];
}

/**
 * Seals the open file by renaming it, so that receivers create a new one. May be repeated, and may run in several
 * processes at once.
 * @throws {Error} of the file system.
 */
export function sealSpool(directory: string): SealedSpool {
  const open = join(directory, OPEN_FILE);
  if (lstatSync(open, { throwIfNoEntry: false })?.isFile() === true) seal(open, directory);
  const entries = entriesOf(directory);
  const pathsOf = (chosen: readonly Dirent[]) => chosen.map(({ name }) => join(directory, name)).sort();
  return {
    files: pathsOf(entries.filter((entry) => entry.isFile() && SEALED.test(entry.name))),
    others: pathsOf(entries.filter((entry) => !entry.isFile())),
  };
}

/**
 * The entries of a spool; none if there is no folder.
 * @throws {StorageError} if it cannot be read, also behind a link that leads nowhere: the events are where it led.
 */
function entriesOf(directory: string): Dirent[] {
  try {
    return lstatSync(directory, { throwIfNoEntry: false }) === undefined
      ? []
      : readdirSync(directory, { withFileTypes: true });
  } catch (error) {
    throw new StorageError(`the spool ${directory} cannot be read: ${messageOf(error)}`, {
      cause: error,
      hint: 'give this user the right to read the folder; if it is a link, put back what it leads to',
    });
  }
}

function seal(open: string, directory: string): void {
  try {
    renameSync(open, join(directory, `sealed-${randomUUID()}.jsonl`));
  } catch (error) {
    // Another drain has sealed it first.
    if (!hasCode(error, 'ENOENT')) throw error;
  }
}

const LINE_BREAK = 0x0a;

/**
 * Yields the lines of a file one by one, so that a large spool is never in memory as a whole. Skips empty lines. Stops
 * keeping a line once it is longer than {@link LINE_BYTES_MAX}, because receivers write no such line.
 * @throws {Error} of the file system, or because the path is not a regular file.
 */
export async function* linesOf(path: string): AsyncGenerator<string> {
  let held: Buffer[] = [];
  let length = 0;
  const keep = (part: Buffer) => {
    if (length < LINE_BYTES_MAX) held.push(part);
    length += part.length;
  };
  for await (const chunk of createReadStream(path, { fd: openRegular(path, constants.O_RDONLY) })) {
    if (!Buffer.isBuffer(chunk)) continue;
    let start = 0;
    for (let end = chunk.indexOf(LINE_BREAK); end >= 0; end = chunk.indexOf(LINE_BREAK, start)) {
      keep(chunk.subarray(start, end));
      if (length > 0) yield Buffer.concat(held).toString('utf8');
      held = [];
      length = 0;
      start = end + 1;
    }
    keep(chunk.subarray(start));
  }
  if (length > 0) yield Buffer.concat(held).toString('utf8');
}

/**
 * Yields every line of a spool with the name of its file; none if there is no folder.
 * @throws {StorageError} if a file cannot be read.
 */
export async function* readSpoolLines(
  directory: string,
): AsyncGenerator<{ readonly file: string; readonly line: string }> {
  const files = entriesOf(directory).filter((entry) => entry.isFile());
  for (const { name: file } of files) {
    try {
      for await (const line of linesOf(join(directory, file))) yield { file, line };
    } catch (error) {
      throw new StorageError(`read the spool ${join(directory, file)}: ${messageOf(error)}`, {
        cause: error,
      });
    }
  }
}

/** What lines of the spool become. */
interface PassedLines {
  json(text: string): string;
  text(text: string): string;
}

/**
 * Replaces what is not kept of people in the files of a spool that a drain has left, or counts them. Call it after a drain: events that are
 * still to be drained must not change, because their IDs depend on their text. Returns the number of lines that named someone.
 * @throws {StorageError} if a file cannot be read or written.
 */
export async function passSpool(
  directory: string,
  people: PassedLines,
  { isDryRun }: { readonly isDryRun: boolean },
): Promise<number> {
  let changed = 0;
  const files = entriesOf(directory).filter((entry) => entry.isFile());
  for (const { name } of files) {
    if (!isDryRun && !name.endsWith('.kept')) continue;
    changed += await passFile(join(directory, name), people, isDryRun);
  }
  return changed;
}

async function passFile(path: string, people: PassedLines, isDryRun: boolean): Promise<number> {
  const lines: string[] = [];
  let changed = 0;
  try {
    for await (const line of linesOf(path)) {
      const after = parseJson(line) === undefined ? people.text(line) : people.json(line);
      if (after !== line) changed += 1;
      lines.push(after);
    }
  } catch (error) {
    throw new StorageError(`read the spool ${path}: ${messageOf(error)}`, { cause: error });
  }
  if (changed > 0 && !isDryRun) await replaceFile(path, `${lines.join('\n')}\n`);
  return changed;
}
