import { realpathSync, rmSync } from 'node:fs';
import { tables } from '../../../schema/tables.ts';
import type { Connection } from './connection.ts';

/** Tables in which a run leaves rows even if it stored no data: the record of the run, and the state of runs. */
const TRACES: readonly string[] = [tables.exportRuns.name, tables.exportState.name];

/**
 * Removes the file and its side files if this connection created it and it holds nothing but traces of `runs` runs. The
 * caller holds the run lock. Check and removal happen under the file's write lock, so no process can write in between; a
 * process that waits for that lock finds the file gone.
 */
export function discardNew(connection: Connection, runs: number): boolean {
  const { db, path, isNew } = connection;
  if (!isNew) return false;
  connection.expectInPlace('remove the empty warehouse');
  db.exec('BEGIN IMMEDIATE');
  if (!isEmpty(connection, runs)) {
    db.exec('ROLLBACK');
    return false;
  }
  const files = ['', '-wal', '-shm', '.lock'].map((end) => `${realpathSync(path)}${end}`);
  for (const file of files) rmSync(file, { force: true });
  db.close();
  return true;
}

function isEmpty(connection: Connection, runs: number): boolean {
  const counts = (name: string) =>
    Number(connection.prepareRows(`SELECT COUNT(*) FROM "${name}"`).pluck().get());
  const stored = Object.values(tables).filter(({ name }) => !TRACES.includes(name));
  return counts(tables.exportRuns.name) <= runs && stored.every(({ name }) => counts(name) === 0);
}
