import { isDay, shiftDay, type UtcDay } from '../core/day.ts';
import { isSamePair, type UnitPair } from './unit-pairs.ts';

/** The most rows of units that share a transaction; a larger unit gets its own. */
const BATCH_ROWS_MAX = 20_000;

/** Units of one stream that move in one transaction, and the range of days that is compared for it. */
export interface DayBatch {
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
