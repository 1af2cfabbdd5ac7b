import { accessSync, constants, statSync } from 'node:fs';
import { dirname, resolve } from 'node:path';
import { hasCode } from './error-code.ts';

/** Maximum depth of a folder; no file system allows as many levels. */
const DEPTH_MAX = 4096;

/**
 * Describes the first folder on the way into `folder` that this user may not enter, with the IDs of the user and the owner;
 * undefined if there is none, or if it cannot be determined.
 */
export function closedFolder(folder: string): string | undefined {
  let closed: string | undefined;
  let path = resolve(folder);
  for (let depth = 0; depth < DEPTH_MAX && isClosed(path); depth += 1) {
    closed = path;
    path = dirname(path);
    if (path === closed) break;
  }
  return closed === undefined ? undefined : described(closed);
}

/** True for a closed folder, and for every path below one. */
function isClosed(path: string): boolean {
  try {
    accessSync(path, constants.X_OK);
    return false;
  } catch (error) {
    return hasCode(error, 'EACCES');
  }
}

function described(path: string): string {
  const { uid, gid, mode } = statSync(path);
  const user = `uid ${process.getuid?.() ?? '?'}, gid ${process.getgid?.() ?? '?'}`;
  const rights = (mode & 0o7777).toString(8).padStart(4, '0');
  return `${user} may not enter the folder ${path} (owner ${uid}:${gid}, mode ${rights})`;
}

/** The remedy for a closed folder. */
export const HINT_CLOSED = 'give that folder to this user with chown, or run as its owner';
