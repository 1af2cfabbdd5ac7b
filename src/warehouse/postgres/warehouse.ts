import pg from 'pg';
import { type AnyTable, KINDS } from '../../../schema/define.ts';
import { keyOf, type Value, type Values } from '../../../schema/row.ts';
import { allTables } from '../../../schema/tables.ts';
import { UsageError } from '../../core/errors.ts';
import { commitDays } from '../../ledger/index.ts';
import type { LedgerSteps, Warehouse } from '../../port/index.ts';
import { type DayCommit, unitName } from '../../units/index.ts';
import { refusedWrites } from '../reading.ts';
import type { Migrating, SchemaExpected } from '../schema-version.ts';
import { Claims, isRunLocked } from './claims.ts';
import type { Link } from './link.ts';
import { expectSchema, migrate } from './migrate.ts';
import { oneAtATime, Readers, runSteps, select, versionOf } from './queries.ts';
import { PostgresSession, type PostgresSessionOptions } from './session.ts';
import { expectWritableSchema } from './set-up.ts';
import { type PostgresTarget, parseTarget } from './target.ts';
import { putRows, removeRows, tableIn } from './write-rows.ts';

/**
 * Opens a schema of a PostgreSQL database as a warehouse and migrates it to this version.
 * @throws {UsageError} if the URL is wrong, or if the schema is missing (unless `create`), belongs to another
 * program, or has a newer version.
 * @throws {StorageError} if it cannot be reached or written.
 */
export async function openPostgres(
  url: string,
  options: PostgresSessionOptions & Migrating & { readonly create: boolean },
): Promise<Warehouse> {
  const session = await PostgresSession.open(parseTarget(url), options);
  try {
    const upgrade = await migrate(session, options);
    if (upgrade !== undefined) options.upgraded?.(upgrade);
  } catch (error) {
    await session.close();
    throw error;
  }
  return postgresWarehouse(session);
}

/**
 * Opens a schema of a PostgreSQL database for reading only. The role needs SELECT and USAGE alone, and the server may be a
 * read-only replica.
 * @throws {UsageError} if the URL is wrong, or if the schema is missing, belongs to another program, or has another version.
 * @throws {StorageError} if it cannot be reached.
 */
export async function openPostgresForReading(
  url: string,
  { statementMsMax, ...expected }: SchemaExpected & { readonly statementMsMax?: number | undefined },
): Promise<Warehouse> {
  const target = parseTarget(url);
  const readers = new Readers(target, { statementMsMax });
  try {
    await readers.read((link) => expectSchema(link, target, expected));
  } catch (error) {
    await readers.close();
    throw error;
  }
  return {
    ...readsOf((work) => readers.read(work), readers),
    ...warehouseFacts(target),
    ...refusedWrites(target.location),
    close: () => readers.close(),
  };
}

interface PostgresNotes extends Pick<Warehouse, 'transact' | 'close'> {
  /** Makes sure that a run could write there, or create the schema. Only reads. */
  expectWritable(): Promise<void>;
}

/** Opens a schema of a PostgreSQL database for a few short transactions that write, see `notesIn`. */
export function openPostgresForNotes(url: string): PostgresNotes {
  const readers = new Readers(parseTarget(url));
  return {
    expectWritable: () => readers.read(expectWritableSchema),
    transact: (doing, steps) => readers.write(doing, (link) => runSteps(link, steps())),
    close: () => readers.close(),
  };
}

/** What is the same however the warehouse is opened. */
function warehouseFacts({
  location,
}: PostgresTarget): Pick<Warehouse, 'location' | 'dialect' | 'damages' | 'discardNew'> {
  return {
    location,
    dialect: 'postgres',
    damages: async () => [],
    discardNew: async () => false,
  };
}

type Reads = Pick<Warehouse, 'isLocked' | 'read' | 'scan' | 'rowsOf' | 'select' | 'version' | 'inSnapshot'>;

function postgresWarehouse(session: PostgresSession): Warehouse {
  const claims = new Claims(session);
  const readers = new Readers(session.target, { patience: () => session.patience() });
  const run = <Result>(link: Link, steps: LedgerSteps<Result>) =>
    runSteps(link, steps, (units) => claims.expectHeld(units));
  return {
    ...warehouseFacts(session.target),
    ...readsOf((work) => session.transaction('read', work), readers),
    lock: (options) => claims.lock(options),
    commitDays: (commits) =>
      session.transaction(`commit ${namesOf(commits)} to`, (link) => run(link, commitDays(commits))),
    transact: (doing, steps, seeing = 'one-state') =>
      seeing === 'latest'
        ? session.transaction(doing, (link) => run(link, steps()))
        : session.repeatableRead(doing, (link) => run(link, steps())),
    oneAtATime: (name, work) => oneAtATime(session, name, work),
    forgetDeleted: () => session.transaction('forget deleted values in', forgetDeleted),
    refreshStatistics: () => refreshStatistics(session),
    close: async () => {
      await readers.close();
      await session.close();
    },
  };
}

/** Runs a short read outside of snapshots. */
type ShortRead = <Result>(work: (link: Link) => Promise<Result>) => Promise<Result>;

function readsOf(short: ShortRead, readers: Readers): Reads {
  // While a snapshot is being read, every read uses it.
  const read: ShortRead = (work) =>
    readers.snapshotLink === undefined ? short(work) : work(readers.snapshotLink);
  return {
    read: (steps) => read((link) => runSteps(link, steps())),
    scan: (table, scope, columns) => readers.scan(table, scope, columns),
    rowsOf: async (table, scope, columns) => {
      const rows: Values[] = [];
      for await (const chunk of readers.scan(table, scope, columns)) rows.push(...chunk);
      return rows;
    },
    select: (query) => readers.read((link) => select(link, query)),
    version: () => readers.read(versionOf),
    isLocked: () => readers.read(isRunLocked),
    inSnapshot: (work) => readers.inSnapshot(work),
  };
}

function namesOf(commits: readonly DayCommit[]): string {
  const [first] = commits;
  const others = commits.length > 1 ? ` and ${commits.length - 1} other units` : '';
  return first === undefined ? 'nothing' : `${unitName(first)}${others}`;
}

/** Tables that have grown by fewer rows are left alone, however small they are. */
const GROWTH_MIN = 100;

/**
 * Measures the tables that have no statistics, and those that have grown by more than a tenth since, also in this session's
 * transactions before. Rows that replace others say little new. Tables of another owner are skipped.
 */
async function refreshStatistics(session: PostgresSession): Promise<void> {
  const doing = 'measure the tables of';
  // The server counts the rows of a transaction some time after it.
  await session.transaction(doing, (link) => link.query('SELECT pg_stat_force_next_flush()'));
  await session.transaction(doing, async (link) => {
    const changed = await link.query(
      `SELECT c.relname FROM pg_class c, LATERAL (
          SELECT sum(pg_stat_get_live_tuples(part)) AS rows, sum(pg_relation_size(part)) AS bytes
            FROM (SELECT c.oid UNION ALL SELECT inhrelid FROM pg_inherits WHERE inhparent = c.oid) AS parts (part)) AS held
        WHERE c.relnamespace = $1::regnamespace AND c.relkind IN ('r', 'p') AND c.relname = ANY($2)
          AND (held.rows - c.reltuples > GREATEST($3::real, c.reltuples / 10)
            OR held.bytes > 0
              AND NOT EXISTS (SELECT 1 FROM pg_stats s WHERE s.schemaname = $4 AND s.tablename = c.relname))`,
      [pg.escapeIdentifier(link.schema), allTables.map(({ name }) => name), GROWTH_MIN, link.schema],
    );
    const names = changed.map(([name]) => tableIn(link, { name: String(name) }));
    if (names.length > 0) await link.script(`ANALYZE ${names.join(', ')}`);
  });
}

/** A row that names nobody, by the types of its columns. */
const EXAMPLES: Readonly<Record<string, Value>> = {
  text: 'none',
  date: '1970-01-01',
  timestamptz: '1970-01-01T00:00:00.000Z',
  'double precision': 0,
  bigint: 0,
  boolean: 0,
  jsonb: '{}',
  json: '{}',
};

/** A day of each partition of a table; one row with NULL for a table without partitions. */
const DAYS_OF_PARTS = `SELECT substring(pg_get_expr(c.relpartbound, c.oid) FROM '[0-9]{4}-[0-9]{2}-[0-9]{2}')
  FROM (SELECT $1::regclass AS parent) AS t LEFT JOIN pg_inherits ON inhparent = parent LEFT JOIN pg_class c ON c.oid = inhrelid`;

/**
 * Measures every table again, see `Warehouse.forgetDeleted`: statistics hold samples of values. PostgreSQL keeps the old
 * statistics of a table or partition that has become empty, so each has a row that names nobody while it is measured.
 * @throws {UsageError} if another role owns the tables.
 */
async function forgetDeleted(link: Link): Promise<void> {
  await expectOwner(link);
  for (const table of allTables) {
    const days = await link.query(DAYS_OF_PARTS, [tableIn(link, table)]);
    const rows = days.map(([day]) => exampleRow(table, day));
    await putRows(link, { table, rows });
    await link.script(`ANALYZE ${tableIn(link, table)}`);
    await removeRows(link, { table, remove: rows.map(keyOf(table)) });
  }
}

/** PostgreSQL measures only for the owner, and warns others. */
async function expectOwner(link: Link): Promise<void> {
  const foreign = await link.query(
    `SELECT relname FROM pg_class WHERE relnamespace = $1::regnamespace AND relkind IN ('r', 'p')
      AND relname = ANY($2) AND NOT pg_has_role(relowner, 'USAGE') LIMIT 1`,
    [pg.escapeIdentifier(link.schema), allTables.map(({ name }) => name)],
  );
  if (foreign.length === 0) return;
  throw new UsageError(
    'the statistics of PostgreSQL may still hold deleted values: another role owns the tables',
    {
      hint: 'repeat the command as the owner of the schema: it resumes',
    },
  );
}

function exampleRow(table: AnyTable, day: Value | undefined): Value[] {
  return Object.entries(table.columns).map(
    ([name, { kind }]) => (name === 'date' ? day : null) ?? EXAMPLES[KINDS[kind].postgres] ?? null,
  );
}
