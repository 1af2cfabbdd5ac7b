import { createHash } from 'node:crypto';
import { appendFileSync, existsSync, readFileSync, truncateSync } from 'node:fs';
import { dirname } from 'node:path';
import { BusyError, StorageError, UsageError } from '../core/errors.ts';
import { explainWriteError, syncPath } from '../core/files.ts';
import { canonicalJson } from '../core/json.ts';
import { createPrivately, tryFileLock } from '../core/sqlite-files.ts';
import { type KeptOut, NOBODY } from '../privacy/index.ts';
import { joinLists, parseKeptOut } from './list.ts';

/**
 * A file that keeps who was erased apart from warehouse and archive, so that a backup from before cannot bring them back. It is
 * only added to. Each line has the SHA-256 of a list, and the list as JSON, without the values that were erased.
 */

/**
 * Reads everyone whom the file lists.
 * @throws {UsageError} if there is no file.
 * @throws {StorageError} if a line of it is damaged.
 */
export function readErasures(path: string): KeptOut {
  if (!existsSync(path))
    throw new UsageError(`there is no list of erasures at ${path}`, {
      hint: 'mount its folder; if nobody was ever erased, create an empty file',
    });
  return listIn(path).list;
}

/**
 * Adds everyone to the file who is not in it yet, durably; creates the file if there is none. May be repeated, also after a kill.
 * @throws {BusyError} while another process does.
 * @throws {StorageError} if it is damaged or cannot be written.
 */
export function noteErasures(path: string, list: KeptOut): void {
  try {
    if (createPrivately(path)) syncPath(dirname(path));
    const lock = tryFileLock(`${path}.lock`);
    if (lock === null)
      throw new BusyError(`another process writes ${path}`, { hint: 'run again: it resumes' });
    try {
      const { list: known, bytes } = listIn(path);
      const joined = joinLists(known, list);
      const entries = joined.entries.slice(known.entries.length);
      if (entries.length === 0) return;
      // A kill may have left a part of a line, whose erasure did not report success.
      truncateSync(path, bytes);
      appendFileSync(path, lineOf({ keys: joined.keys, entries }));
      syncPath(path);
    } finally {
      lock.release();
    }
  } catch (error) {
    throw explainWriteError(error, path);
  }
}

function lineOf(list: KeptOut): string {
  const text = canonicalJson(list);
  return `${sha256Of(text)} ${text}\n`;
}

function sha256Of(text: string): string {
  return createHash('sha256').update(text).digest('hex');
}

/** The list in the whole lines of a file, and how many bytes these have. */
function listIn(path: string): { readonly list: KeptOut; readonly bytes: number } {
  const text = readFileSync(path, 'utf8');
  const whole = text.slice(0, text.lastIndexOf('\n') + 1);
  let list = NOBODY;
  for (const [index, line] of whole.split('\n').slice(0, -1).entries()) {
    const end = line.indexOf(' ');
    const json = line.slice(end + 1);
    const found = line.slice(0, end) === sha256Of(json) ? parseKeptOut(json) : undefined;
    if (found === undefined)
      throw new StorageError(`read the erasures in ${path}: line ${index + 1} is damaged`, {
        hint: 'restore the file from a backup: without it, a restore could bring erased people back',
      });
    list = joinLists(list, found);
  }
  return { list, bytes: Buffer.byteLength(whole) };
}
