import type { Database } from 'better-sqlite3';
import Sqlite from 'better-sqlite3';
import type { MigrationMeta } from 'drizzle-orm/migrator';
import type { Upgrade } from '../../core/clock.ts';
import { UsageError } from '../../core/errors.ts';
import { fillRollups } from '../../rollups/index.ts';
import {
  expectPresentSchema,
  migrationsFor,
  missingMigrations,
  type SchemaExpected,
  upgradeOf,
} from '../schema-version.ts';
import { addedColumns, moveFields } from '../upgrade.ts';
import { APPLICATION_ID, type Connection } from './connection.ts';
import { runSteps } from './queries.ts';

/** Bits of `PRAGMA optimize`: analyze (0x02) every table, not only those that this connection has read (0x10000). */
const OPTIMIZE_ALL_TABLES = 0x10002;

/**
 * Migrates the file to the schema of this version in one transaction. Does nothing if it has that schema. Returns the
 * upgrade if this call made one.
 * @param leaving how many of the newest migrations stay out, for a file of an earlier version. @default 0
 * @throws {UsageError} if the file belongs to another program or to a newer version.
 */
export async function migrate(connection: Connection, leaving = 0): Promise<Upgrade | undefined> {
  const known = migrationsFor('sqlite');
  const wanted = known.slice(0, known.length - leaving);
  const isDone = pending(connection, wanted).length === 0;
  connection.useLog();
  if (isDone) return undefined;
  return connection.transaction('migrate the warehouse', () => {
    const { db } = connection;
    // Another process may have migrated between the check above and the lock.
    const missing = pending(connection, wanted);
    db.exec(
      'CREATE TABLE IF NOT EXISTS "__drizzle_migrations" (id INTEGER PRIMARY KEY, hash TEXT NOT NULL, created_at NUMERIC)',
    );
    const record = db.prepare('INSERT INTO "__drizzle_migrations" (hash, created_at) VALUES (?, ?)');
    for (const migration of missing) {
      apply(db, migration);
      record.run(migration.hash, migration.folderMillis);
    }
    db.pragma(`application_id = ${APPLICATION_ID}`);
    if (missing.length === 0 || missing.length === wanted.length) return undefined;
    runSteps(connection, moveFields(addedColumns(missing)));
    runSteps(connection, fillRollups('sqlite', connection.clock.now()));
    // Readers cannot use a new index before it is analyzed, and runs over a settled history would not do that.
    refreshStatistics(connection);
    return upgradeOf(connection.path, known, missing);
  });
}

/**
 * Makes sure that the file has the schema of this version. Writes nothing.
 * @throws {UsageError} if it is not a warehouse, or one of another version.
 */
export function expectSchema(connection: Connection, expected: SchemaExpected): void {
  expectPresentSchema(connection.path, migrationsFor('sqlite'), appliedTo(connection), expected);
}

/**
 * Analyzes a sample of tables that were never analyzed, or have changed much since, see
 * `Warehouse.refreshStatistics`. Call inside a transaction.
 */
export function refreshStatistics({ db }: Connection): void {
  db.pragma(`optimize = ${OPTIMIZE_ALL_TABLES}`);
}

function apply(db: Database, migration: MigrationMeta): void {
  // Migrations may edit declarations, which SQLite refuses unless the connection allows it.
  db.unsafeMode(true);
  try {
    for (const statement of migration.sql) db.exec(statement);
  } finally {
    db.unsafeMode(false);
  }
}

function pending(connection: Connection, known: readonly MigrationMeta[]): MigrationMeta[] {
  return missingMigrations(connection.path, known, appliedTo(connection));
}

function appliedTo(connection: Connection): number[] {
  return connection.read('read the schema of', () => appliedMigrations(connection));
}

function appliedMigrations({ db, path }: Connection): number[] {
  const id = Number(db.pragma('application_id', { simple: true }));
  const names = db.prepare<[], string>('SELECT name FROM sqlite_master').pluck().all();
  // Another program may have marked a file that it has not filled yet.
  if (names.length === 0 && id === 0) return [];
  if (id !== APPLICATION_ID || !names.includes('__drizzle_migrations')) {
    throw new UsageError(`${path} is a SQLite database of another program`, {
      hint: 'use a new file',
      reason: 'warehouse-is-foreign',
    });
  }
  return db.prepare<[], number>('SELECT created_at FROM "__drizzle_migrations"').pluck().all().map(Number);
}

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
    for (const migration of migrationsFor('sqlite')) apply(db, migration);
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
