import { type MigrationMeta, readMigrationFiles } from 'drizzle-orm/migrator';
import { programPath } from '../../src/core/package.ts';
import { CREATE_HISTORY, HISTORY_TABLE } from '../history.ts';
import { citusSql } from './citus.ts';

/** The databases that hold a warehouse. */
export const DATABASES = ['sqlite', 'postgres'] as const;
export type Database = (typeof DATABASES)[number];

/** What spreads a PostgreSQL warehouse over several servers. */
export const DISTRIBUTIONS = ['citus'] as const;
export type Distribution = (typeof DISTRIBUTIONS)[number];

/**
 * The statements that make a warehouse, as they are applied: every migration in order. For PostgreSQL they are put on
 * record as applied, so that the program takes what they make for a warehouse of this version; names are without a
 * schema, so the search path says where it stands.
 */
export function schemaSql(database: Database = 'sqlite', distribution?: Distribution): string {
  const migrations = readMigrationFiles({ migrationsFolder: folderOf(database) });
  const parts = migrations.map(
    ({ sql }, index) => `-- Migration ${index + 1}\n${sql.map(statement).join('\n')}`,
  );
  if (database === 'postgres') parts.push(historySql(migrations));
  if (distribution === 'citus') parts.push(citusSql());
  return parts.join('\n');
}

function folderOf(database: Database): string {
  return programPath(`schema/migrations/${database}`);
}

function statement(sql: string): string {
  const text = sql.trim();
  return `${text}${text.endsWith(';') ? '' : ';'}\n`;
}

function historySql(migrations: readonly MigrationMeta[]): string {
  const rows = migrations.map(
    ({ hash, folderMillis }, index) =>
      `INSERT INTO "${HISTORY_TABLE}" VALUES (${index + 1}, '${hash}', ${folderMillis});\n`,
  );
  return `-- What was migrated\n${CREATE_HISTORY};\n${rows.join('')}`;
}
