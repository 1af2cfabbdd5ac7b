import type { AnyTable } from '../../schema/define.ts';
import { collectorOf, columnsOf, compareUtf8, decoderOf, type RowOf, readerOf } from '../../schema/row.ts';
import { tables, tablesOf } from '../../schema/tables.ts';
import { isDay, shiftDay, type UtcDay } from '../core/day.ts';
import type { DailyStream } from '../core/stream.ts';
import { ChunkReader } from '../port/index.ts';
import { ChangeSet, type CopyWriter, NO_UNITS, type UnitOutcomes } from './copy-writer.ts';
import {
  type Difference,
  differencesOf,
  isSamePair,
  type Part,
  type Sides,
  type Source,
  type UnitPair,
  unitRowsOf,
} from './sides.ts';

/** The days to move. */
interface DaysRequest {
  readonly orgId: string;
  readonly stream: DailyStream;
  /** The units of the stream on both sides, oldest first. */
  readonly pairs: readonly UnitPair[];
  /** Compare every row, also of units on which the ledgers agree. */
  readonly all: boolean;
}

/**
 * Moves the days of a stream. A day moves in one transaction with its ledger row, its quarantine and its restatements, so
 * that the destination has all of it or nothing at every instant. Small days share a transaction. Rows of the day that the
 * source lacks are deleted in the same transaction.
 */
export async function moveDays(sides: Sides, writer: CopyWriter, request: DaysRequest): Promise<void> {
  let written = Promise.resolve();
  try {
    for (const batch of dayBatches(request.pairs, request)) {
      const { changes, days } = await changesOf(sides, partsOf(request, batch));
      await written;
      written = writer.commit(changes, {
        what: request.stream,
        firstDay: batch.pairs[0]?.day ?? '',
        lastDay: batch.pairs.at(-1)?.day ?? '',
        units: outcomesOf(batch, days),
      });
      // What fails is thrown where it is awaited.
      written.catch(() => undefined);
      // The next batch is read meanwhile, unless this one takes much memory.
      if (changes.rows > BATCH_ROWS_MAX) await written;
    }
  } finally {
    await written;
  }
}

function partsOf({ orgId, stream }: DaysRequest, { firstDay, lastDay }: DayBatch): Part[] {
  const scope = {
    orgId,
    ...(firstDay === undefined ? {} : { firstDay }),
    ...(lastDay === undefined ? {} : { lastDay }),
  };
  return [...tablesOf(stream).map((table) => ({ table, scope })), ...unitRowsOf(stream, scope)];
}

/** Collects the differences of a batch, and the days that they are on. */
async function changesOf(sides: Sides, parts: readonly Part[]) {
  const changes = new ChangeSet();
  const days = new Set<unknown>();
  for (const part of parts) {
    const dateOf = readerOf(part.table, 'date');
    for await (const found of differencesOf(sides, part)) {
      changes.add(part.table, found);
      for (const { row } of found) days.add(dateOf(row));
    }
  }
  return { changes, days };
}

function outcomesOf({ pairs }: DayBatch, days: ReadonlySet<unknown>): UnitOutcomes {
  const changed = pairs.filter(({ day }) => days.has(day));
  const unitsRemoved = changed.filter(({ source }) => source === null).length;
  return {
    unitsMoved: changed.length - unitsRemoved,
    unitsUnchanged: pairs.length - changed.length,
    unitsRemoved,
  };
}

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

async function ledgerRow(warehouse: Pick<Source, 'scan'>, orgId: string) {
  for await (const rows of warehouse.scan(exportUnits, { orgId })) {
    const unit = rows.map(decodeUnit).find(({ stream }) => stream === 'readiness');
    if (unit !== undefined) return unit;
  }
  return undefined;
}

/** Moves a table whose rows belong to no unit, in transactions of bounded size. */
export async function moveTable(sides: Sides, writer: CopyWriter, table: AnyTable): Promise<void> {
  const about = { what: table.name, firstDay: '', lastDay: '', units: NO_UNITS } as const;
  let changes = new ChangeSet();
  for await (const found of differencesOf(sides, { table })) {
    changes.add(table, found);
    if (!changes.isFull) continue;
    await writer.commit(changes, about);
    changes = new ChangeSet();
  }
  await writer.commit(changes, about);
}

/** The most rows of units that share a transaction; a larger unit gets its own. */
const BATCH_ROWS_MAX = 20_000;

/** Units of one stream that move in one transaction, and the range of days that is compared for it. */
interface DayBatch {
  /** Oldest day first. */
  readonly pairs: readonly UnitPair[];
  /** Undefined in the first batch (for `lastDay`: the last one), so that rows of days outside of both ledgers are compared too. */
  readonly firstDay: UtcDay | undefined;
  readonly lastDay: UtcDay | undefined;
}

/**
 * Divides the units of one stream, oldest first, into batches. Units that are equal on both sides are left out unless `all`
 * is set. Together the batches cover every day that is not left out, also days that neither ledger knows.
 */
export function dayBatches(pairs: readonly UnitPair[], { all }: { readonly all: boolean }): DayBatch[] {
  const batches: DayBatch[] = [];
  let open: UnitPair[] = [];
  let openRows = 0;
  let firstDay: UtcDay | undefined;
  const close = (lastDay: UtcDay | undefined) => {
    if (open.length > 0) batches.push({ pairs: open, firstDay, lastDay });
    open = [];
    openRows = 0;
  };
  for (const pair of pairs) {
    const { day } = pair;
    if (!isDay(day)) continue;
    const rows = Math.max(pair.source?.rows ?? 0, pair.stored?.rows ?? 0);
    if (!all && isSamePair(pair)) {
      close(shiftDay(day, -1));
      firstDay = shiftDay(day, 1);
      continue;
    }
    if (open.length > 0 && openRows + rows > BATCH_ROWS_MAX) {
      close(shiftDay(day, -1));
      firstDay = day;
    }
    open.push(pair);
    openRows += rows;
  }
  close(undefined);
  return batches;
}
