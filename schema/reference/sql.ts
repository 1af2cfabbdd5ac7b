import { type MigrationMeta, readMigrationFiles } from 'drizzle-orm/migrator';
import { programPath } from '../../src/core/package.ts';
import { CREATE_HISTORY, HISTORY_TABLE } from '../history.ts';
import { citusSql } from './citus.ts';
import { commentsSql } from './comments.ts';

/** The databases that hold a warehouse. */
export const DATABASES = ['sqlite', 'postgres'] as const;
export type Database = (typeof DATABASES)[number];

/** Extensions that distribute a PostgreSQL warehouse over several servers. */
export const DISTRIBUTIONS = ['citus'] as const;
export type Distribution = (typeof DISTRIBUTIONS)[number];

/**
 * The statements that create a warehouse: every migration in order. For PostgreSQL they are also recorded as applied, so
 * that the program accepts the result as a warehouse of this version. Names have no schema: the search path decides it.
 */
export function schemaSql(database: Database = 'sqlite', distribution?: Distribution): string {
  const migrations = readMigrationFiles({ migrationsFolder: folderOf(database) });
  const parts = migrations.map(({ sql }, index) => {
    const statements = database === 'sqlite' ? sql.flatMap(withoutEdit) : sql;
    return `-- Migration ${index + 1}\n${statements.map(statement).join('\n')}`;
  });
  if (database === 'postgres') parts.push(historySql(migrations), `-- What it means\n${commentsSql()}`);
  if (distribution === 'citus') parts.push(citusSql());
  return parts.join('\n');
}

function folderOf(database: Database): string {
  return programPath(`schema/migrations/${database}`);
}

/**
 * A statement for a new SQLite database. Migrations change the declared type of metrics in place, so that no warehouse has
 * to be rewritten. Few SQLite shells allow that, so a new table gets the right type at once.
 */
function withoutEdit(sql: string): string[] {
  return /writable_schema|UPDATE sqlite_master/.test(sql) ? [] : [sql.replaceAll('` numeric', '` real')];
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
