import type { DayBatch } from '../../batch.ts';
import type { RangeGauge } from '../schedule/range-gauge.ts';
import type { Schedule } from '../schedule/schedule.ts';
import type { UnitClaims } from './unit-claims.ts';

/**
 * About how many units are claimed at once: enough to keep all requests busy, few enough to leave some to other
 * workers.
 */
export const CLAIMED_UNITS = 16;

export interface ClaimedBatchesOptions {
  readonly schedule: Schedule;
  readonly gauge: RangeGauge;
  readonly claims: UnitClaims;
}

/** Takes batches from the schedule and claims them for this worker, some at a time. */
export class ClaimedBatches {
  readonly #options: ClaimedBatchesOptions;
  /** Batches that are claimed and wait for their turn. */
  readonly #claimed: DayBatch[] = [];
  #claiming: Promise<void> | undefined;

  constructor(options: ClaimedBatchesOptions) {
    this.#options = options;
  }

  /** True if there is no batch to take now. */
  get isEmpty(): boolean {
    return this.#claimed.length === 0 && this.#options.schedule.isEmpty;
  }

  /** The next batch; undefined when none is left. */
  async take(): Promise<DayBatch | undefined> {
    for (;;) {
      const batch = this.#claimed.shift();
      if (batch !== undefined || (this.#claiming === undefined && this.#options.schedule.isEmpty))
        return batch;
      this.#claiming ??= this.#claimMore();
      await this.#claiming;
    }
  }

  async #claimMore(): Promise<void> {
    const { schedule, gauge, claims } = this.#options;
    const batches: DayBatch[] = [];
    for (let units = 0; units < CLAIMED_UNITS; units += batches.at(-1)?.days.length ?? 0) {
      const batch = schedule.take((stream) => gauge.daysFor(stream));
      if (batch === undefined) break;
      batches.push(batch);
    }
    try {
      const claimed = await claims.take(batches);
      gauge.recordTaken(Math.max(0, ...claimed.map(({ days }) => days.length)));
      this.#claimed.push(...claimed);
    } finally {
      this.#claiming = undefined;
    }
  }
}
