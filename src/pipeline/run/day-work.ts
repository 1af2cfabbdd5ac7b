import type { AnalyticsPage } from '../../api/index.ts';
import type { Archive } from '../../core/archive-port.ts';
import type { Clock } from '../../core/clock.ts';
import { daysBetween } from '../../core/day.ts';
import { ClaimLostError } from '../../core/errors.ts';
import type { SettleRule } from '../../judge/agreement.ts';
import type { RunLock, Warehouse } from '../../port/index.ts';
import { rowCount, unitName } from '../../units/index.ts';
import type { RunObserver } from '../events.ts';
import type { DayBatch } from '../plan.ts';
import type { PullCall, Source } from '../pull.ts';
import { rangeWithoutRows } from '../validate.ts';
import { ClaimedBatches, type UnitClaims } from './claims.ts';
import type { ArchivedCommits, CommitQueue, Turn, Written } from './commit-queue.ts';
import { AnswersDigest, type KnownDays } from './known-ledger.ts';
import { MemoryLimit, type MemoryShare } from './memory-limit.ts';
import type { Outcomes } from './outcomes.ts';
import { type Answers, prepareBatch, readAgain } from './prepare-batch.ts';
import type { RangeGauge } from './range-gauge.ts';
import { FailedBatches, type SecondLooks } from './request-again.ts';
import type { Schedule } from './schedule.ts';
import type { DaySorter, DoubtedDay, ReadyDay, Sorted } from './sort-days.ts';
import type { FirstPage, RunScope } from './start.ts';
import type { Watch } from './watch.ts';

export interface DayWorkOptions {
  readonly source: Source;
  readonly warehouse: Warehouse;
  readonly lock: RunLock;
  readonly clock: Clock;
  readonly versions: Readonly<Record<string, string>>;
  /** A day settles once it was pulled at this age, in days. */
  readonly settleDays: number;
  /** Pull settled units too, and compare every stored row. */
  readonly force: boolean;
  readonly observe: RunObserver;
  /** Keeps the answers as they came. @default none */
  readonly archive?: Archive | undefined;
}

/** The parts of one run that {@link DayWork} joins. */
export interface DayWorkParts {
  readonly schedule: Schedule;
  readonly gauge: RangeGauge;
  readonly claims: UnitClaims;
  readonly queue: CommitQueue;
  readonly outcomes: Outcomes;
  readonly known: KnownDays;
  readonly sorter: DaySorter;
  readonly looks: SecondLooks;
  readonly watch: Watch;
  readonly archived: ArchivedCommits;
}

/**
 * Takes batches of days from the schedule to the warehouse: claim, pull, validate, normalize, judge, commit. Each unit ends
 * committed, recorded as failed, left to another worker, or untouched.
 */
export class DayWork {
  readonly #options: DayWorkOptions;
  readonly #parts: DayWorkParts;
  readonly #stop: AbortController;
  readonly #orgId: string;
  readonly #rule: SettleRule;
  readonly #claimed: ClaimedBatches;
  readonly #failures: FailedBatches;
  readonly #memory = new MemoryLimit();
  /** First pages that the run pulled before it planned, by the name of their unit. */
  readonly #held = new Map<string, FirstPage>();

  constructor(
    options: DayWorkOptions,
    parts: DayWorkParts,
    run: { stop: AbortController; scope: RunScope; rule: SettleRule; pages: readonly FirstPage[] },
  ) {
    this.#options = options;
    this.#parts = parts;
    this.#stop = run.stop;
    const { orgId } = run.scope;
    this.#orgId = orgId;
    this.#rule = run.rule;
    this.#claimed = new ClaimedBatches(parts);
    this.#failures = new FailedBatches({ ...parts, orgId, signal: run.stop.signal });
    for (const page of run.pages) this.#hold(page);
  }

  /** The next task; undefined when none can begin now. */
  next(): (() => Promise<void>) | undefined {
    return this.#stop.signal.aborted || this.#claimed.isEmpty ? undefined : () => this.#pullNext();
  }

  /**
   * Commits the days that are confirmed to be empty, and schedules the units that need a second request. Call when nothing
   * is under way.
   * @returns false when there is nothing left to do.
   */
  async lookAgain(): Promise<boolean> {
    const { looks, schedule, claims, gauge } = this.#parts;
    const { observe } = this.#options;
    const { alone, gaps, empty } = looks.next(gauge.daysMax);
    for (const { stream, day, rule } of alone) observe({ type: 'looks-again', stream, days: [day], rule });
    for (const { stream, days } of gaps) observe({ type: 'looks-again', stream, days, rule: 'range-gap' });
    await this.#queueCommits(empty.map((commit) => ({ commit, warnings: [], texts: [] })));
    claims.allowAgain([
      ...alone,
      ...gaps.flatMap(({ stream, days }) => days.map((day) => ({ stream, day }))),
    ]);
    const batches = [...alone.map(({ stream, day }): DayBatch => ({ stream, days: [day] })), ...gaps];
    for (const { stream, days } of batches) await this.#failures.freeAll(stream, days);
    schedule.putBatchesFirst(batches);
    return batches.length > 0 || empty.length > 0;
  }

  async #pullNext(): Promise<void> {
    try {
      const batch = await this.#claimed.take();
      if (batch === undefined || this.#stop.signal.aborted) return;
      // A page that is held needs no request.
      if (!this.#isHeld(batch) && this.#parts.outcomes.isGivenUp(batch)) this.#giveUp(batch);
      else await this.#pull(batch);
    } catch (error) {
      // Failures of the service were handled before. This is a failure of the warehouse, or a defect.
      this.#stop.abort(error);
    }
  }

  #giveUp({ stream, days }: DayBatch): void {
    const { claims, watch } = this.#parts;
    for (const day of days) {
      if (watch.settled({ stream, day }) === undefined) claims.markDone({ stream, day });
      else watch.recordFailure([{ stream, day }]);
    }
  }

  async #pull(batch: DayBatch): Promise<void> {
    const { clock } = this.#options;
    const call: PullCall = { signal: this.#stop.signal, meter: { requests: 0, retries: 0 } };
    const wasHeld = this.#isHeld(batch);
    const memory = await this.#memory.begin(batch);
    const turn = this.#parts.queue.begin(batch.stream);
    try {
      const sinceMs = clock.monotonicMs();
      const sorted = await this.#prepare(batch, call, memory);
      if (sorted === undefined) return memory.end();
      // A page that was held does not show that the service still answers.
      if (!wasHeld) this.#parts.outcomes.recordAnswer(batch.stream);
      await this.#take(batch, sorted, { ms: clock.monotonicMs() - sinceMs, memory, turn });
    } finally {
      turn.end();
    }
  }

  /** Records the answer to a batch, and queues the days that may be stored. */
  async #take(
    batch: DayBatch,
    sorted: Sorted,
    { ms, ...place }: { readonly ms: number; readonly memory: MemoryShare; readonly turn: Turn },
  ): Promise<void> {
    const { gauge, outcomes, watch, looks } = this.#parts;
    gauge.recordAnswer(batch.stream, { days: batch.days.length, rows: sorted.rows, ms });
    // The range had no rows, but one of its days has: the answer to the range was wrong.
    if (batch.speaksFor !== undefined && sorted.rows > 0) {
      watch.recordFailure();
      outcomes.recordFailedLook(batch.stream, rangeWithoutRows(batch));
    }
    for (const doubted of sorted.doubts) await this.#recordDoubt(doubted);
    for (const { commit } of sorted.ready) {
      if (looks.recordAnswer(commit, batch)) gauge.distrust('users');
    }
    for (const ready of sorted.ready) this.#parts.archived.keep(ready);
    await this.#queueCommits(sorted.ready, place);
    place.turn.end();
    await this.#failures.again(batch.stream, sorted.alone, 1);
  }

  async #recordDoubt(doubted: DoubtedDay): Promise<void> {
    const { commit, doubt } = doubted;
    if (this.#parts.claims.isGone(commit)) return this.#parts.claims.tryAgain(commit);
    await this.#parts.archived.keepDoubted(doubted);
    await this.#parts.outcomes.recordDoubt(commit, doubt);
    this.#parts.claims.markDone(commit);
  }

  /** Queues days to be committed. Their memory is freed when all of them are. */
  async #queueCommits(
    ready: readonly ReadyDay[],
    { memory, turn }: { readonly memory?: MemoryShare; readonly turn?: Turn } = {},
  ): Promise<void> {
    let left = ready.length;
    if (left === 0) memory?.end();
    for (const { commit, warnings } of ready) {
      const onWritten = async (written: Written) => {
        left -= 1;
        if (left === 0) memory?.end();
        await this.#recordWritten(written, warnings);
      };
      await this.#parts.queue.add(commit, onWritten, turn);
    }
  }

  /** Pulls a batch and judges its days. A failure is recorded; undefined is returned then. */
  async #prepare(batch: DayBatch, call: PullCall, memory: MemoryShare): Promise<Sorted | undefined> {
    const { source, archive } = this.#options;
    const { sorter, archived } = this.#parts;
    try {
      const context = { source, orgId: this.#orgId, keepsTexts: archive !== undefined };
      let answers = this.#answersOf(batch);
      const first = this.#takePrefetched(batch, call);
      const needsTexts = answers?.known !== undefined && archived.needs(answers.known.unit);
      const options = { first, answers, memory, needsTexts, mayBeEmpty: sorter.isKnownEmpty(batch) };
      let { days, same } = await prepareBatch(context, batch, call, options);
      // The rows may have changed during the walk, so it is repeated once. A range is requested by day instead.
      if (batch.days.length === 1 && days.some(({ day }) => day.findings.isContradictory)) {
        const { stream, days: asked } = batch;
        this.#options.observe({ type: 'looks-again', stream, days: asked, rule: 'contradiction' });
        answers = this.#answersOf(batch);
        ({ days, same } = await prepareBatch(context, batch, call, { answers, memory }));
      }
      const { requests } = call.meter;
      if (same !== undefined) {
        const commit = sorter.commitUnchanged(same, requests);
        const ready = [{ commit, warnings: [], texts: same.texts }];
        return { ready, alone: [], doubts: [], rows: rowCount(commit) };
      }
      return await sorter.sort(batch, days, { requests, answersSha256: answers?.digest.hex() ?? null });
    } catch (error) {
      await this.#failures.failed(batch, call.meter.requests, error);
      return undefined;
    }
  }

  /**
   * Begins the digest of the answers of a single day, with the stored day to compare with. Undefined if no later pull will
   * compare the digest, and for a range, because its answers do not divide into days.
   */
  #answersOf({ stream, days }: DayBatch): Answers | undefined {
    const { versions, source } = this.#options;
    const [day, ...others] = days;
    if (others.length > 0 || this.#parts.watch.settled({ stream, day }) !== undefined) return undefined;
    const known = this.#parts.known.take({ stream, day });
    if (known === undefined && daysBetween(day, this.#rule.today) >= this.#rule.settleDays) return undefined;
    return { digest: new AnswersDigest(`${versions['daywalk']} ${source.gate.fingerprint}`), known };
  }

  async #recordWritten({ commit, result }: Written, warnings: readonly string[]): Promise<void> {
    const { claims, outcomes } = this.#parts;
    if (!('error' in result)) {
      claims.markDone(commit);
      outcomes.recordCommit(commit, result, warnings);
      return;
    }
    if (result.error instanceof ClaimLostError) return claims.tryAgain(commit);
    const { stream, day, requests } = commit;
    await outcomes.recordFailure({ stream, day }, requests, result.error);
    claims.markDone(commit);
  }

  /** Keeps a page as text until its day has its turn. */
  #hold({ page, ...first }: FirstPage): void {
    const { schedule, gauge } = this.#parts;
    // The day may change before the other pages are pulled.
    if (!schedule.keepAlone(first.unit) || page.meta.has_more === true) return;
    gauge.expectRows(first.unit.stream, page.text.length);
    this.#held.set(unitName(first.unit), { ...first, page: { ...page, body: null, data: [] } });
  }

  #isHeld({ stream, days }: DayBatch): boolean {
    return days.length === 1 && this.#held.has(unitName({ stream, day: days[0] }));
  }

  /** The held page, if it is all of this batch. */
  #takePrefetched(batch: DayBatch, call: PullCall): AnalyticsPage | undefined {
    const name = unitName({ stream: batch.stream, day: batch.days[0] });
    const held = this.#held.get(name);
    if (held === undefined || !this.#isHeld(batch)) return undefined;
    this.#held.delete(name);
    call.meter.requests += held.requests;
    return readAgain(held.page);
  }
}

/** Keeps `concurrency` batches in flight until none is left to begin and none is under way. */
export function keepInFlight(work: DayWork, concurrency: number): Promise<void> {
  return new Promise((resolve, reject) => {
    let running = 0;
    const fill = () => {
      for (let task = next(); task !== undefined; task = next()) {
        running += 1;
        task().then(end, reject);
      }
      if (running === 0) resolve();
    };
    const next = () => (running < concurrency ? work.next() : undefined);
    const end = () => {
      running -= 1;
      fill();
    };
    fill();
  });
}
