import type { Clock } from '../../core/clock.ts';
import { UnitError } from '../../core/errors.ts';
import type { RunLock } from '../../port/index.ts';
import {
  type DayCommit,
  type DayKey,
  type DayUnit,
  dayKey,
  isDayUnit,
  type LedgerUnit,
  type UnitKey,
  unitName,
} from '../../units/index.ts';
import { batchesOf, type DayBatch } from '../plan.ts';
import { ClaimWait } from './claim-wait.ts';
import type { KnownLedger } from './known-ledger.ts';
import type { Outcomes } from './outcomes.ts';
import type { RangeGauge } from './range-gauge.ts';
import type { Schedule } from './schedule.ts';

/** The pause between two attempts to claim units that another worker holds. */
const PAUSE_MS = 250;
/** How many times a unit is pulled again because its claim was lost. */
const LOST_MAX = 3;

interface UnitClaimsOptions {
  readonly orgId: string;
  readonly lock: RunLock;
  readonly clock: Clock;
  readonly schedule: Schedule;
  readonly outcomes: Outcomes;
  /** The ledger as the plan saw it. */
  readonly planned: readonly LedgerUnit[];
  /** Receives the ledger rows of claimed units. */
  readonly ledger: KnownLedger;
  /** True for a settled unit that is only compared. */
  readonly isWatched: (unit: DayUnit) => boolean;
}

/**
 * Shares the units of a plan with other workers. No unit is pulled by two workers at a time, and none is forgotten.
 */
export class UnitClaims {
  readonly #options: UnitClaimsOptions;
  /** Attempts of each unit when the plan was made. If a unit has more by now, another worker has pulled it. */
  readonly #attempts: ReadonlyMap<string, number>;
  readonly #heldByOthers = new Map<string, DayKey>();
  readonly #lost = new Map<string, number>();
  /** Units that this run pulls again although it has committed them. */
  readonly #again = new Set<string>();
  readonly #wait: ClaimWait;
  #toFree: DayKey[] = [];

  constructor(options: UnitClaimsOptions) {
    this.#options = options;
    const { clock, outcomes } = options;
    this.#wait = new ClaimWait({ clock, pauseMs: PAUSE_MS, warn: (...warning) => outcomes.warn(...warning) });
    this.#attempts = new Map(options.planned.map((unit) => [unitName(unit), unit.attempts]));
  }

  /** Marks committed units that the run pulls again. */
  allowAgain(units: readonly DayUnit[]): void {
    for (const unit of units) this.#again.add(unitName(unit));
  }

  /**
   * Claims the units of batches. Returns those that are free and still to be pulled, as batches without gaps. Units
   * that are only compared need no claim.
   */
  async take(batches: readonly DayBatch[]): Promise<DayBatch[]> {
    const { orgId, lock, outcomes, ledger, isWatched } = this.#options;
    await this.#freeDone();
    const wanted = batches.flatMap(({ stream, days }) =>
      days.flatMap((day) => (isWatched({ stream, day }) ? [] : [dayKey(orgId, { stream, day })])),
    );
    const claimed = new Map((await lock.claim(wanted)).map((unit) => [unitName(unit), unit]));
    ledger.put([...claimed.values()].filter(({ state }) => state !== 'pending'));
    for (const unit of wanted) {
      if (!claimed.has(unitName(unit))) this.#heldByOthers.set(unitName(unit), unit);
    }
    const done = [...claimed.values()].filter((unit) => this.#isDone(unit));
    for (const unit of done) {
      claimed.delete(unitName(unit));
      outcomes.recordOtherWorker(unit);
    }
    await this.free(done);
    return batches.flatMap(({ stream, days, ...batch }) =>
      batchesOf(
        stream,
        days.filter((day) => claimed.has(unitName({ stream, day })) || isWatched({ stream, day })),
        days.length,
      ).map((free) => ({ ...batch, ...free })),
    );
  }

  /** Marks a unit as done. It is freed together with others, before the next ones are claimed. */
  markDone(unit: DayUnit): void {
    // Only the key is kept: a commit would keep the rows of its day in memory until then.
    this.#toFree.push(dayKey(this.#options.orgId, unit));
  }

  /** Frees units that will be claimed again later. */
  free(units: readonly UnitKey[]): Promise<void> {
    return this.#options.lock.free(units);
  }

  /**
   * Frees a unit whose claim was lost, or that another worker has stored meanwhile, and pulls it again. After {@link LOST_MAX}
   * losses the unit fails.
   */
  async tryAgain({ stream, day, requests }: DayCommit): Promise<void> {
    const name = unitName({ stream, day });
    // This worker may hold the claim still, and would wait for itself.
    this.markDone({ stream, day });
    const lost = (this.#lost.get(name) ?? 0) + 1;
    this.#lost.set(name, lost);
    if (lost <= LOST_MAX) {
      this.#options.schedule.putFirst(stream, [day], 1);
      return;
    }
    const error = new UnitError(`${name}: the connection to the warehouse was lost ${lost} times`, {
      hint: 'check the server and the network to it, then run again: it resumes',
    });
    await this.#options.outcomes.recordFailure({ stream, day }, requests, error);
  }

  /**
   * Waits for units that other workers hold. True if some are free again and scheduled. False if there are none, or
   * if the wait is over.
   */
  async awaitOthers(signal: AbortSignal): Promise<boolean> {
    const { schedule, outcomes } = this.#options;
    await this.#freeDone();
    await this.#wait.begin();
    while (this.#heldByOthers.size > 0 && !signal.aborted) {
      const units = [...this.#heldByOthers.values()];
      if (!(await this.#wait.pause(units, signal))) {
        outcomes.leaveHeldUnits(units);
        // The run does not wait for them a second time.
        this.#heldByOthers.clear();
        return false;
      }
      const free = await this.#nowFree();
      if (free.length === 0) continue;
      for (const unit of free) {
        this.#heldByOthers.delete(unitName(unit));
        schedule.putFirst(unit.stream, [unit.day], 1);
      }
      return true;
    }
    return false;
  }

  async #freeDone(): Promise<void> {
    const units = this.#toFree;
    this.#toFree = [];
    await this.free(units);
  }

  async #nowFree(): Promise<DayKey[]> {
    const { lock } = this.#options;
    const free = await lock.claim([...this.#heldByOthers.values()]);
    await lock.free(free);
    return free.filter(isDayUnit);
  }

  /**
   * True if another worker has committed the unit since the plan was made. A unit that failed there is tried here
   * too.
   */
  #isDone(unit: LedgerUnit): boolean {
    return (
      unit.attempts !== (this.#attempts.get(unitName(unit)) ?? 0) &&
      unit.state !== 'failed' &&
      !this.#lost.has(unitName(unit)) &&
      !this.#again.has(unitName(unit))
    );
  }
}

/**
 * About how many units are claimed at once: enough to keep all requests busy, few enough to leave some to other
 * workers.
 */
export const CLAIMED_UNITS = 16;

interface ClaimedBatchesOptions {
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
