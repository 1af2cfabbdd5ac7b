import { closeSync, constants, fstatSync, lstatSync, openSync } from 'node:fs';

/** Absent on Windows, which has neither links that are followed here nor files that block. */
const SAFELY = (constants.O_NOFOLLOW ?? 0) | (constants.O_NONBLOCK ?? 0);

/** Its owner alone may read it: events hold prompts and paths of people. */
const NEW_FILE_MODE = 0o600;

/**
 * Opens a regular file. Follows no link, and never waits: to open a FIFO waits for its other end, in a way that keeps a
 * process from ending.
 * @throws {Error} of the file system, or that says that the path is something else.
 */
export function openRegular(path: string, flags: number): number {
  // Some devices act on being opened.
  if (lstatSync(path, { throwIfNoEntry: false })?.isFile() === false) throw irregular(path);
  const file = openSync(path, flags | SAFELY, NEW_FILE_MODE);
  if (fstatSync(file).isFile()) return file;
  closeSync(file);
  throw irregular(path);
}

function irregular(path: string): Error {
  return new Error(`${path} is not a regular file`);
}
