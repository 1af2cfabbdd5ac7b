import { existsSync } from 'node:fs';
import { type MigrationMeta, readMigrationFiles } from 'drizzle-orm/migrator';
import type { Upgrade } from '../core/clock.ts';
import { NoWarehouseError, OldWarehouseError, UsageError } from '../core/errors.ts';
import { programPath } from '../core/files.ts';
import { isPostgres } from '../port/index.ts';

/** How a schema is brought to this version. */
export interface Migrating {
  /** Is told if this call has upgraded the warehouse. */
  readonly upgraded?: ((upgrade: Upgrade) => void) | undefined;
  /**
   * How many of the newest migrations a new file does not get, so that it has the schema of an earlier version. SQLite only.
   * @default 0
   */
  readonly leaving?: number | undefined;
}

/** Which schemas are accepted for reading only. */
export interface SchemaExpected {
  /**
   * Open a warehouse of an earlier version too, to read the tables and columns that it has.
   * @default false
   */
  readonly acceptsOlder?: boolean | undefined;
}

/** The migrations of this version for a database, oldest first. */
export function migrationsFor(database: 'sqlite' | 'postgres'): MigrationMeta[] {
  const folder = programPath(`schema/migrations/${database}`);
  return existsSync(folder) ? readMigrationFiles({ migrationsFolder: folder }) : [];
}

/** The version of the schema that this program gives to a warehouse at a location. */
export function schemaVersion(location: string): number {
  return migrationsFor(isPostgres(location) ? 'postgres' : 'sqlite').length;
}

/**
 * The migrations that a warehouse lacks.
 * @param applied the creation times of those that it has.
 * @throws {UsageError} if it has some that this version does not know.
 */
export function missingMigrations(
  location: string,
  known: readonly MigrationMeta[],
  applied: readonly number[],
): MigrationMeta[] {
  const newest = known.at(-1)?.folderMillis ?? 0;
  if (applied.some((when) => when > newest)) {
    throw new UsageError(
      `the warehouse ${location} has version ${applied.length}, this program ${known.length}`,
      {
        hint: 'it is newer: update daywalk, or use another warehouse',
        reason: 'warehouse-is-newer',
      },
    );
  }
  return known.filter((migration) => !applied.includes(migration.folderMillis));
}

/** The upgrade of a warehouse that lacks some of the migrations. */
export function upgradeOf(location: string, known: readonly unknown[], missing: readonly unknown[]): Upgrade {
  return { location, from: known.length - missing.length, to: known.length };
}

/**
 * Makes sure that a warehouse has the schema of this version.
 * @throws {UsageError} if it has another version, or no schema at all.
 */
export function expectPresentSchema(
  location: string,
  known: readonly MigrationMeta[],
  applied: readonly number[],
  { acceptsOlder = false }: SchemaExpected,
): void {
  const missing = missingMigrations(location, known, applied);
  if (missing.length === known.length) throw new NoWarehouseError(location);
  if (missing.length > 0 && !acceptsOlder) throw new OldWarehouseError(upgradeOf(location, known, missing));
}
