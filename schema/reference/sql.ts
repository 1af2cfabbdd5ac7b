import { type MigrationMeta, readMigrationFiles } from 'drizzle-orm/migrator';
import { FIRST_DAY } from '../../src/core/day.ts';
import { programPath } from '../../src/core/files.ts';
import type { AnyTable, Column, Columns } from '../define.ts';
import { allTables } from '../tables.ts';
import { allViews } from '../views.ts';

/** The databases that hold a warehouse. */
export const DATABASES = ['sqlite', 'postgres'] as const;
type Database = (typeof DATABASES)[number];

/** Extensions that distribute a PostgreSQL warehouse over several servers. */
export const DISTRIBUTIONS = ['citus'] as const;

/** How the tables of a PostgreSQL warehouse are kept, if not plainly: over several servers, or in partitions by month. */
type Layout = (typeof DISTRIBUTIONS)[number] | 'partitioned';

/**
 * The statements that create a warehouse: every migration in order. For PostgreSQL they are also recorded as applied, so
 * that the program accepts the result as a warehouse of this version. Names have no schema: the search path decides it.
 */
export function schemaSql(database: Database = 'sqlite', layout?: Layout): string {
  const migrations = readMigrationFiles({ migrationsFolder: programPath(`schema/migrations/${database}`) });
  const parts = migrations.map(({ sql }, index) => {
    const own = database === 'sqlite' ? sql.flatMap(withoutEdit) : sql;
    const statements = layout === 'partitioned' ? own.map(inPartitions) : own;
    return `-- Migration ${index + 1}\n${statements.map(statement).join('\n')}`;
  });
  if (database === 'postgres') parts.push(historySql(migrations), `-- What it means\n${commentsSql()}`);
  if (layout === 'citus') parts.push(citusSql());
  if (layout === 'partitioned') parts.push(monthsSql());
  return parts.join('\n');
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

/**
 * True for a table whose rows are distributed over servers by their organization; the others are a whole copy on each. A key must
 * contain the column that rows are distributed by; it is missing in the keys of the runs, because a run may end before it knows one,
 * of the names of organizations, and of the calendar.
 */
export function isDistributed({ key }: AnyTable): boolean {
  return key[0] === 'org_id';
}

/**
 * The statements that distribute a PostgreSQL warehouse with Citus. All tables are colocated, so that the rows of an
 * organization are on one server and a day is committed there.
 */
function citusSql(): string {
  const [first, ...others] = allTables.filter(isDistributed).map(({ name }) => name);
  const distribute = (name: string | undefined, group: string | undefined) =>
    `SELECT create_distributed_table('${name}', 'org_id', colocate_with => '${group}');\n`;
  const reference = allTables.filter((table) => !isDistributed(table));
  return [
    '-- Distribution: run from here on to distribute a warehouse that exists already.\n',
    ...[distribute(first, 'none'), ...others.map((name) => distribute(name, first))],
    ...reference.map(({ name }) => `SELECT create_reference_table('${name}');\n`),
  ].join('');
}

/** True for a table that grows by a row or more for each active user and day. The date is in its key. */
function isPartitioned({ role, key }: AnyTable): boolean {
  return role === 'fact' && key.includes('user_id');
}

const partitioned = allTables.filter(isPartitioned).map(({ name }) => name);

function inPartitions(sql: string): string {
  const [, name = ''] = /^\s*CREATE TABLE "(\w+)"/.exec(sql) ?? [];
  return partitioned.includes(name) ? sql.replace(/\);?\s*$/, ') PARTITION BY RANGE ("date")') : sql;
}

/**
 * The statement that gives each partitioned table a partition for every month until a year from now, and a default one for rows
 * of any other month, so that a run never fails for want of a partition. May be repeated: a month that has arrived in the default
 * partition moves to its own. Writers wait meanwhile.
 */
function monthsSql(): string {
  return `-- Months: run from here on at any time to add the next ones.
DO $months$
DECLARE parent text; month date;
BEGIN
  FOREACH parent IN ARRAY ARRAY[${partitioned.map(literal).join(', ')}] LOOP
    EXECUTE format('LOCK TABLE %1$I IN SHARE ROW EXCLUSIVE MODE;
      CREATE TABLE IF NOT EXISTS %2$I PARTITION OF %1$I DEFAULT', parent, parent || '_default');
    FOR month IN SELECT generate_series(date_trunc('month', date '${FIRST_DAY}'), now() + interval '1 year', interval '1 month') LOOP
      CONTINUE WHEN EXISTS (SELECT FROM pg_inherits JOIN pg_class c ON c.oid = inhrelid
        WHERE inhparent = parent::regclass AND c.relname = parent || to_char(month, '_YYYY_MM'));
      EXECUTE format('CREATE TABLE %3$I (LIKE %1$I);
        WITH moved AS (DELETE FROM %2$I WHERE date >= %4$L AND date < %5$L RETURNING *) INSERT INTO %3$I SELECT * FROM moved;
        ALTER TABLE %1$I ATTACH PARTITION %3$I FOR VALUES FROM (%4$L) TO (%5$L)',
        parent, parent || '_default', parent || to_char(month, '_YYYY_MM'), month, month + interval '1 month');
    END LOOP;
  END LOOP;
END
$months$;
`;
}
