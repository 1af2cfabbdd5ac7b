import { createHash } from 'node:crypto';
import type { AnyTable } from '../../schema/define.ts';
import { ContentHash } from '../../schema/digest.ts';
import { tables } from '../../schema/tables.ts';
import { isDay, type UtcDay } from '../core/day.ts';
import { StorageError } from '../core/errors.ts';
import type { LedgerUnit, Row, ScanScope } from '../warehouse/port.ts';
import { monthColumnOf, pathOf } from './lake/names.ts';
import { withLanguages } from './languages.ts';
import { type Batch, hasLanguages, lakeColumnsOf } from './parquet/column.ts';
import { type RowSource, scanRows } from './rows.ts';

/** Changes when the same rows are to be written in another way: every partition is written again then. */
const LAYOUT = 1;

/** A partition as the warehouse has it. */
export interface PlannedPartition {
  readonly path: string;
  /** Equal signatures mean equal rows. */
  readonly signature: string;
  read(): AsyncIterable<Batch>;
}

/**
 * The partitions that a table has, by the warehouse. Call within a snapshot, and read the rows within the same.
 * Days and months of the analytics are told apart by the ledger alone; tables without it are read to tell.
 * @throws {UsageError} for an organization whose id is too long for a folder.
 */
export async function planTable(
  source: RowSource,
  table: AnyTable,
  units: readonly LedgerUnit[],
): Promise<PlannedPartition[]> {
  return table.role === 'fact' ? planDays(source, table, units) : planRows(source, table);
}

/**
 * The partition of a table that has no rows anywhere. Without a file a reader would know no columns, and a query of the
 * table would fail.
 */
export function emptyPartition(table: AnyTable): PlannedPartition {
  return {
    path: pathOf({ table, orgId: null, month: null }),
    signature: signatureOf(table, 'no rows'),
    read: noRows,
  };
}

async function* noRows(): AsyncGenerator<Batch> {
  yield { rows: [] };
}

function signatureOf(table: AnyTable, content: unknown): string {
  return createHash('sha256')
    .update(JSON.stringify([LAYOUT, table.name, lakeColumnsOf(table), content]))
    .digest('hex');
}

interface Month {
  readonly orgId: string;
  readonly month: string;
  readonly days: UtcDay[];
  /** Day and digest of each unit. */
  readonly content: [day: string, sha256: string][];
}

function planDays(source: RowSource, table: AnyTable, units: readonly LedgerUnit[]): PlannedPartition[] {
  const loaded = units.filter(({ stream, rows }) => stream === table.stream && rows > 0);
  return monthsOf(loaded).map(({ orgId, month, days, content }) => ({
    path: pathOf({ table, orgId, month }),
    signature: signatureOf(table, content),
    read: () => readDays(source, table, scopeOf(orgId, days)),
  }));
}

async function* readDays(source: RowSource, table: AnyTable, scope: ScanScope): AsyncGenerator<Batch> {
  const chunks = scanRows(source, table, scope);
  if (hasLanguages(table)) {
    yield* withLanguages(chunks, scanRows(source, tables.userDailyLanguages, scope));
    return;
  }
  for await (const rows of chunks) yield { rows };
}

function monthsOf(units: readonly LedgerUnit[]): Month[] {
  const months = new Map<string, Month>();
  for (const { orgId, day, contentSha256 } of units.toSorted((a, b) => (a.day < b.day ? -1 : 1))) {
    if (!isDay(day)) continue;
    const month = day.slice(0, 7);
    const name = JSON.stringify([orgId, month]);
    const known = months.get(name) ?? { orgId, month, days: [], content: [] };
    known.days.push(day);
    known.content.push([day, contentSha256 ?? '']);
    months.set(name, known);
  }
  return [...months.values()];
}

function scopeOf(orgId: string, days: readonly UtcDay[]): ScanScope {
  const [firstDay, lastDay] = [days.at(0), days.at(-1)];
  return { orgId, ...(firstDay && lastDay ? { firstDay, lastDay } : {}) };
}

async function planRows(source: RowSource, table: AnyTable): Promise<PlannedPartition[]> {
  const placeOf = placesOf(table);
  const contents = new Map<Place, ContentHash>();
  for await (const rows of scanRows(source, table)) {
    for (const [place, part] of groupedBy(rows, placeOf)) {
      const content = contents.get(place) ?? new ContentHash();
      content.add(part);
      contents.set(place, content);
    }
  }
  return [...contents].map(([place, content]) => ({
    path: place.path,
    signature: signatureOf(table, content.hex()),
    read: () => readPlace(source, table, { place, placeOf }),
  }));
}

async function* readPlace(
  source: RowSource,
  table: AnyTable,
  { place, placeOf }: { readonly place: Place; placeOf(row: Row): Place },
): AsyncGenerator<Batch> {
  const { orgId } = place;
  const scope = table.key[0] === 'org_id' && orgId !== null ? { orgId } : undefined;
  for await (const rows of scanRows(source, table, scope)) {
    yield { rows: rows.filter((row) => placeOf(row) === place) };
  }
}

/** Where rows of an organization and month go. */
interface Place {
  readonly path: string;
  readonly orgId: string | null;
}

/** Tells the place of a row of a table that is not by day: the same one for rows of the same partition. */
function placesOf(table: AnyTable): (row: Row) => Place {
  const names = Object.keys(table.columns);
  const org = names.indexOf('org_id');
  const instant = names.indexOf(monthColumnOf(table) ?? '');
  const known = new Map<string, Place>();
  return (row) => {
    const orgId = row[org] ?? null;
    const month = instant < 0 ? null : monthOfInstant(table, row[instant]);
    const name = `${month ?? ''}/${orgId ?? ''}`;
    const place = known.get(name) ?? placeAt(table, orgId === null ? null : String(orgId), month);
    known.set(name, place);
    return place;
  };
}

function placeAt(table: AnyTable, orgId: string | null, month: string | null): Place {
  return { path: pathOf({ table, orgId, month }), orgId };
}

function monthOfInstant(table: AnyTable, value: unknown): string {
  const month = typeof value === 'string' ? /^\d{4}-\d{2}(?=-)/.exec(value)?.[0] : undefined;
  if (month !== undefined) return month;
  throw new StorageError(
    `publish ${table.name}: the warehouse has ${JSON.stringify(value)} where an instant belongs`,
    { hint: 'something else has written to the warehouse; correct or delete the row' },
  );
}

function groupedBy<Item, Group>(items: readonly Item[], groupOf: (item: Item) => Group): Map<Group, Item[]> {
  const groups = new Map<Group, Item[]>();
  for (const item of items) {
    const group = groupOf(item);
    const known = groups.get(group);
    if (known === undefined) groups.set(group, [item]);
    else known.push(item);
  }
  return groups;
}
