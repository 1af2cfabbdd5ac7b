import { isDay, shiftDay, type UtcDay } from '../core/day.ts';
import { isSamePair, type UnitPair } from './unit-pairs.ts';

/** Rows of the units that share a transaction; a unit that has more has a transaction of its own. */
const BATCH_ROWS_MAX = 20_000;

/** Units of one stream that are moved in one transaction, and the days that are looked at for it. */
export interface DayBatch {
  /** In the order of their days. */
  readonly pairs: readonly UnitPair[];
  /** Undefined where no other unit lies before, or after: rows that no ledger knows are then seen too. */
  readonly firstDay: UtcDay | undefined;
  readonly lastDay: UtcDay | undefined;
}

/**
 * Cuts the units of one stream, oldest first, into batches. Units that are the same on both sides are left out, unless
 * `all` are asked for. The batches cover every day that is not left out, also days that no ledger knows.
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
