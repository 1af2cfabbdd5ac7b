import type { AnyTable } from '../../schema/define.ts';
import { compareUtf8, readerOf, type Values } from '../../schema/row.ts';
import { tables } from '../../schema/tables.ts';
import type { Clock } from '../core/clock.ts';
import { StorageError } from '../core/errors.ts';
import { ChunkReader, type ScanScope, type Warehouse } from '../port/index.ts';
import { monthColumnOf, pathOf } from './lake-folder.ts';
import { type Batch, hasLanguages, lakeColumnsOf } from './parquet-columns.ts';
import { type WrittenFile, writeParquet } from './write-parquet.ts';

/** The rows of its table that a partition has. */
export type PartitionRows =
  | { readonly kind: 'none' }
  | { readonly kind: 'days'; readonly scope: ScanScope }
  | { readonly kind: 'place'; readonly place: Place };

/** Reads the rows of a partition in key order. */
function readPartition(source: RowSource, table: AnyTable, rows: PartitionRows): AsyncIterable<Batch> {
  switch (rows.kind) {
    case 'none':
      return noRows();
    case 'days':
      return readDays(source, table, rows.scope);
    case 'place':
      return readPlace(source, table, rows.place);
  }
}

async function* noRows(): AsyncGenerator<Batch> {
  yield { rows: [] };
}

async function* readDays(source: RowSource, table: AnyTable, scope: ScanScope): AsyncGenerator<Batch> {
  const chunks = scanRows(source, table, scope);
  if (hasLanguages(table)) {
    yield* withLanguages(chunks, scanRows(source, tables.userDailyLanguages, scope, LANGUAGE_COLUMNS));
    return;
  }
  for await (const rows of chunks) yield { rows };
}

async function* readPlace(source: RowSource, table: AnyTable, { path, orgId }: Place): AsyncGenerator<Batch> {
  const placeOf = placesOf(table);
  const scope = table.key[0] === 'org_id' && orgId !== null ? { orgId } : undefined;
  for await (const rows of scanRows(source, table, scope)) {
    yield { rows: rows.filter((row) => placeOf(row).path === path) };
  }
}

/**
 * Reads the rows of a partition and writes them to a file, see {@link writeParquet}.
 * @throws {StorageError} when the warehouse cannot be read.
 * @throws {Error} of the file system when the file cannot be written.
 */
export function writePartition(
  source: RowSource,
  { table, rows }: { readonly table: AnyTable; readonly rows: PartitionRows },
  path: string,
): Promise<WrittenFile> {
  const columns = lakeColumnsOf(table);
  return writeParquet(path, { name: table.name, columns }, readPartition(source, table, rows));
}

/** The most rows that are read before the process handles signals again. */
const ROWS_WITHOUT_PAUSE_MAX = 50_000;

/** Where rows are read from. */
export interface RowSource {
  readonly warehouse: Pick<Warehouse, 'scan'>;
  readonly clock: Clock;
  /** Aborted when the process has to stop. */
  readonly signal: AbortSignal;
}

/** Reads the rows of a table as `Warehouse.scan` does. Throws the reason of the signal once that is aborted. */
export async function* scanRows(
  { warehouse, clock, signal }: RowSource,
  table: AnyTable,
  scope?: ScanScope,
  columns?: readonly string[],
): AsyncGenerator<readonly Values[]> {
  let rows = 0;
  signal.throwIfAborted();
  for await (const chunk of warehouse.scan(table, scope, columns)) {
    yield chunk;
    signal.throwIfAborted();
    rows += chunk.length;
    if (rows < ROWS_WITHOUT_PAUSE_MAX) continue;
    // SQLite reads without a pause, and signals are handled in pauses only.
    await clock.sleep(0, signal);
    rows = 0;
  }
}

/** The partition of an organization and month. */
export interface Place {
  readonly path: string;
  /** Null or '' if the organization is not known. */
  readonly orgId: string | null;
  /** `YYYY-MM`; null for a table without months. */
  readonly month: string | null;
}

/** Returns a function that finds the place of a row: the same object for all rows of a partition. */
export function placesOf(table: AnyTable): (row: Values) => Place {
  const orgOf = readerOf(table, 'org_id');
  const instant = monthColumnOf(table);
  const instantOf = instant === null ? null : readerOf(table, instant);
  const known = new Map<string, Place>();
  return (row) => {
    const orgId = orgOf(row);
    const month = instantOf === null ? null : monthOfInstant(table, instantOf(row));
    const name = `${month ?? ''}/${orgId ?? ''}`;
    const own = { orgId: orgId === null ? null : String(orgId), month };
    const place = known.get(name) ?? { path: pathOf({ table, ...own }), ...own };
    known.set(name, place);
    return place;
  };
}

function monthOfInstant(table: AnyTable, value: unknown): string {
  const month = typeof value === 'string' ? /^\d{4}-\d{2}(?=-)/.exec(value)?.[0] : undefined;
  if (month !== undefined) return month;
  throw new StorageError(
    `publish ${table.name}: the warehouse has ${JSON.stringify(value)} instead of an instant`,
    { hint: 'another program has written to the warehouse; correct or delete the row' },
  );
}

/** The columns of `user_daily_languages` that {@link withLanguages} reads. */
const LANGUAGE_COLUMNS = ['date', 'user_id', 'language'] as const;

const dateOf = readerOf(tables.userDaily, 'date');
const userIdOf = readerOf(tables.userDaily, 'user_id');

/**
 * Adds to rows of `user_daily` of one organization the list of languages of each user and day, sorted; it is empty if
 * there are none. Both tables are read side by side in key order, `user_daily_languages` by {@link LANGUAGE_COLUMNS}.
 */
async function* withLanguages(
  users: AsyncIterable<readonly Values[]>,
  languages: AsyncIterable<readonly Values[]>,
): AsyncGenerator<Batch> {
  const reader = new ChunkReader(languages);
  try {
    for await (const rows of users) {
      const lists: string[][] = [];
      for (const user of rows) {
        const list: string[] = [];
        for (;;) {
          // Not awaited for each user: there are hundreds of thousands.
          if (reader.isWaiting) await reader.fill();
          const { item } = reader;
          const order = item === undefined ? 1 : compareToUser(item, user);
          if (order > 0) break;
          const [, , language] = item ?? [];
          if (order === 0) list.push(String(language));
          reader.advance();
        }
        lists.push(list);
      }
      yield { rows, languages: lists };
    }
  } finally {
    await reader.close();
  }
}

function compareToUser([date, userId]: Values, user: Values): number {
  return (
    compareUtf8(String(date), String(dateOf(user))) || compareUtf8(String(userId), String(userIdOf(user)))
  );
}
