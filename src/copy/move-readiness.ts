import type { AnyTable } from '../../schema/define.ts';
import { compareUtf8 } from '../../schema/order.ts';
import { collectorOf, columnsOf, decoderOf, type RowOf, readerOf } from '../../schema/row.ts';
import { tables, tablesOf } from '../../schema/tables.ts';
import { ChunkReader } from '../core/chunk-reader.ts';
import { ChangeSet } from './change-set.ts';
import { type CopyWriter, NO_UNITS } from './copy-writer.ts';
import type { Difference } from './differences.ts';
import { differencesOf, type Sides, type Source } from './sides.ts';
import type { UnitPair } from './unit-pairs.ts';
import { unitRowsOf } from './unit-rows.ts';

const { exportUnits } = tables;
const READINESS = tablesOf('readiness');
const decodeUnit = decoderOf(exportUnits);

/** The ledger row while some reports are missing: a run on the destination would pull all reports again. */
const UNDER_WAY: Partial<RowOf<typeof exportUnits>> = {
  state: 'pending',
  rows: 0,
  content_sha256: null,
  settled_at: null,
  cursor: null,
  last_error: 'reports are being copied; run daywalk copy again to complete them',
};
const encodeUnderWay = collectorOf(columnsOf(exportUnits), (name) => (name in UNDER_WAY ? 1 : 0));

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
  const readers = READINESS.map((table) => {
    const idOf = readerOf(table, 'report_id');
    return {
      table,
      reader: new ChunkReader(differencesOf(sides, { table, scope: { orgId } })),
      reportOf: ({ row }: Difference) => String(idOf(row)),
    };
  });
  try {
    for (;;) {
      for (const { reader } of readers) await reader.fill();
      const [id] = readers
        .flatMap(({ reader, reportOf }) => (reader.item === undefined ? [] : [reportOf(reader.item)]))
        .sort(compareUtf8);
      if (id === undefined) return;
      const report: TableDifferences[] = [];
      for (const { table, reader, reportOf } of readers) {
        const found: Difference[] = [];
        for await (const part of reader.takeWhile((item) => reportOf(item) === id)) found.push(...part);
        report.push({ table, found });
      }
      yield report;
    }
  } finally {
    for (const { reader } of readers) await reader.close();
  }
}

/** Returns the change that marks the ledger row as incomplete, made from the row of the side that has one. */
async function markOf({ source, stored }: Sides, orgId: string): Promise<Difference[]> {
  const unit = (await ledgerRow(source, orgId)) ?? (await ledgerRow(stored, orgId));
  return unit === undefined ? [] : [{ kind: 'put', row: encodeUnderWay(unit, UNDER_WAY) }];
}

async function ledgerRow(warehouse: Source, orgId: string) {
  for await (const rows of warehouse.scan(exportUnits, { orgId })) {
    const unit = rows.map(decodeUnit).find(({ stream }) => stream === 'readiness');
    if (unit !== undefined) return unit;
  }
  return undefined;
}
