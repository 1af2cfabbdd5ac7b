import type { Clock } from '../../core/clock.ts';
import { ClaimLostError, UnitError } from '../../core/errors.ts';
import type { WaitListener } from '../../patience/index.ts';
import type { RunLock, Warehouse } from '../../port/index.ts';
import {
  type DayCommit,
  type DayKey,
  type DayUnit,
  dayKey,
  isDayUnit,
  type LedgerDay,
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
  /** Claimed units, as they were when they were claimed. */
  readonly #claimed = new Map<string, LedgerDay>();
  /** Units that another worker has taken while this one let its claims go. */
  readonly #gone = new Set<string>();
  /** Resolves when units may be claimed again; undefined while they may. */
  #rest: { readonly over: Promise<void>; end(): void } | undefined;

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
    const { orgId, outcomes, ledger, isWatched } = this.#options;
    await this.#freeDone();
    const wanted = batches.flatMap(({ stream, days }) =>
      days.flatMap((day) => (isWatched({ stream, day }) ? [] : [dayKey(orgId, { stream, day })])),
    );
    const claimed = new Map((await this.#claim(wanted)).map((unit) => [unitName(unit), unit]));
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
    for (const unit of units) this.#claimed.delete(unitName(unit));
    return this.#options.lock.free(units);
  }

  /**
   * Lets all claims go while this host of the service is waited for, so that other workers, whom it may answer, can pull the units. What
   * another worker holds or has pulled at the end of the wait is gone, see {@link isGone}.
   */
  resting(url: string): WaitListener {
    return { url, begins: () => this.#letGo(), ends: () => this.#resume() };
  }

  async #letGo(): Promise<void> {
    await this.#freeDone();
    const { promise: over, resolve: end } = Promise.withResolvers<void>();
    this.#rest = { over, end };
    await this.#options.lock.free([...this.#claimed.values()]);
  }

  async #resume(): Promise<void> {
    const { lock } = this.#options;
    const before = [...this.#claimed.values()];
    try {
      const now = new Map((await lock.claim(before)).map((unit) => [unitName(unit), unit.attempts]));
      const gone = before.filter((unit) => now.get(unitName(unit)) !== unit.attempts);
      for (const unit of gone) {
        this.#gone.add(unitName(unit));
        this.#claimed.delete(unitName(unit));
      }
      // Others may pull again what they have pulled already.
      await lock.free(gone.filter((unit) => now.has(unitName(unit))));
    } finally {
      this.#rest?.end();
      this.#rest = undefined;
    }
  }

  /** True if another worker has taken the unit while this one pulled it, so that nothing of it may be recorded. */
  isGone(unit: DayUnit): boolean {
    return this.#gone.has(unitName(unit));
  }

  /**
   * Frees a unit whose claim was lost, or that another worker has stored meanwhile, and pulls it again. After {@link LOST_MAX}
   * losses the unit fails.
   */
  async tryAgain({ stream, day, requests }: DayUnit & Pick<DayCommit, 'requests'>): Promise<void> {
    const name = unitName({ stream, day });
    // The other worker has committed it, or holds it: the next claim shows which.
    if (this.#gone.delete(name)) return this.#options.schedule.putFirst(stream, [day], 1);
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

  /** Commits days, unless one of them is gone. */
  guarded(warehouse: Pick<Warehouse, 'commitDays'>): Pick<Warehouse, 'commitDays'> {
    return {
      commitDays: async (commits) => {
        const gone = commits.find((commit) => this.isGone(commit));
        if (gone === undefined) return warehouse.commitDays(commits);
        throw new ClaimLostError(
          `another worker took ${unitName(gone)} while this one waited for the service`,
        );
      },
    };
  }

  /** Claims units once this worker does not rest. */
  async #claim(units: readonly DayKey[]): Promise<LedgerUnit[]> {
    for (;;) {
      await this.#rest?.over;
      const claimed = await this.#options.lock.claim(units);
      if (this.#rest === undefined) return this.#remember(claimed);
      // The rest began meanwhile.
      await this.#options.lock.free(claimed);
    }
  }

  #remember(claimed: LedgerUnit[]): LedgerUnit[] {
    for (const unit of claimed.filter(isDayUnit)) {
      this.#claimed.set(unitName(unit), unit);
      this.#gone.delete(unitName(unit));
    }
    return claimed;
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
    try {
      const claimed = await claims.take(schedule.takeSome((stream) => gauge.daysFor(stream)));
      gauge.recordTaken(Math.max(0, ...claimed.map(({ days }) => days.length)));
      this.#claimed.push(...claimed);
    } finally {
      this.#claiming = undefined;
    }
  }
}
