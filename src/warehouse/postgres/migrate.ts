import pg from 'pg';
import { CREATE_HISTORY, commentsSql, HISTORY_TABLE } from '../../../schema/reference/sql.ts';
import { allTables, tables } from '../../../schema/tables.ts';
import type { Upgrade } from '../../core/clock.ts';
import { NoWarehouseError, UsageError } from '../../core/errors.ts';
import { fillRollups } from '../../rollups/index.ts';
import {
  expectPresentSchema,
  migrationsFor,
  missingMigrations,
  type SchemaExpected,
  upgradeOf,
} from '../schema-version.ts';
import { addedColumns, moveFields } from '../upgrade.ts';
import type { Link } from './link.ts';
import { runSteps } from './queries.ts';
import type { PostgresSession } from './session.ts';
import { lockKey } from './session.ts';
import { expectCreatable, expectWritableSchema } from './set-up.ts';
import type { PostgresTarget } from './target.ts';
import { tableIn } from './write-rows.ts';

/**
 * Migrates the schema to this version in one transaction. Does nothing if it has this version. Several processes may
 * do so at once: one migrates, the others wait. Returns the upgrade if this call made one.
 * @throws {UsageError} if the schema holds something else, has a newer version, or is missing and must not be
 * created.
 */
export async function migrate(
  session: PostgresSession,
  { create }: { readonly create: boolean },
): Promise<Upgrade | undefined> {
  const known = migrationsFor('postgres');
  const { schema, location } = session.target;
  const isDone = await session.transaction('read the schema of', async (link) => {
    const applied = await appliedMigrations(link, schema, location);
    if (applied === null && !create) throw new NoWarehouseError(location);
    return missingMigrations(location, known, applied ?? []).length === 0;
  });
  if (isDone) return undefined;
  return session.transaction('migrate', async (link) => {
    await link.query('SELECT pg_advisory_xact_lock($1::bigint)', [lockKey(schema, ['migrate'])]);
    await createSchema(link, schema);
    await expectCreatable(link);
    // Migrations name no schema. The search path has only this one, so every table goes there.
    await link.script(`SET LOCAL search_path = ${pg.escapeIdentifier(schema)}`);
    // Another process may have migrated between the check above and the lock.
    const applied = (await appliedMigrations(link, schema, location)) ?? [];
    await link.script(CREATE_HISTORY);
    const missing = missingMigrations(location, known, applied);
    for (const [index, migration] of missing.entries()) {
      // One round trip for all statements: with one each, they took most of the time to create a warehouse.
      await link.script(migration.sql.join('\n;\n'));
      await link.execute(`INSERT INTO ${tableIn(link, { name: HISTORY_TABLE })} VALUES ($1, $2, $3)`, [
        applied.length + index + 1,
        migration.hash,
        migration.folderMillis,
      ]);
    }
    if (missing.length > 0) await link.script(commentsSql());
    if (missing.length === 0 || missing.length === known.length) return undefined;
    // Runs of an earlier version commit nothing meanwhile, so all statements see the same units.
    await link.script(`LOCK TABLE ${tableIn(link, tables.exportUnits)} IN SHARE ROW EXCLUSIVE MODE`);
    await runSteps(link, moveFields(addedColumns(missing)));
    await runSteps(link, fillRollups('postgres', session.clock.now()));
    return upgradeOf(location, known, missing);
  });
}

/**
 * Makes sure that the schema has this version. Writes nothing.
 * @throws {UsageError} if it is missing, holds something else, or has another version.
 */
export async function expectSchema(
  link: Link,
  { schema, location }: PostgresTarget,
  expected: SchemaExpected,
): Promise<void> {
  const applied = await appliedMigrations(link, schema, location);
  expectPresentSchema(location, migrationsFor('postgres'), applied ?? [], expected);
}

/** The creation times of the applied migrations; null if there is no warehouse yet. */
async function appliedMigrations(link: Link, schema: string, location: string): Promise<number[] | null> {
  const stored = await link.query(
    'SELECT tablename FROM pg_catalog.pg_tables WHERE schemaname = $1 AND tablename = ANY ($2::text[])',
    [schema, [HISTORY_TABLE, ...allTables.map(({ name }) => name)]],
  );
  const names = new Set(stored.map(([name]) => name));
  if (names.size === 0) return null;
  if (!names.has(HISTORY_TABLE) || (names.size > 1 && !names.has('export_units'))) {
    throw new UsageError(`the schema ${schema} of ${location} holds tables of another program`, {
      hint: 'name a separate schema for the warehouse with ?schema=daywalk',
    });
  }
  const applied = await link.query(`SELECT created_at FROM ${tableIn(link, { name: HISTORY_TABLE })}`);
  return applied.map(([when]) => Number(when));
}

/** Creates the schema if it is missing. A schema that an administrator created needs no right to create one. */
async function createSchema(link: Link, schema: string): Promise<void> {
  const found = await link.query('SELECT 1 FROM pg_catalog.pg_namespace WHERE nspname = $1', [schema]);
  if (found.length > 0) return;
  await expectWritableSchema(link);
  await link.script(`CREATE SCHEMA ${pg.escapeIdentifier(schema)}`);
}
