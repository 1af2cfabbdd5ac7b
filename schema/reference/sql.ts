import { type MigrationMeta, readMigrationFiles } from 'drizzle-orm/migrator';
import { programPath } from '../../src/core/files.ts';
import type { AnyTable, Column, Columns } from '../define.ts';
import { allTables } from '../tables.ts';
import { allViews } from '../views.ts';

/** The databases that hold a warehouse. */
export const DATABASES = ['sqlite', 'postgres'] as const;
type Database = (typeof DATABASES)[number];

/** Extensions that distribute a PostgreSQL warehouse over several servers. */
export const DISTRIBUTIONS = ['citus'] as const;
type Distribution = (typeof DISTRIBUTIONS)[number];

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

/** The table that records the migrations of a PostgreSQL warehouse. It does not belong to the content. */
export const HISTORY_TABLE = '__drizzle_migrations';

/** Creates the table of migrations if it does not exist. */
export const CREATE_HISTORY = `CREATE TABLE IF NOT EXISTS "${HISTORY_TABLE}" (id bigint PRIMARY KEY, hash text NOT NULL, created_at bigint)`;

/**
 * The statements that give every table, view and column of a PostgreSQL warehouse its description as its comment. May be
 * repeated. Names are without a schema, as in the migrations.
 */
export function commentsSql(): string {
  const statements = [
    ...allTables.flatMap(({ name, doc, columns }) => commentsOf('TABLE', name, doc, columns)),
    ...allViews.flatMap(({ name, doc, columns }) => commentsOf('VIEW', name, doc, columns)),
  ];
  return `${statements.join('\n')}\n`;
}

function commentsOf(kind: 'TABLE' | 'VIEW', name: string, doc: string, columns: Columns): string[] {
  return [
    `COMMENT ON ${kind} "${name}" IS ${literal(doc)};`,
    ...Object.entries(columns).map(
      ([column, spec]) => `COMMENT ON COLUMN "${name}"."${column}" IS ${literal(columnComment(spec))};`,
    ),
  ];
}

/** The description of a column, with a warning if its values must not be added up. */
function columnComment({ doc, additive }: Column): string {
  return additive === false ? `${doc}. Do not sum.` : doc;
}

function literal(text: string): string {
  return `'${text.replaceAll("'", "''")}'`;
}

/** How a table is distributed over servers: by organization, or as a whole copy on each. */
type Placement = 'distributed' | 'reference';

/** The column whose value determines the server of a row. */
const DISTRIBUTION_COLUMN = 'org_id';

/**
 * How a table is distributed. A key must contain the column that rows are distributed by; it is missing in
 * the keys of the runs, because a run may end before it knows one, of the names of organizations, and of the calendar.
 */
export function placementOf(table: AnyTable): Placement {
  return table.key[0] === DISTRIBUTION_COLUMN ? 'distributed' : 'reference';
}

/**
 * The statements that distribute a PostgreSQL warehouse with Citus. All tables are colocated, so that the rows of an
 * organization are on one server and a day is committed there.
 */
function citusSql(): string {
  const distributed = allTables.filter((table) => placementOf(table) === 'distributed');
  const reference = allTables.filter((table) => placementOf(table) === 'reference');
  const first = distributed[0]?.name;
  const lines = [
    '-- Distribution: run from here on to distribute a warehouse that exists already.',
    ...distributed.map(
      ({ name }) =>
        `SELECT create_distributed_table('${name}', '${DISTRIBUTION_COLUMN}', colocate_with => '${name === first ? 'none' : first}');`,
    ),
    ...reference.map(({ name }) => `SELECT create_reference_table('${name}');`),
  ];
  return `${lines.join('\n')}\n`;
}
