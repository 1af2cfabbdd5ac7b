import { createHash } from 'node:crypto';
import type { AnyTable } from '../../schema/define.ts';
import { ContentHash } from '../../schema/digest.ts';
import type { UtcDay } from '../core/day.ts';
import { isDayUnit, type LedgerDay, type LedgerUnit, type ScanScope } from '../warehouse/port.ts';
import { pathOf } from './lake-names.ts';
import { lakeColumnsOf } from './parquet-columns.ts';
import type { PartitionRows } from './partition-rows.ts';
import { type Place, placesOf, type RowSource, scanRows } from './partition-rows.ts';

/** Raise this number when the same rows are to be written in another way: every partition is then written again. */
const LAYOUT = 2;

/** A partition that the lake should have. */
export interface PlannedPartition {
  readonly table: AnyTable;
  readonly path: string;
  /** Equal signatures mean equal rows. */
  readonly signature: string;
  readonly rows: PartitionRows;
}

/**
 * Plans the partitions of a table. Call inside a snapshot, and read their rows inside the same one. The ledger alone shows
 * which months of the analytics have changed; tables without units are read for that.
 * @throws {UsageError} for an organization whose ID is too long for a folder.
 */
export async function planTable(
  source: RowSource,
  table: AnyTable,
  units: readonly LedgerUnit[],
): Promise<PlannedPartition[]> {
  return table.role === 'fact' ? planDays(table, units) : planRows(source, table);
}

/**
 * Plans the partition of a table that has no rows at all. Without any file, a reader would know no columns, and a query of
 * the table would fail.
 */
export function emptyPartition(table: AnyTable): PlannedPartition {
  return {
    table,
    path: pathOf({ table, orgId: null, month: null }),
    signature: signatureOf(table, 'no rows'),
    rows: { kind: 'none' },
  };
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

function planDays(table: AnyTable, units: readonly LedgerUnit[]): PlannedPartition[] {
  const loaded = units.filter(isDayUnit).filter(({ stream, rows }) => stream === table.stream && rows > 0);
  return monthsOf(loaded).map(({ orgId, month, days, content }) => ({
    table,
    path: pathOf({ table, orgId, month }),
    signature: signatureOf(table, content),
    rows: { kind: 'days', scope: scopeOf(orgId, days) },
  }));
}

function monthsOf(units: readonly LedgerDay[]): Month[] {
  const months = new Map<string, Month>();
  for (const { orgId, day, contentSha256 } of units.toSorted((a, b) => (a.day < b.day ? -1 : 1))) {
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
  const hashes = new Map<Place, ContentHash>();
  for await (const rows of scanRows(source, table)) {
    for (const row of rows) {
      const place = placeOf(row);
      const hash = hashes.get(place) ?? new ContentHash();
      hash.add([row]);
      hashes.set(place, hash);
    }
  }
  return [...hashes].map(([place, hash]) => ({
    table,
    path: place.path,
    signature: signatureOf(table, hash.hex()),
    rows: { kind: 'place', place },
  }));
}
