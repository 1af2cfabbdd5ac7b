import Sqlite, { type Database, type Statement } from 'better-sqlite3';
import type { AnyTable } from '../../schema/define.ts';
import { ContentHash } from '../../schema/digest.ts';
import { columnsOf, encoderOf, type Values } from '../../schema/row.ts';
import { allTables, tables, unpublishedTables } from '../../schema/tables.ts';
import { canonicalRow, inTurns } from '../copy/index.ts';
import type { Clock } from '../core/clock.ts';
import { StorageError } from '../core/errors.ts';
import { storageError } from '../core/sqlite-files.ts';
import { identityRow, readIdentity } from '../identity/index.ts';
import type { Warehouse } from '../port/index.ts';
import { withWarehouse } from '../warehouse/index.ts';
import { COPY_MARK, type Place, type PlacedFile, PUBLISHED_COPY, putFile } from './file-place.ts';
import { damageOf, type RecordedTable } from './record.ts';

/** The tables whose rows a published file has. It has all tables, so that every view works. */
const TABLES_FOR_READERS = allTables.filter((table) => !unpublishedTables.includes(table));
const encodeIdentity = encoderOf(tables.identity);

/** Pages that are kept in memory while a file is filled. */
const CACHE_KIB = 32_000;
/** Bits of `PRAGMA optimize`: analyze a sample of every table. */
const OPTIMIZE_ALL_TABLES = 0x10002;

interface Filling {
  /** Is read in one snapshot; a run may write meanwhile. */
  readonly source: Warehouse;
  /** The tables whose rows are written. */
  readonly tables: readonly AnyTable[];
  /** The user version of the file. */
  readonly mark: number;
  /** How many of the newest migrations the source does not have: the file gets its schema. @default 0 */
  readonly leaving?: number | undefined;
  readonly clock: Clock;
  readonly signal: AbortSignal;
}

/**
 * Writes one state of a warehouse for readers as a single SQLite file, whatever its database: the rows of all tables but those that
 * tell whom the gate keeps out, or hold raw records.
 * @throws {UsageError} if the path holds something other than an earlier published copy.
 */
export function writeCopy(
  path: string,
  filling: Omit<Filling, 'tables' | 'mark' | 'leaving'> & Pick<Place, 'begins'>,
): Promise<PlacedFile> {
  const { source, clock } = filling;
  return putFile({ ...filling, path, kind: PUBLISHED_COPY, source: fileOf(source) }, async (part) => {
    const parent = await readIdentity(source);
    const identity = encodeIdentity(identityRow({ parent, madeBy: 'publish', at: clock.now() }));
    const own = { ...filling, tables: TABLES_FOR_READERS, mark: COPY_MARK };
    await fillFile(part, own, (db) => void insertInto(db, tables.identity).run(identity));
  });
}

/** The file of a warehouse; null in PostgreSQL. */
export function fileOf({ dialect, location }: Warehouse): string | null {
  return dialect === 'sqlite' ? location : null;
}

/**
 * Fills an empty file with the rows of a warehouse in key order, so that no page is free, and compares every table with what was
 * read. Returns what each table holds.
 * @param finish adds what else belongs into the file. @default nothing
 * @throws {StorageError} if a table differs.
 */
export async function fillFile(
  part: string,
  { source, tables: filled, mark, leaving = 0, clock, signal }: Filling,
  finish: (db: Database, written: readonly RecordedTable[]) => void = () => undefined,
): Promise<readonly RecordedTable[]> {
  await withWarehouse(part, { clock, leaving, create: true }, async () => undefined);
  const db = new Sqlite(part);
  try {
    // The file is made durable as a whole. Unlike a warehouse it has no log: readers who may not write could not open that.
    db.pragma('journal_mode = DELETE');
    db.pragma('journal_mode = MEMORY');
    db.pragma('synchronous = OFF');
    db.pragma(`cache_size = -${CACHE_KIB}`);
    // Migrations leave free pages.
    db.exec('VACUUM');
    const written: RecordedTable[] = [];
    await source.inSnapshot(async () => {
      db.exec('BEGIN');
      const stored = leaving === 0 ? filled : filled.flatMap((table) => tableIn(db, table));
      for (const table of stored) written.push(await fillTable(db, source, table, signal));
      intoFile(db, () => db.exec('COMMIT'));
    });
    finish(db, written);
    db.pragma(`optimize = ${OPTIMIZE_ALL_TABLES}`);
    db.pragma(`user_version = ${mark}`);
    signal.throwIfAborted();
    const [damage] = damageOf(db, written);
    if (damage === undefined) return written;
    throw new StorageError(`write ${part}: ${damage}`, { hint: 'check the disk, and run again' });
  } finally {
    db.close();
  }
}

/** The table with the columns that it has in a file; none if it is not there. */
function tableIn(db: Database, table: AnyTable): AnyTable[] {
  // Some tables were views.
  const found = db
    .prepare<[string], string>(
      "SELECT c.name FROM sqlite_master t, pragma_table_info(t.name) c WHERE t.type = 'table' AND t.name = ?",
    )
    .pluck()
    .all(table.name);
  const columns = Object.entries(table.columns).filter(([name]) => found.includes(name));
  return found.length === 0 ? [] : [{ ...table, columns: Object.fromEntries(columns) }];
}

async function fillTable(
  db: Database,
  source: Warehouse,
  table: AnyTable,
  signal: AbortSignal,
): Promise<RecordedTable> {
  const insert = insertInto(db, table);
  // Databases store JSON in different forms.
  const canonical = canonicalRow(table);
  const hash = new ContentHash();
  let count = 0;
  for await (const chunk of inTurns(source.scan(table), signal)) {
    const rows = chunk.map(canonical);
    intoFile(db, () => {
      for (const row of rows) insert.run(row);
    });
    hash.add(rows);
    count += rows.length;
  }
  return { name: table.name, columns: columnsOf(table), key: table.key, rows: count, sha256: hash.hex() };
}

/** The source would take an error of the file for its own. */
function intoFile({ name }: Database, write: () => void): void {
  try {
    write();
  } catch (error) {
    throw storageError(error, 'write', name);
  }
}

function insertInto(db: Database, table: AnyTable): Statement<[Values]> {
  const columns = columnsOf(table);
  const names = columns.map((name) => `"${name}"`).join(', ');
  return db.prepare<[Values]>(
    `INSERT INTO "${table.name}" (${names}) VALUES (${columns.map(() => '?').join(', ')})`,
  );
}
