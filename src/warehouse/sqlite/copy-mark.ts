import { closeSync, existsSync, openSync, readSync, statSync } from 'node:fs';
import { UsageError } from '../../core/errors.ts';
import { APPLICATION_ID } from './connection.ts';

/** The user version of a published copy ("COPY"). A warehouse in use never has it. */
export const COPY_MARK = 0x434f5059;

/** Offsets in a SQLite file, see "The Database Header" in SQLite's file format. */
const HEADER_BYTES = 100;
const MAGIC = 'SQLite format 3\0';
const USER_VERSION_AT = 60;
const APPLICATION_ID_AT = 68;

/**
 * Refuses to replace a file unless it is an earlier published copy that no program writes to.
 * @throws {UsageError} that says what the file is.
 */
export function expectCopy(path: string, warehousePath: string): void {
  const { dev, ino, isFile } = described(path);
  const own = described(warehousePath);
  if (own.dev === dev && own.ino === ino) {
    throw new UsageError(`${path} is the warehouse itself`, {
      hint: 'name another file',
      reason: 'publish-onto-warehouse',
    });
  }
  if (!isFile || !isCopy(path)) {
    throw new UsageError(`${path} is not a published copy of a warehouse`, {
      hint: 'name a new file, or remove this one first',
      reason: 'publish-onto-other-file',
    });
  }
  // SQLite would treat it as the log of the new copy.
  const log = [`${path}-wal`, `${path}-journal`].find((side) => existsSync(side));
  if (log !== undefined) {
    throw new UsageError(`another program writes to the copy: there is ${log}`, {
      hint: 'close it in that program; after a crash, remove the copy and this file',
    });
  }
}

function described(path: string): { dev: number; ino: number; isFile: boolean } {
  const stats = statSync(path);
  return { dev: stats.dev, ino: stats.ino, isFile: stats.isFile() };
}

function isCopy(path: string): boolean {
  const header = Buffer.alloc(HEADER_BYTES);
  const file = openSync(path, 'r');
  try {
    readSync(file, header, 0, HEADER_BYTES, 0);
  } finally {
    closeSync(file);
  }
  return (
    header.toString('latin1', 0, MAGIC.length) === MAGIC &&
    header.readUInt32BE(USER_VERSION_AT) === COPY_MARK &&
    header.readUInt32BE(APPLICATION_ID_AT) === APPLICATION_ID
  );
}
