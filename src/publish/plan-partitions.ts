import { createHash } from 'node:crypto';
import type { AnyTable } from '../../schema/define.ts';
import { ContentHash } from '../../schema/digest.ts';
import type { UtcDay } from '../core/day.ts';
import { readOrganizationIds, readUnits } from '../ledger/index.ts';
import type { ScanScope, Warehouse } from '../port/index.ts';
import { isDayUnit, type LedgerDay, type LedgerUnit } from '../units/index.ts';
import { pathOf } from './lake-folder.ts';
import { lakeColumnsOf } from './parquet-columns.ts';
import { type PartitionRows, type Place, placesOf, type RowSource, scanRows } from './partition-rows.ts';

/** The warehouse that is published. */
export interface LakeSource extends RowSource {
  readonly warehouse: Warehouse;
  /** Notes a place before anything of the warehouse is written there. @default not noted */
  readonly begins?: (place: string) => Promise<void>;
}

/** A table and the partitions that a lake should have of it. */
export interface PlannedTable {
  readonly table: AnyTable;
  readonly partitions: readonly PlannedPartition[];
}

/** Plans the partitions of tables, see {@link planTable}. */
export async function planAll(source: LakeSource, tables: readonly AnyTable[]): Promise<PlannedTable[]> {
  const { warehouse } = source;
  const units: LedgerUnit[] = [];
  for (const orgId of await readOrganizationIds(warehouse))
    units.push(...(await readUnits(warehouse, orgId)));
  const planned: PlannedTable[] = [];
  for (const table of tables) planned.push({ table, partitions: await planTable(source, table, units) });
  return planned;
}

/** Raise this number when the same rows are to be written in another way: every partition is then written again. */
const LAYOUT = 3;

/** A partition that the lake should have. */
export interface PlannedPartition extends Place {
  readonly table: AnyTable;
  /** Equal signatures mean equal rows. */
  readonly signature: string;
  readonly rows: PartitionRows;
}

/**
 * Plans the partitions of a table. Call inside a snapshot, and read their rows inside the same one. The ledger alone shows
 * which months of the analytics have changed; tables without units are read for that.
 * @throws {UsageError} for an organization whose ID is too long for a folder.
 */
async function planTable(
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
    ...{ table, orgId: null, month: null, path: pathOf({ table, orgId: null, month: null }) },
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
    ...{ table, orgId, month, path: pathOf({ table, orgId, month }) },
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
    ...place,
    table,
    signature: signatureOf(table, hash.hex()),
    rows: { kind: 'place', place },
  }));
}
