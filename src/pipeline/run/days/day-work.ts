import type { AnalyticsPage } from '../../../api/walk/pages.ts';
import type { Clock } from '../../../core/clock.ts';
import { daysBetween } from '../../../core/day.ts';
import type { StandingDoubt } from '../../../judge/doubt.ts';
import type { Privacy } from '../../../privacy/email.ts';
import {
  type DayCommit,
  type RunLock,
  rowCount,
  type SettleRule,
  type Warehouse,
} from '../../../warehouse/port.ts';
import type { DayBatch } from '../../batch.ts';
import type { RunObserver } from '../../events.ts';
import type { PullCall, Source } from '../../pull.ts';
import { rangeWithoutRows } from '../../validate.ts';
import { ClaimedBatches } from '../claims/claimed-batches.ts';
import type { UnitClaims } from '../claims/unit-claims.ts';
import type { Outcomes } from '../outcomes.ts';
import type { RangeGauge } from '../schedule/range-gauge.ts';
import type { Schedule } from '../schedule/schedule.ts';
import type { FirstPage } from '../start/newest-day.ts';
import type { Beginning } from '../start/scope.ts';
import type { Watch } from '../watch/watch.ts';
import type { Writer, Written } from './commit-queue.ts';
import { FailedBatches } from './failed-batches.ts';
import { AnswersDigest, type KnownDays } from './known-answers.ts';
import { type Flight, InFlight } from './memory-limit.ts';
import { type Answers, prepareBatch } from './prepare-batch.ts';
import type { SecondLooks } from './second-looks.ts';
import type { Intake, ReadyDay, Sorted } from './sort-days.ts';

/** What the work on units needs. */
export interface WorkOptions {
  readonly source: Source;
  readonly warehouse: Warehouse;
  readonly lock: RunLock;
  readonly clock: Clock;
  readonly privacy: Privacy;
  readonly versions: Readonly<Record<string, string>>;
  readonly settleDays: number;
  readonly force: boolean;
  readonly observe: RunObserver;
}

/** The parts of one run, which this one joins. */
export interface WorkParts {
  readonly schedule: Schedule;
  readonly gauge: RangeGauge;
  readonly claims: UnitClaims;
  readonly writer: Writer;
  readonly outcomes: Outcomes;
  readonly known: KnownDays;
  readonly intake: Intake;
  readonly looks: SecondLooks;
  readonly watch: Watch;
}

/** The daily units of one run at work: each ends committed, failed on record, with another worker, or untouched. */
export class Work {
  readonly #options: WorkOptions;
  readonly #parts: WorkParts;
  readonly #stop: AbortController;
  readonly #orgId: string;
  readonly #rule: SettleRule;
  readonly #claimed: ClaimedBatches;
  readonly #failures: FailedBatches;
  readonly #inFlight = new InFlight();
  #prefetched: FirstPage | undefined;

  constructor(
    options: WorkOptions,
    parts: WorkParts,
    run: { stop: AbortController; beginning: Beginning; rule: SettleRule },
  ) {
    this.#options = options;
    this.#parts = parts;
    this.#stop = run.stop;
    const { orgId, first } = run.beginning;
    this.#orgId = orgId;
    this.#rule = run.rule;
    this.#claimed = new ClaimedBatches(parts);
    this.#failures = new FailedBatches({ ...parts, orgId, signal: run.stop.signal });
    this.#prefetched = first !== undefined && parts.schedule.first(first.unit) ? first : undefined;
  }

  /** The next thing to do; undefined when nothing is left that can be begun now. */
  next(): (() => Promise<void>) | undefined {
    return this.#stop.signal.aborted || this.#claimed.isEmpty ? undefined : () => this.#pullNext();
  }

  async #pullNext(): Promise<void> {
    try {
      const batch = await this.#claimed.take();
      if (batch === undefined || this.#stop.signal.aborted) return;
      if (this.#parts.outcomes.isGivenUp(batch)) this.#giveUp(batch);
      else await this.#pull(batch);
    } catch (error) {
      // Not what the service answers, but the warehouse itself or a defect here: there is no going on.
      this.#stop.abort(error);
    }
  }

  #giveUp({ stream, days }: DayBatch): void {
    const { claims, watch } = this.#parts;
    for (const day of days) {
      if (watch.settled({ stream, day }) === undefined) claims.done({ stream, day });
      else watch.failed();
    }
  }

  async #pull(batch: DayBatch): Promise<void> {
    const { clock } = this.#options;
    const { gauge, outcomes } = this.#parts;
    const call: PullCall = { signal: this.#stop.signal, meter: { requests: 0, retries: 0 } };
    const days = batch.days.length;
    const flight = await this.#inFlight.begin(batch);
    const since = clock.monotonicMs();
    const sorted = await this.#prepare(batch, call, flight);
    if (sorted === undefined) return flight.end();
    gauge.answered(batch.stream, { days, rows: sorted.rows, ms: clock.monotonicMs() - since });
    outcomes.answered(batch.stream);
    // The day has rows, and the range had none: the range was no answer.
    if (batch.speaksFor !== undefined && sorted.rows > 0) {
      this.#parts.watch.failed();
      outcomes.unwatched(batch.stream, rangeWithoutRows(batch));
    }
    for (const { commit, doubt } of sorted.doubts) await this.#doubt(commit, doubt);
    for (const { commit } of sorted.ready) {
      if (this.#parts.looks.answered(commit, batch)) gauge.distrusts('users');
    }
    await this.#handIn(sorted.ready, flight);
    await this.#failures.again(batch.stream, sorted.alone, 1);
  }

  async #doubt(commit: DayCommit, doubt: StandingDoubt): Promise<void> {
    await this.#parts.outcomes.doubted(commit, doubt);
    this.#parts.claims.done(commit);
  }

  /** Hands days in to be written; until they are, what they hold counts as in flight. */
  async #handIn(ready: readonly ReadyDay[], flight?: Flight): Promise<void> {
    let left = ready.length;
    if (left === 0) flight?.end();
    for (const { commit, warnings } of ready) {
      await this.#parts.writer.add(commit, async (written) => {
        left -= 1;
        if (left === 0) flight?.end();
        await this.#written(written, warnings);
      });
    }
  }

  /**
   * Does what the answers so far leave to be done: hands in what is confirmed, and puts what is unclear in front of all
   * others. False when nothing is left. Call when nothing is under way.
   */
  async lookAgain(): Promise<boolean> {
    const { looks, schedule, claims, gauge } = this.#parts;
    const { alone, gaps, empty } = looks.next(gauge.daysMax);
    const { observe } = this.#options;
    for (const { stream, day, rule } of alone) observe({ type: 'looks-again', stream, days: [day], rule });
    for (const { stream, days } of gaps) observe({ type: 'looks-again', stream, days, rule: 'range-gap' });
    await this.#handIn(empty.map((commit) => ({ commit, warnings: [] })));
    claims.again([...alone, ...gaps.flatMap(({ stream, days }) => days.map((day) => ({ stream, day })))]);
    const units = [...alone.map(({ stream, day }): DayBatch => ({ stream, days: [day] })), ...gaps];
    for (const { stream, days } of units) await this.#failures.freeAll(stream, days);
    schedule.next(units);
    return units.length > 0 || empty.length > 0;
  }

  /** Pulls a batch and sorts its days; undefined when that failed, which is seen to then. */
  async #prepare(batch: DayBatch, call: PullCall, flight: Flight): Promise<Sorted | undefined> {
    const { source, privacy } = this.#options;
    const { intake } = this.#parts;
    try {
      const context = { source, orgId: this.#orgId, privacy };
      const answers = this.#answersOf(batch);
      const first = this.#takePrefetched(batch, call);
      const { days, same } = await prepareBatch(context, batch, call, { first, answers, flight });
      const { requests } = call.meter;
      if (same !== undefined) {
        const commit = intake.same(same, requests);
        return { ready: [{ commit, warnings: [] }], alone: [], doubts: [], rows: rowCount(commit) };
      }
      return await intake.sort(batch, days, { requests, answersSha256: answers?.digest.hex() ?? null });
    } catch (error) {
      await this.#failures.failed(batch, call.meter.requests, error);
      return undefined;
    }
  }

  /**
   * Of a day that will be pulled again: the digest of its answers, and what is known of it. A range has none, because
   * its answers are not told apart by day.
   */
  #answersOf({ stream, days }: DayBatch): Answers | undefined {
    const { versions, privacy } = this.#options;
    const [day, ...others] = days;
    if (others.length > 0 || this.#parts.watch.settled({ stream, day }) !== undefined) return undefined;
    const known = this.#parts.known.take({ stream, day });
    if (known === undefined && daysBetween(day, this.#rule.today) >= this.#rule.settleDays) return undefined;
    return { digest: new AnswersDigest(`${versions['daywalk']} ${privacy.fingerprint}`), known };
  }

  async #written({ commit, result }: Written, warnings: readonly string[]): Promise<void> {
    const { claims, outcomes } = this.#parts;
    if ('error' in result) {
      await this.#notStored(commit, result.error);
      return;
    }
    claims.done(commit);
    outcomes.stored(commit, result, warnings);
  }

  async #notStored(commit: DayCommit, error: unknown): Promise<void> {
    const { claims, outcomes } = this.#parts;
    const { stream, day, requests } = commit;
    if (claims.isLost(error)) return claims.tryAgain(commit);
    await outcomes.failed({ stream, day }, requests, error);
    claims.done(commit);
  }

  #takePrefetched(batch: DayBatch, call: PullCall): AnalyticsPage | undefined {
    const held = this.#prefetched;
    const [day, ...others] = batch.days;
    if (held === undefined || others.length > 0) return undefined;
    if (held.unit.stream !== batch.stream || held.unit.day !== day) return undefined;
    this.#prefetched = undefined;
    // Pages pulled hours apart would be of two states of the day.
    if (held.page.meta.has_more === true) return undefined;
    call.meter.requests += held.requests;
    return held.page;
  }
}
