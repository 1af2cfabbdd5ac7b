import { randomUUID } from 'node:crypto';
import { type Dirent, existsSync, lstatSync, readdirSync, renameSync } from 'node:fs';
import { join } from 'node:path';
import { hasCode } from '../../core/error-code.ts';
import { OPEN_FILE } from './append.ts';

const SEALED = /^sealed-[0-9a-f-]{36}\.jsonl$/;

/** What a spool holds once its open file is sealed. */
export interface SealedSpool {
  /** Every file that was ever taken away from the receivers and is still there, in the order of their names. */
  readonly files: readonly string[];
  /** What is no regular file, whatever its name: links, folders, FIFOs. Receivers make none, so it is left alone. */
  readonly others: readonly string[];
}

/**
 * Takes the open file away from the receivers, by a rename. Receivers go on with a new file. May be repeated, also by
 * several processes.
 * @throws {Error} of the file system.
 */
export function sealSpool(directory: string): SealedSpool {
  if (!existsSync(directory)) return { files: [], others: [] };
  const open = join(directory, OPEN_FILE);
  if (lstatSync(open, { throwIfNoEntry: false })?.isFile() === true) seal(open, directory);
  const entries = readdirSync(directory, { withFileTypes: true });
  const pathsOf = (chosen: readonly Dirent[]) => chosen.map(({ name }) => join(directory, name)).sort();
  return {
    files: pathsOf(entries.filter((entry) => entry.isFile() && SEALED.test(entry.name))),
    others: pathsOf(entries.filter((entry) => !entry.isFile())),
  };
}

function seal(open: string, directory: string): void {
  try {
    renameSync(open, join(directory, `sealed-${randomUUID()}.jsonl`));
  } catch (error) {
    // Another drain was quicker.
    if (!hasCode(error, 'ENOENT')) throw error;
  }
}
