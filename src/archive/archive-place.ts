import { existsSync, realpathSync, statfsSync, statSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { dirname, join, resolve } from 'node:path';
import { StorageError, UsageError } from '../core/errors.ts';
import { mayWriteIn } from '../core/files.ts';

// The door loads this file, so it does not load the driver of SQLite.

/** The log, and SQLite's temporary file, become as large as the file. */
const COPIES = 2;

/**
 * The file of an archive: the path, if it ends in `.db`, or `archive.db` in a folder.
 * @throws {UsageError} if the folder holds what an earlier build has written.
 */
export function fileOfArchive(given: string): string {
  const path = given.endsWith('.db') ? given : join(given, 'archive.db');
  // Two names of one file must not have two locks.
  if (existsSync(path)) return realpathSync(path);
  const isEarlier = ['objects', 'index'].some((name) => existsSync(join(given, name)));
  if (path === given || !isEarlier) return path;
  throw new UsageError(
    `${given} is an archive of an earlier build; keep it elsewhere or delete it, for nothing sweeps it`,
    { hint: 'name another file or folder' },
  );
}

/** True if something was written into the file of an archive. */
export function isWritten(path: string): boolean {
  return bytesOf(path) > 0;
}

/** The size of a file; 0 if there is none. */
export function bytesOf(path: string): number {
  return statSync(path, { throwIfNoEntry: false })?.size ?? 0;
}

/** True if nothing is left at the former place of an archive, or if that is another name of the same file. */
export function hasMoved(former: string, place: string): boolean {
  try {
    return !isWritten(fileOfArchive(former)) || fileOfArchive(former) === fileOfArchive(place);
  } catch {
    // What cannot be looked at may still be there.
    return false;
  }
}

/** The types of network file systems on Linux (linux/magic.h): their locks do not hold between machines, and their logs tear. */
const NETWORK_TYPES: Readonly<Record<number, string>> = {
  26985: 'NFS',
  20859: 'SMB',
  4283649346: 'SMB',
  4266872130: 'SMB',
};

/** @throws {UsageError} if a file is on a network. */
export function expectLocal(path: string): void {
  const type = statfsSync(dirname(resolve(path))).type >>> 0;
  const name = NETWORK_TYPES[type];
  if (name === undefined) return;
  throw new UsageError(`the archive ${path} is on ${name}, and needs a local disk`, {
    hint: 'put it on a disk of this machine; workers on several machines have one archive each',
  });
}

/** Where SQLite puts its temporary files: the first of these folders that this user may write. */
function temporaryFolder(): string {
  // Node knows of TMPDIR, and otherwise says /tmp.
  const named = tmpdir() === '/tmp' ? [] : [tmpdir()];
  return [...named, '/var/tmp', '/usr/tmp', '/tmp'].find(mayWriteIn) ?? '.';
}

/** @throws {StorageError} if there is no room to write the file again. */
export function expectRoom(path: string): void {
  const { size, dev } = statSync(path);
  const folder = dirname(resolve(path));
  const temporary = temporaryFolder();
  const places = statSync(temporary).dev === dev ? [folder] : [folder, temporary];
  for (const place of places) {
    const { bavail, bsize } = statfsSync(place);
    const needed = (size * COPIES) / places.length;
    if (bavail * bsize >= needed) continue;
    throw new StorageError(
      `write ${path} again: ${place} has ${bavail * bsize} free bytes, and ${needed} are needed`,
      { hint: 'free space there; nothing was changed' },
    );
  }
}
