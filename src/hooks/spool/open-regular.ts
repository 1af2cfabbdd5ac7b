import { closeSync, constants, fstatSync, lstatSync, openSync } from 'node:fs';

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
