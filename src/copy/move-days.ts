import { tablesOf } from '../../schema/tables.ts';
import type { DailyStream } from '../core/stream.ts';
import { ChangeSet } from './change-set.ts';
import type { Target, UnitOutcomes } from './copy-writer.ts';
import { type DayBatch, dayBatches } from './day-batches.ts';
import { differencesOf, type Part, type Sides } from './sides.ts';
import type { UnitPair } from './unit-pairs.ts';
import { unitRowsOf } from './unit-rows.ts';

/** What of the days is to be moved. */
export interface DaysRequest {
  readonly orgId: string;
  readonly stream: DailyStream;
  /** The units of the stream on both sides, oldest first. */
  readonly pairs: readonly UnitPair[];
  /** Compare every row, also of units that the ledgers call the same. */
  readonly all: boolean;
}

/**
 * Moves the days of a stream. A day is moved in one transaction with its ledger row, its quarantine and its
 * restatements, so the destination has it whole or not at all at every instant; small days share one. Rows of the day
 * that the source does not have are deleted with it.
 */
export async function moveDays(sides: Sides, target: Target, request: DaysRequest): Promise<void> {
  for (const batch of dayBatches(request.pairs, request)) {
    await moveBatch(sides, target, request, batch);
  }
}

/** A function of its own, so that nothing of a batch is held while the next one is read. */
async function moveBatch(sides: Sides, target: Target, request: DaysRequest, batch: DayBatch): Promise<void> {
  const { changes, days } = await changesOf(sides, partsOf(request, batch));
  await target.commit(changes, {
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

/** Everything that differs in a batch, and the days on which something does. */
async function changesOf(sides: Sides, parts: readonly Part[]) {
  const changes = new ChangeSet();
  const days = new Set<unknown>();
  for (const part of parts) {
    const dateAt = Object.keys(part.table.columns).indexOf('date');
    for await (const found of differencesOf(sides, part)) {
      changes.add(part.table, found);
      for (const { row } of found) days.add(row[dateAt]);
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
