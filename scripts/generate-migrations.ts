/**
 * Writes the next migration when `schema/` declares something that the last migration did not.
 *
 * `npm run schema:generate -- NAME` writes `schema/migrations/sqlite/NNNN_NAME.sql` with its snapshot;
 * `-- --check` writes nothing and exits with 1 when a migration is missing.
 */
import { existsSync, mkdirSync, readdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { generateSQLiteDrizzleJson, generateSQLiteMigration } from 'drizzle-kit/api';
import { sqliteTables, sqliteViews } from '../schema/sqlite.ts';
import { allTables } from '../schema/tables.ts';

const FOLDER = 'schema/migrations/sqlite';
const META = join(FOLDER, 'meta');
const EMPTY = {
  version: '6',
  dialect: 'sqlite',
  id: '',
  prevId: '',
  tables: {},
  views: {},
  enums: {},
  _meta: { tables: {}, columns: {} },
};

type Snapshot = Awaited<ReturnType<typeof generateSQLiteDrizzleJson>>;
interface Journal {
  version: string;
  dialect: 'sqlite';
  entries: { idx: number; version: string; when: number; tag: string; breakpoints: boolean }[];
}

const byDay = new Set(allTables.filter((table) => table.role === 'fact').map((table) => table.name));

/** Fact tables are looked up by their whole key only, so they are stored in it: a seventh smaller, no second B-tree. */
function withoutRowid(statement: string): string {
  const name = /^CREATE TABLE `([^`]+)`/.exec(statement)?.[1];
  return name !== undefined && byDay.has(name)
    ? statement.replace(/\);\s*$/, ') WITHOUT ROWID;\n')
    : statement;
}

const journalFile = join(META, '_journal.json');
const journal: Journal = existsSync(journalFile)
  ? JSON.parse(readFileSync(journalFile, 'utf8'))
  : { version: '7', dialect: 'sqlite', entries: [] };
const last = existsSync(META)
  ? readdirSync(META)
      .filter((file) => file.endsWith('_snapshot.json'))
      .sort()
      .at(-1)
  : undefined;
const before = last === undefined ? EMPTY : JSON.parse(readFileSync(join(META, last), 'utf8'));

const now: Snapshot = await generateSQLiteDrizzleJson(
  { ...sqliteTables, ...sqliteViews },
  before.id || undefined,
);
const statements = await generateSQLiteMigration(before, now);

if (statements.length === 0) {
  process.stdout.write('the migrations are up to date\n');
} else if (process.argv.includes('--check')) {
  process.stderr.write(
    `schema/ declares more than the migrations do; run npm run schema:generate\n${statements.join('\n')}\n`,
  );
  process.exitCode = 1;
} else {
  const index = journal.entries.length;
  const number = String(index).padStart(4, '0');
  const tag = `${number}_${process.argv[2] ?? 'change'}`;
  mkdirSync(META, { recursive: true });
  writeFileSync(join(FOLDER, `${tag}.sql`), statements.map(withoutRowid).join('--> statement-breakpoint\n'));
  writeFileSync(join(META, `${number}_snapshot.json`), `${JSON.stringify(now, null, 2)}\n`);
  journal.entries.push({ idx: index, version: '6', when: Date.now(), tag, breakpoints: true });
  writeFileSync(journalFile, `${JSON.stringify(journal, null, 2)}\n`);
  process.stdout.write(`wrote ${tag}.sql\n`);
}
