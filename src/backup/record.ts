import type { Database } from 'better-sqlite3';
import { ContentHash } from '../../schema/digest.ts';
import type { Values } from '../../schema/row.ts';
import { isObject, parseJson, textsIn } from '../core/json.ts';

/** What a table of a file held when it was written, in the schema of that time. */
export interface RecordedTable {
  readonly name: string;
  readonly columns: readonly string[];
  readonly key: readonly string[];
  readonly rows: number;
  /** Over the rows in key order, see `ContentHash`. */
  readonly sha256: string;
}

/** What a backup says of itself. */
export interface BackupRecord {
  /** Of the backup: its warehouse and its archive share it. */
  readonly id: string;
  /** An ISO instant. */
  readonly takenAt: string;
  /** The version of Daywalk that wrote it. */
  readonly version: string;
  /** The warehouse that was backed up, without its password. */
  readonly source: string;
  /** Its UUID; null if it had none. */
  readonly warehouse: string | null;
}

const NAME = 'daywalk_backup';
const TABLES = 'daywalk_backup_tables';

/** Writes into a backup what it is, and what its tables hold. */
export function writeRecord(db: Database, record: BackupRecord, recorded: readonly RecordedTable[]): void {
  db.exec(`CREATE TABLE ${NAME} (record TEXT NOT NULL)`);
  db.exec(`CREATE TABLE ${TABLES} (record TEXT NOT NULL)`);
  db.prepare(`INSERT INTO ${NAME} VALUES (?)`).run(JSON.stringify(record));
  const insert = db.prepare(`INSERT INTO ${TABLES} VALUES (?)`);
  for (const table of recorded) insert.run(JSON.stringify(table));
}

/** Reads what a backup says of itself; null if the file says nothing. */
export function readRecord(db: Database): BackupRecord | null {
  const [found] = recordsIn(db, NAME);
  if (found === undefined) return null;
  const text = (name: string) => String(found[name] ?? '');
  const { warehouse } = found;
  return {
    ...{ id: text('id'), takenAt: text('takenAt'), version: text('version'), source: text('source') },
    warehouse: typeof warehouse === 'string' ? warehouse : null,
  };
}

/** Reads what the tables of a backup held when it was written. */
export function readRecordedTables(db: Database): RecordedTable[] {
  return recordsIn(db, TABLES).flatMap(({ name, columns, key, rows, sha256 }) =>
    typeof name === 'string' && typeof rows === 'number' && typeof sha256 === 'string'
      ? [{ name, columns: textsIn(columns), key: textsIn(key), rows, sha256 }]
      : [],
  );
}

function recordsIn(db: Database, name: string): Readonly<Record<string, unknown>>[] {
  const isThere = db.prepare('SELECT 1 FROM sqlite_schema WHERE name = ?').get(name) !== undefined;
  if (!isThere) return [];
  const texts = db.prepare<[], string>(`SELECT record FROM ${name}`).pluck().all();
  return texts.map((text) => parseJson(text)).filter((record) => isObject(record));
}

/** Rows that are read at once. */
const ROWS = 1000;
const DAMAGES_MAX = 20;

/** What is wrong in a file: what SQLite reports, and tables that differ from what was recorded. One sentence each. */
export function damageOf(db: Database, recorded: readonly RecordedTable[]): string[] {
  const pages = db.prepare<[], string>(`PRAGMA integrity_check(${DAMAGES_MAX})`).pluck().all();
  const damages = pages.filter((sentence) => sentence !== 'ok');
  if (damages.length > 0) return damages;
  return recorded.flatMap((table) => {
    const { rows, sha256 } = hashOf(db, table);
    if (rows !== table.rows) return [`${table.name} has ${rows} rows, and ${table.rows} were written`];
    return sha256 === table.sha256 ? [] : [`the rows of ${table.name} differ from those that were written`];
  });
}

function hashOf(db: Database, { name, columns, key }: RecordedTable): Pick<RecordedTable, 'rows' | 'sha256'> {
  const list = (names: readonly string[]) => names.map((each) => `"${each}"`).join(', ');
  const read = db.prepare<[], Values>(`SELECT ${list(columns)} FROM "${name}" ORDER BY ${list(key)}`).raw();
  const hash = new ContentHash();
  let chunk: Values[] = [];
  let rows = 0;
  for (const row of read.iterate()) {
    rows += 1;
    if (chunk.push(row) < ROWS) continue;
    hash.add(chunk);
    chunk = [];
  }
  hash.add(chunk);
  return { rows, sha256: hash.hex() };
}
