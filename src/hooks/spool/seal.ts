import { randomUUID } from 'node:crypto';
import { type Dirent, existsSync, lstatSync, readdirSync, renameSync } from 'node:fs';
import { join } from 'node:path';
import { hasCode } from '../../core/error-code.ts';
import { OPEN_FILE } from './append.ts';

const SEALED = /^sealed-[0-9a-f-]{36}\.jsonl$/;

/** The content of a spool after its open file was sealed. */
export interface SealedSpool {
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
    // Another drain has sealed it first.
    if (!hasCode(error, 'ENOENT')) throw error;
  }
}
