import { readerOf } from '../../schema/row.ts';
import { tablesOf } from '../../schema/tables.ts';
import type { DailyStream } from '../core/stream.ts';
import { ChangeSet } from './change-set.ts';
import type { CopyWriter, UnitOutcomes } from './copy-writer.ts';
import { type DayBatch, dayBatches } from './day-batches.ts';
import { differencesOf, type Part, type Sides } from './sides.ts';
import type { UnitPair } from './unit-pairs.ts';
import { unitRowsOf } from './unit-rows.ts';

/** The days to move. */
export interface DaysRequest {
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
  for (const batch of dayBatches(request.pairs, request)) {
    await moveBatch(sides, writer, request, batch);
  }
}

/** A separate function, so that the memory of a batch is free before the next one is read. */
async function moveBatch(
  sides: Sides,
  writer: CopyWriter,
  request: DaysRequest,
  batch: DayBatch,
): Promise<void> {
  const { changes, days } = await changesOf(sides, partsOf(request, batch));
  await writer.commit(changes, {
    what: request.stream,
    firstDay: batch.pairs[0]?.day ?? '',
    lastDay: batch.pairs.at(-1)?.day ?? '',
    units: outcomesOf(batch, days),
  });
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
