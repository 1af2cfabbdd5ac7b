import type { AnyTable } from '../../schema/define.ts';
import { compareUtf8 } from '../../schema/order.ts';
import { tables, tablesOf } from '../../schema/tables.ts';
import { ChunkReader } from '../core/chunk-reader.ts';
import type { Row, Warehouse } from '../warehouse/port.ts';
import { ChangeSet } from './change-set.ts';
import { type CopyWriter, NO_UNITS } from './copy-writer.ts';
import type { Difference } from './differences.ts';
import { differencesOf, type Sides } from './sides.ts';
import { COPY_UNDER_WAY, type UnitPair } from './unit-pairs.ts';
import { unitRowsOf } from './unit-rows.ts';

const { exportUnits } = tables;
const READINESS = tablesOf('readiness');
/** Where each readiness table has the id of the report. */
const REPORT_ID = 1;
const LEDGER_COLUMNS = Object.keys(exportUnits.columns);
const STREAM = LEDGER_COLUMNS.indexOf('stream');

/** The ledger row while some reports are missing: a run on the destination would pull all reports again. */
const UNDER_WAY: Readonly<Record<string, Row[number]>> = {
  state: 'pending',
  rows: 0,
  content_sha256: null,
  settled_at: null,
  cursor: null,
  last_error: COPY_UNDER_WAY,
};

/**
 * Moves the readiness reports of an organization. A report never spans two transactions. Few changes share one transaction
 * with the ledger row. Before many, the ledger row is marked as incomplete; the last transaction moves the real one.
 */
export async function moveReadiness(
  sides: Sides,
  writer: CopyWriter,
  { orgId, pair }: { orgId: string; pair: UnitPair },
): Promise<void> {
  const about = { what: pair.stream, firstDay: pair.day, lastDay: pair.day };
  let changes = new ChangeSet();
  let isMarked = false;
  for await (const report of changedReports(sides, orgId)) {
    if (changes.isFull) {
      if (!isMarked) changes.add(exportUnits, await markOf(sides, orgId));
      isMarked = true;
      await writer.commit(changes, { ...about, units: NO_UNITS });
      changes = new ChangeSet();
    }
    for (const { table, found } of report) changes.add(table, found);
  }
  for (const part of unitRowsOf('readiness', { orgId })) {
    for await (const found of differencesOf(sides, part)) changes.add(part.table, found);
  }
  await writer.commit(changes, { ...about, units: outcomeOf(pair, isMarked || changes.rows > 0) });
}

function outcomeOf({ source }: UnitPair, isChanged: boolean) {
  if (!isChanged) return { ...NO_UNITS, unitsUnchanged: 1 };
  return source === null ? { ...NO_UNITS, unitsRemoved: 1 } : { ...NO_UNITS, unitsMoved: 1 };
}

interface TableDifferences {
  readonly table: AnyTable;
  readonly found: readonly Difference[];
}

/** Yields the differences of one report at a time, with those of its applications and criteria. */
async function* changedReports(sides: Sides, orgId: string): AsyncGenerator<TableDifferences[]> {
  const readers = READINESS.map((table) => ({
    table,
    reader: new ChunkReader(differencesOf(sides, { table, scope: { orgId } })),
  }));
  try {
    for (;;) {
      for (const { reader } of readers) await reader.fill();
      const [id] = readers
        .flatMap(({ reader }) => (reader.item === undefined ? [] : [reportOf(reader.item)]))
        .sort(compareUtf8);
      if (id === undefined) return;
      const report: TableDifferences[] = [];
      for (const { table, reader } of readers) report.push({ table, found: await takeReport(reader, id) });
      yield report;
    }
  } finally {
    for (const { reader } of readers) await reader.close();
  }
}

async function takeReport(reader: ChunkReader<Difference>, id: string): Promise<Difference[]> {
  const found: Difference[] = [];
  for await (const part of reader.takeWhile((item) => reportOf(item) === id)) found.push(...part);
  return found;
}

function reportOf({ row }: Difference): string {
  return String(row[REPORT_ID]);
}

/** Returns the change that marks the ledger row as incomplete, made from the row of the side that has one. */
async function markOf({ source, stored }: Sides, orgId: string): Promise<Difference[]> {
  const row = (await ledgerRow(source, orgId)) ?? (await ledgerRow(stored, orgId));
  if (row === undefined) return [];
  const marked = LEDGER_COLUMNS.map((name, index) =>
    name in UNDER_WAY ? (UNDER_WAY[name] ?? null) : (row[index] ?? null),
  );
  return [{ kind: 'put', row: marked }];
}

async function ledgerRow(warehouse: Warehouse, orgId: string): Promise<Row | undefined> {
  for await (const rows of warehouse.scan(exportUnits, { orgId })) {
    const row = rows.find((candidate) => candidate[STREAM] === 'readiness');
    if (row !== undefined) return row;
  }
  return undefined;
}
