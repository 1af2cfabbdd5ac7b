import { BadRequestError } from '../../../api/errors.ts';
import type { UtcDay } from '../../../core/day.ts';
import { DaywalkError, DefectError } from '../../../core/errors.ts';
import type { DailyStream } from '../../../core/stream.ts';
import { type DayUnit, dayKey } from '../../../warehouse/port.ts';
import { batchName, type DayBatch } from '../../batch.ts';
import { RangeMisfitsError, UnclearRangeError } from '../../validate.ts';
import type { UnitClaims } from '../claims/unit-claims.ts';
import type { Outcomes } from '../outcomes.ts';
import type { RangeGauge } from '../schedule/range-gauge.ts';
import type { Schedule } from '../schedule/schedule.ts';
import { chooseStandIn } from '../watch/stand-in.ts';
import type { Watch } from '../watch/watch.ts';

/** What seeing to failures needs. */
export interface FailedBatchesOptions {
  readonly orgId: string;
  readonly schedule: Schedule;
  readonly gauge: RangeGauge;
  readonly claims: UnitClaims;
  readonly outcomes: Outcomes;
  readonly watch: Watch;
  /** Aborted when the run is to end. */
  readonly signal: AbortSignal;
}

/** Sees to batches that failed: what is asked for again, and how, and what is put on record. */
export class FailedBatches {
  readonly #options: FailedBatchesOptions;

  constructor(options: FailedBatchesOptions) {
    this.#options = options;
  }

  /** What failed as a range is asked for in shorter ones, down to the day that makes it fail. */
  async failed(batch: DayBatch, requests: number, thrown: unknown): Promise<void> {
    const { gauge, outcomes, claims } = this.#options;
    const { stream, days } = batch;
    const isRange = days.length > 1;
    // An abort is not the unit's failure: it stays as it was, and the next run pulls it.
    if (this.#options.signal.aborted) return;
    const error = thrown instanceof DaywalkError ? thrown : new DefectError(batchName(batch), thrown);
    if (isRange && error instanceof BadRequestError) {
      const isTooLong = gauge.refused(days.length);
      // As long a range was answered before: this one has a day that makes it fail.
      if (!isTooLong) return this.again(stream, days, Math.ceil(days.length / 2));
      await this.freeAll(stream, days);
      return this.#options.schedule.putBack(stream, days);
    }
    gauge.undecided(days.length);
    // A part that fits nowhere does not keep the other days of the range from being compared.
    if (error instanceof RangeMisfitsError)
      await this.again(stream, this.#watched(batch), Math.ceil(days.length / 2));
    else this.#unwatch(batch, error);
    const pulled = days.filter((day) => !this.#isWatched({ stream, day }));
    if (isRange && error.effect !== 'run') {
      // A range that says too little is an answer all the same.
      if (error instanceof UnclearRangeError) outcomes.answered(stream);
      else if (pulled.length === days.length) outcomes.unanswered(stream, error);
      return this.again(stream, pulled, 1);
    }
    if (pulled.length === 0) return;
    await outcomes.failed({ stream, day: days[0] }, requests, error);
    claims.done({ stream, day: days[0] });
  }

  /** Lets go of the days of a failed batch that are only looked at. */
  #unwatch({ stream, days }: DayBatch, error: DaywalkError): void {
    const { watch, outcomes, schedule } = this.#options;
    const watched = days.flatMap((day) => watch.settled({ stream, day }) ?? []);
    if (watched.length === 0) return;
    const isWithoutRows = error instanceof UnclearRangeError && error.reason === 'range-without-rows';
    if (isWithoutRows) {
      // Days without activity may well have no rows; where none is expected to have any, nothing is asked.
      schedule.next(chooseStandIn({ stream, days }, watched));
      return;
    }
    watch.failed();
    outcomes.unwatched(stream, error);
  }

  #watched({ stream, days }: DayBatch): UtcDay[] {
    return days.filter((day) => this.#isWatched({ stream, day }));
  }

  #isWatched(unit: DayUnit): boolean {
    return this.#options.watch.settled(unit) !== undefined;
  }

  /** Puts days in front of all others, as batches of at most so many. */
  async again(stream: DailyStream, days: readonly UtcDay[], daysMax: number): Promise<void> {
    if (days.length === 0) return;
    await this.freeAll(stream, days);
    this.#options.schedule.again(stream, days, daysMax);
  }

  /** Frees units that are claimed again when their turn comes. */
  freeAll(stream: DailyStream, days: readonly UtcDay[]): Promise<void> {
    return this.#options.claims.free(days.map((day) => dayKey(this.#options.orgId, { stream, day })));
  }
}
