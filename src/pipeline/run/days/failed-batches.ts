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

export interface FailedBatchesOptions {
  readonly orgId: string;
  readonly schedule: Schedule;
  readonly gauge: RangeGauge;
  readonly claims: UnitClaims;
  readonly outcomes: Outcomes;
  readonly watch: Watch;
  /** Aborted when the run must end. */
  readonly signal: AbortSignal;
}

/** Handles failed batches: schedules what must be requested again, and records the failures of single days. */
export class FailedBatches {
  readonly #options: FailedBatchesOptions;

  constructor(options: FailedBatchesOptions) {
    this.#options = options;
  }

  /** Requests a failed range again in shorter ones, down to the day that makes it fail. */
  async failed(batch: DayBatch, requests: number, thrown: unknown): Promise<void> {
    const { gauge, outcomes, claims } = this.#options;
    const { stream, days } = batch;
    const isRange = days.length > 1;
    // After an abort the unit stays as it was, and the next run pulls it.
    if (this.#options.signal.aborted) return;
    const error = thrown instanceof DaywalkError ? thrown : new DefectError(batchName(batch), thrown);
    if (isRange && error instanceof BadRequestError) {
      const isTooLong = gauge.recordRefusal(days.length);
      // A range of this length was answered before, so one of these days makes it fail.
      if (!isTooLong) return this.again(stream, days, Math.ceil(days.length / 2));
      await this.freeAll(stream, days);
      return this.#options.schedule.putBack(stream, days);
    }
    gauge.endTrial(days.length);
    // The other days of the range can still be compared, in shorter ranges.
    if (error instanceof RangeMisfitsError)
      await this.again(stream, this.#watched(batch), Math.ceil(days.length / 2));
    else this.#unwatch(batch, error);
    const pulled = days.filter((day) => !this.#isWatched({ stream, day }));
    if (isRange && error.effect !== 'run') {
      // An unclear range is still an answer of the service.
      if (error instanceof UnclearRangeError) outcomes.recordAnswer(stream);
      else if (pulled.length === days.length) outcomes.recordNoAnswer(stream, error);
      return this.again(stream, pulled, 1);
    }
    if (pulled.length === 0) return;
    await outcomes.recordFailure({ stream, day: days[0] }, requests, error);
    claims.markDone({ stream, day: days[0] });
  }

  /** Drops the days of a failed batch that are only compared. */
  #unwatch({ stream, days }: DayBatch, error: DaywalkError): void {
    const { watch, outcomes, schedule } = this.#options;
    const watched = days.flatMap((day) => watch.settled({ stream, day }) ?? []);
    if (watched.length === 0) return;
    const isWithoutRows = error instanceof UnclearRangeError && error.reason === 'range-without-rows';
    if (isWithoutRows) {
      // Days without activity may have no rows.
      schedule.putBatchesFirst(chooseStandIn({ stream, days }, watched));
      return;
    }
    watch.recordFailure();
    outcomes.recordFailedLook(stream, error);
  }

  #watched({ stream, days }: DayBatch): UtcDay[] {
    return days.filter((day) => this.#isWatched({ stream, day }));
  }

  #isWatched(unit: DayUnit): boolean {
    return this.#options.watch.settled(unit) !== undefined;
  }

  /** Puts days in front of all others, as batches of at most `daysMax` days. */
  async again(stream: DailyStream, days: readonly UtcDay[], daysMax: number): Promise<void> {
    if (days.length === 0) return;
    await this.freeAll(stream, days);
    this.#options.schedule.putFirst(stream, days, daysMax);
  }

  /** Frees units that will be claimed again when their turn comes. */
  freeAll(stream: DailyStream, days: readonly UtcDay[]): Promise<void> {
    return this.#options.claims.free(days.map((day) => dayKey(this.#options.orgId, { stream, day })));
  }
}
