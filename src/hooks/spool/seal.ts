import { randomUUID } from 'node:crypto';
import { existsSync, readdirSync, renameSync } from 'node:fs';
import { join } from 'node:path';
import { OPEN_FILE } from './append.ts';

const SEALED = /^sealed-[0-9a-f-]{36}\.jsonl$/;

/**
 * Takes the open file away from the receivers, by a rename, and answers every file that was ever taken and is still
 * there, in the order of their names. Receivers go on with a new file. May be repeated, also by several processes.
 */
export function sealSpool(directory: string): string[] {
  if (!existsSync(directory)) return [];
  try {
    renameSync(join(directory, OPEN_FILE), join(directory, `sealed-${randomUUID()}.jsonl`));
  } catch (error) {
    if (!isMissing(error)) throw error;
  }
  return readdirSync(directory)
    .filter((name) => SEALED.test(name))
    .sort()
    .map((name) => join(directory, name));
}

/** True for the error of a file that is not there, or not there any more. */
export function isMissing(error: unknown): boolean {
  return error instanceof Error && 'code' in error && error.code === 'ENOENT';
}
