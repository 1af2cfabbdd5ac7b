import { closeSync, existsSync, lstatSync, openSync, readSync, rmSync } from 'node:fs';
import Database from 'better-sqlite3';
import type { Clock } from '../src/core/clock.ts';
import { messageOf, UsageError } from '../src/core/errors.ts';
import { withWarehouse } from '../src/warehouse/with-warehouse.ts';

const SQLITE_MAGIC = 'SQLite format 3\0';
/** What SQLite keeps beside a database. The lock file stays: another process may be waiting for it. */
const SUFFIXES = ['', '-wal', '-shm', '-journal'];

/**
 * Makes way for a new demo warehouse: deletes the one of an earlier demo, and nothing else.
 * @throws {UsageError} when the file is anything but a demo warehouse.
 * @throws {BusyError} when another demo is at work on it.
 */
export async function clearDemoWarehouse(path: string, clock: Clock): Promise<void> {
  if (!existsSync(path)) return;
  const refusal = whyNotDemo(path);
  if (refusal !== null) {
    throw new UsageError(`${path} is there and ${refusal}; nothing was deleted`, {
      hint: 'run the demo in another folder, or move that file away',
    });
  }
  await withWarehouse(path, { clock, create: true }, async (warehouse) => {
    const lock = await warehouse.lock();
    await lock.release();
  });
  for (const suffix of SUFFIXES) rmSync(path + suffix, { force: true });
}

function whyNotDemo(path: string): string | null {
  const status = lstatSync(path);
  if (!status.isFile()) return 'is not a file';
  if (status.size === 0) return null;
  if (!beginsLikeSqlite(path)) return 'is not a SQLite file';
  try {
    return holdsOtherRuns(path) ? 'holds more than demo runs' : null;
  } catch (error) {
    return `is no daywalk warehouse (${messageOf(error)})`;
  }
}

function beginsLikeSqlite(path: string): boolean {
  const file = openSync(path, 'r');
  try {
    const head = Buffer.alloc(SQLITE_MAGIC.length);
    readSync(file, head);
    return head.toString('latin1') === SQLITE_MAGIC;
  } finally {
    closeSync(file);
  }
}

/** A demo warehouse has runs of the demo alone. One without any run must be empty: a demo that was killed at once. */
function holdsOtherRuns(path: string): boolean {
  const database = new Database(path, { readonly: true });
  try {
    const others = database.prepare("SELECT COUNT(*) FROM export_runs WHERE command <> 'demo'").pluck().get();
    const runs = database.prepare('SELECT COUNT(*) FROM export_runs').pluck().get();
    const units = database.prepare('SELECT COUNT(*) FROM export_units').pluck().get();
    return others !== 0 || (runs === 0 && units !== 0);
  } finally {
    database.close();
  }
}
