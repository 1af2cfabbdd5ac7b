/**
 * Writes the next migration for each database if `schema/` has changed since the last one.
 *
 * `npm run schema:generate -- NAME` writes `schema/migrations/<database>/NNNN_NAME.sql` with its snapshot;
 * `-- --check` writes nothing and exits with code 1 if a migration is missing.
 */
import { existsSync, mkdirSync, readdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import {
  generateDrizzleJson,
  generateMigration,
  generateSQLiteDrizzleJson,
  generateSQLiteMigration,
} from 'drizzle-kit/api';
import { allTables } from '../schema/tables.ts';
import { postgresSchema } from './drizzle-postgres.ts';
import { sqliteSchema } from './drizzle-sqlite.ts';

type Snapshot = { id: string } & Record<string, unknown>;

interface Journal {
  version: string;
  dialect: string;
  entries: { idx: number; version: string; when: number; tag: string; breakpoints: boolean }[];
}

/** How the migrations of one database are generated. */
interface Dialect {
  readonly name: string;
  readonly folder: string;
  readonly snapshotVersion: string;
  readonly empty: Snapshot;
  snapshot(before: Snapshot): Promise<Snapshot>;
  statements(before: Snapshot, now: Snapshot): Promise<string[]>;
}

const byKey = new Set(
  allTables.filter(({ role }) => role === 'fact' || role === 'rollup').map(({ name }) => name),
);

/** Facts and rollups are queried only by key, so rows are stored in the key's B-tree: a seventh smaller. */
function withoutRowid(statement: string): string {
  const name = /^CREATE TABLE `([^`]+)`/.exec(statement)?.[1];
  return name !== undefined && byKey.has(name)
    ? statement.replace(/\);\s*$/, ') WITHOUT ROWID;\n')
    : statement;
}

/** Drops views first, so that a table can take the name of a view. */
function viewsFirst(statements: readonly string[]): string[] {
  const isDrop = (statement: string) => statement.startsWith('DROP VIEW');
  return [...statements.filter(isDrop), ...statements.filter((statement) => !isDrop(statement))];
}

/**
 * A snapshot without the views that a later one no longer has. The generator asks whether a new view is a renamed old one
 * when it finds both; with this snapshot between the two it never does.
 */
function withViewsOf(before: Snapshot, now: Snapshot): Snapshot {
  const names = Object.keys(now['views'] ?? {});
  const kept = Object.entries(before['views'] ?? {}).filter(([name]) => names.includes(name));
  return { ...before, views: Object.fromEntries(kept) };
}

/**
 * Corrects the generator, which adds the default schema, quotes the collation of keys like a type, and does not know that
 * PostgreSQL makes no boolean of a bigint by itself.
 */
function corrected(statement: string): string {
  return statement
    .replaceAll('"public".', '')
    .replaceAll('"text COLLATE "C""', 'text COLLATE "C"')
    .replaceAll(
      /ALTER COLUMN ("\w+") SET DATA TYPE boolean;/g,
      'ALTER COLUMN $1 SET DATA TYPE boolean USING $1 <> 0;',
    );
}

const EMPTY = { id: '', prevId: '', tables: {}, views: {}, enums: {} };

const sqlite: Dialect = {
  name: 'sqlite',
  folder: 'schema/migrations/sqlite',
  snapshotVersion: '6',
  empty: { ...EMPTY, version: '6', dialect: 'sqlite', _meta: { tables: {}, columns: {} } },
  snapshot: (before) => generateSQLiteDrizzleJson(sqliteSchema, before.id || undefined) as Promise<Snapshot>,
  statements: async (before, now) =>
    (await generateSQLiteMigration(before as never, now as never)).map(withoutRowid),
};

const postgres: Dialect = {
  name: 'postgresql',
  folder: 'schema/migrations/postgres',
  snapshotVersion: '7',
  empty: {
    ...EMPTY,
    version: '7',
    dialect: 'postgresql',
    schemas: {},
    sequences: {},
    roles: {},
    policies: {},
    _meta: { schemas: {}, tables: {}, columns: {} },
  },
  snapshot: async (before) =>
    generateDrizzleJson(postgresSchema, before.id || undefined) as unknown as Snapshot,
  statements: async (before, now) => (await generateMigration(before as never, now as never)).map(corrected),
};

for (const dialect of [sqlite, postgres]) await generate(dialect);

async function generate(dialect: Dialect): Promise<void> {
  const { name, folder } = dialect;
  const meta = join(folder, 'meta');
  const journalFile = join(meta, '_journal.json');
  const journal: Journal = existsSync(journalFile)
    ? JSON.parse(readFileSync(journalFile, 'utf8'))
    : { version: '7', dialect: name, entries: [] };
  const before = lastSnapshot(meta) ?? dialect.empty;
  const now = await dialect.snapshot(before);
  const kept = withViewsOf(before, now);
  const statements = viewsFirst([
    ...(await dialect.statements(before, kept)),
    ...(await dialect.statements(kept, now)),
  ]);
  if (statements.length === 0) {
    process.stdout.write(`the migrations of ${name} are up to date\n`);
    return;
  }
  if (process.argv.includes('--check')) {
    process.stderr.write(
      `schema/ declares more than the migrations of ${name} do; run npm run schema:generate\n${statements.join('\n')}\n`,
    );
    process.exitCode = 1;
    return;
  }
  const number = String(journal.entries.length).padStart(4, '0');
  const tag = `${number}_${process.argv[2] ?? 'change'}`;
  mkdirSync(meta, { recursive: true });
  writeFileSync(join(folder, `${tag}.sql`), statements.join('--> statement-breakpoint\n'));
  writeFileSync(join(meta, `${number}_snapshot.json`), `${JSON.stringify(now, null, 2)}\n`);
  journal.entries.push({
    idx: journal.entries.length,
    version: dialect.snapshotVersion,
    when: Date.now(),
    tag,
    breakpoints: true,
  });
  writeFileSync(journalFile, `${JSON.stringify(journal, null, 2)}\n`);
  process.stdout.write(`wrote ${folder}/${tag}.sql\n`);
}

function lastSnapshot(meta: string): Snapshot | undefined {
  if (!existsSync(meta)) return undefined;
  const last = readdirSync(meta)
    .filter((file) => file.endsWith('_snapshot.json'))
    .sort()
    .at(-1);
  return last === undefined ? undefined : JSON.parse(readFileSync(join(meta, last), 'utf8'));
}
