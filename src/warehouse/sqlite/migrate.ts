import { existsSync } from 'node:fs';
import type { Database } from 'better-sqlite3';
import { type MigrationMeta, readMigrationFiles } from 'drizzle-orm/migrator';
import { UsageError } from '../../core/errors.ts';
import { programPath } from '../../core/package.ts';
import { APPLICATION_ID, type Connection } from './connection.ts';

/** Bits of `PRAGMA optimize`: measure (0x02) every table, not those alone that this connection has read (0x10000). */
const OPTIMIZE_ALL_TABLES = 0x10002;

const FOLDER = programPath('schema/migrations/sqlite');

/** The migrations that this version knows, oldest first. */
export function knownMigrations(): MigrationMeta[] {
  return existsSync(FOLDER) ? readMigrationFiles({ migrationsFolder: FOLDER }) : [];
}

/**
 * Brings the file to the schema of this version, in one transaction; does nothing when it is there already.
 * @throws {UsageError} when the file belongs to something else or to a newer version.
 */
export async function migrate(connection: Connection): Promise<void> {
  const known = knownMigrations();
  const isDone = pending(connection, known).length === 0;
  connection.useLog();
  if (isDone) return;
  await connection.transaction('migrate the warehouse', () => {
    const { db } = connection;
    // Another process may have migrated between the look above and the lock.
    const missing = pending(connection, known);
    db.exec(
      'CREATE TABLE IF NOT EXISTS "__drizzle_migrations" (id INTEGER PRIMARY KEY, hash TEXT NOT NULL, created_at NUMERIC)',
    );
    const record = db.prepare('INSERT INTO "__drizzle_migrations" (hash, created_at) VALUES (?, ?)');
    for (const migration of missing) {
      apply(db, migration);
      record.run(migration.hash, migration.folderMillis);
    }
    db.pragma(`application_id = ${APPLICATION_ID}`);
    // A new index is of no use to readers before it is measured, and a settled history brings no run that does it.
    if (missing.length < known.length) refreshStatistics(connection);
  });
}

/**
 * Measures tables that were never measured, or have changed much since; a sample of each. Call inside a transaction.
 * See `Warehouse.refreshStatistics`.
 */
export function refreshStatistics({ db }: Connection): void {
  db.pragma(`optimize = ${OPTIMIZE_ALL_TABLES}`);
}

/** Executes the statements of a migration. */
export function apply(db: Database, migration: MigrationMeta): void {
  // Migrations may edit declarations, which SQLite refuses on a connection that does not ask for it.
  db.unsafeMode(true);
  try {
    for (const statement of migration.sql) db.exec(statement);
  } finally {
    db.unsafeMode(false);
  }
}

function pending(connection: Connection, known: MigrationMeta[]): MigrationMeta[] {
  const applied = connection.read('read the schema of', () => appliedMigrations(connection));
  const newest = known.at(-1)?.folderMillis ?? 0;
  if (applied.some((when) => when > newest)) {
    throw new UsageError(`the warehouse ${connection.path} was written by a newer version of daywalk`, {
      hint: 'update daywalk, or use another warehouse',
      reason: 'warehouse-is-newer',
    });
  }
  return known.filter((migration) => !applied.includes(migration.folderMillis));
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
