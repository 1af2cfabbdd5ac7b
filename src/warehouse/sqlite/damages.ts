import Sqlite, { type Database } from 'better-sqlite3';
import type { Connection } from './connection.ts';
import { apply, knownMigrations } from './migrate.ts';

/** Maximum number of reported damages. */
const DAMAGES_MAX = 100;

/**
 * Finds the damage in the file, see `Warehouse.damages`: what SQLite reports, including indexes that do not match their
 * tables; and tables, views and indexes of the migrations that are missing or altered. Additional ones are no damage.
 */
export function damagesOf({ db }: Connection): string[] {
  const found = db.prepare<[], string>(`PRAGMA integrity_check(${DAMAGES_MAX})`).pluck().all();
  const stored = schemaOf(db);
  const altered = [...expectedSchema()].filter(([name, sql]) => stored.get(name) !== sql);
  return [
    ...found.filter((sentence) => sentence !== 'ok'),
    ...altered.map(([name]) => `${name} is ${stored.has(name) ? 'not declared as it should be' : 'missing'}`),
  ].slice(0, DAMAGES_MAX);
}

function expectedSchema(): Map<string, string> {
  const db = new Sqlite(':memory:');
  try {
    for (const migration of knownMigrations()) apply(db, migration);
    return schemaOf(db);
  } finally {
    db.close();
  }
}

/** The declaration of every table, view and index that has one, by type and name. */
function schemaOf(db: Database): Map<string, string> {
  const rows = db
    .prepare<[], [string, string]>("SELECT type || ' ' || name, sql FROM sqlite_master WHERE sql IS NOT NULL")
    .raw()
    .all();
  return new Map(rows);
}
