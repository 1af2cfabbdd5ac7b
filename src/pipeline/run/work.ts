import { BadRequestError } from '../../api/http/errors.ts';
import type { AnalyticsPage } from '../../api/pages.ts';
import type { Clock } from '../../core/clock.ts';
import type { UtcDay } from '../../core/day.ts';
import { DaywalkError, DefectError } from '../../core/errors.ts';
import type { DailyStream } from '../../core/stream.ts';
import { type DayCommit, type RunLock, rowCount, type Warehouse } from '../../warehouse/port.ts';
import { batchName, type DayBatch } from '../batch.ts';
import { dayCommit, isSettled, type NormalizedDay, type SettleRule } from '../commit.ts';
import type { RunObserver } from '../events.ts';
import type { Privacy } from '../privacy.ts';
import type { PullCall, Source } from '../pull.ts';
import type { Beginning } from './begin.ts';
import type { FirstPage } from './identify.ts';
import { type Flight, InFlight } from './in-flight.ts';
import { AnswersDigest, cursorOf, type KnownDay, type KnownDays } from './known-answers.ts';
import type { Outcomes } from './outcomes.ts';
import { type Answers, prepareBatch, UnclearRangeError } from './prepare.ts';
import type { RangeGauge } from './range-gauge.ts';
import type { Schedule } from './schedule.ts';
import type { UnitClaims } from './unit-claims.ts';
import type { Writer, Written } from './writer.ts';

/** Units that are claimed at once, roughly: enough to keep all requests going, few enough to leave others their share. */
const CLAIMED_UNITS = 16;

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
}

/** Days that are ready to be stored, and those that must be asked for again. */
interface PreparedCommits {
  readonly commits: readonly { readonly commit: DayCommit; readonly warnings: readonly string[] }[];
  readonly open: readonly UtcDay[];
}

/** The daily units of one run at work: each ends committed, failed on record, with another worker, or untouched. */
export class Work {
  readonly #options: WorkOptions;
  readonly #parts: WorkParts;
  readonly #stop: AbortController;
  readonly #orgId: string;
  readonly #today: UtcDay;
  /** Claimed for this worker, not begun. */
  readonly #claimed: DayBatch[] = [];
  #claiming: Promise<void> | undefined;
  readonly #inFlight = new InFlight();
  #prefetched: FirstPage | undefined;

  constructor(options: WorkOptions, parts: WorkParts, run: { stop: AbortController; beginning: Beginning }) {
    this.#options = options;
    this.#parts = parts;
    this.#stop = run.stop;
    const { orgId, today, first } = run.beginning;
    this.#orgId = orgId;
    this.#today = today;
    this.#prefetched = first !== undefined && parts.schedule.first(first.unit) ? first : undefined;
  }

  /** The next thing to do; undefined when nothing is left that can be begun now. */
  next(): (() => Promise<void>) | undefined {
    const isOver = this.#stop.signal.aborted || (this.#claimed.length === 0 && this.#parts.schedule.isEmpty);
    return isOver ? undefined : () => this.#pullNext();
  }

  async #pullNext(): Promise<void> {
    try {
      const batch = await this.#takeClaimed();
      if (batch === undefined || this.#stop.signal.aborted) return;
      if (this.#parts.outcomes.isGivenUp(batch)) this.#doneWith(batch);
      else await this.#pull(batch);
    } catch (error) {
      // Not what the service answers, but the warehouse itself or a defect here: there is no going on.
      this.#stop.abort(error);
    }
  }

  /** A batch that is claimed for this worker; undefined when none is left. Units are claimed several at a time. */
  async #takeClaimed(): Promise<DayBatch | undefined> {
    for (;;) {
      const batch = this.#claimed.shift();
      if (batch !== undefined || (this.#claiming === undefined && this.#parts.schedule.isEmpty)) return batch;
      this.#claiming ??= this.#claimMore();
      await this.#claiming;
    }
  }

  async #claimMore(): Promise<void> {
    const { schedule, gauge, claims } = this.#parts;
    const batches: DayBatch[] = [];
    for (let units = 0; units < CLAIMED_UNITS; units += batches.at(-1)?.days.length ?? 0) {
      const batch = schedule.take((stream) => gauge.daysFor(stream));
      if (batch === undefined) break;
      batches.push(batch);
    }
    try {
      const claimed = await claims.take(batches);
      gauge.taken(Math.max(0, ...claimed.map(({ days }) => days.length)));
      this.#claimed.push(...claimed);
    } finally {
      this.#claiming = undefined;
    }
  }

  #doneWith({ stream, days }: DayBatch): void {
    for (const day of days) this.#parts.claims.done({ orgId: this.#orgId, stream, day });
  }

  async #pull(batch: DayBatch): Promise<void> {
    const { clock } = this.#options;
    const { gauge, outcomes } = this.#parts;
    const call: PullCall = { signal: this.#stop.signal, meter: { requests: 0, retries: 0 } };
    const days = batch.days.length;
    const flight = await this.#inFlight.begin(batch);
    const since = clock.monotonicMs();
    const prepared = await this.#prepare(batch, call, flight);
    if (prepared === undefined) return flight.end();
    const rows = prepared.commits.reduce((sum, { commit }) => sum + rowCount(commit), 0);
    gauge.answered(batch.stream, { days, rows, ms: clock.monotonicMs() - since });
    outcomes.answered(batch.stream);
    await this.#handIn(prepared.commits, flight);
    await this.#again(batch.stream, prepared.open, 1);
  }

  /** Hands days in to be written; until they are, what they hold counts as in flight. */
  async #handIn(commits: PreparedCommits['commits'], flight: Flight): Promise<void> {
    let left = commits.length;
    if (left === 0) flight.end();
    for (const { commit, warnings } of commits) {
      await this.#parts.writer.add(commit, async (written) => {
        left -= 1;
        if (left === 0) flight.end();
        await this.#written(written, warnings);
      });
    }
  }

  /** Pulls a batch and makes its days ready to be stored; undefined when that failed, which is seen to then. */
  async #prepare(batch: DayBatch, call: PullCall, flight: Flight): Promise<PreparedCommits | undefined> {
    const { source, privacy } = this.#options;
    try {
      const context = { source, orgId: this.#orgId, privacy };
      const answers = this.#answersOf(batch);
      const first = this.#takePrefetched(batch, call);
      const { days, open, same } = await prepareBatch(context, batch, call, { first, answers, flight });
      const { requests } = call.meter;
      if (same !== undefined) return { commits: [this.#commitOfSame(same, requests)], open };
      const cursor = cursorOf(answers?.digest.hex() ?? null);
      // The requests of the batch are counted for its first day.
      const commits = days.map((day, index) => this.#commitOf(day, index === 0 ? requests : 0, cursor));
      return { commits, open };
    } catch (error) {
      await this.#failed(batch, call, error);
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
    if (others.length > 0) return undefined;
    const known = this.#parts.known.take({ stream, day });
    if (known === undefined && isSettled(day, this.#rule)) return undefined;
    return { digest: new AnswersDigest(`${versions['daywalk']} ${privacy.fingerprint}`), known };
  }

  #commitOf(day: NormalizedDay, requests: number, cursor: string | null): PreparedCommits['commits'][number] {
    const { clock, force } = this.#options;
    const { warnings, quarantined } = day.findings;
    // What was found in an answer is to be told each time.
    const isClean = warnings.length === 0 && quarantined.length === 0;
    const pull = { pulledAt: clock.now(), requests, cursor: isClean ? cursor : null };
    return { commit: { ...dayCommit(day, this.#rule, pull), rewrite: force }, warnings };
  }

  /** A day of which the answers were the same as before. */
  #commitOfSame({ unit, answersSha256 }: KnownDay, requests: number): PreparedCommits['commits'][number] {
    const { orgId, stream, day, contentSha256, rows } = unit;
    if (stream === 'readiness' || day === '') throw new TypeError('readiness has no days');
    const commit: DayCommit = {
      orgId,
      stream,
      day,
      tables: [],
      contentSha256,
      unchanged: { rows },
      state: 'loaded',
      settled: isSettled(day, this.#rule),
      quarantined: [],
      drift: [],
      requests,
      pulledAt: this.#options.clock.now(),
      cursor: cursorOf(answersSha256),
    };
    return { commit, warnings: [] };
  }

  get #rule(): SettleRule {
    return { today: this.#today, settleDays: this.#options.settleDays };
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

  /** What failed as a range is asked for in shorter ones, down to the day that makes it fail. */
  async #failed(batch: DayBatch, call: PullCall, thrown: unknown): Promise<void> {
    const { gauge, outcomes, claims } = this.#parts;
    const { stream, days } = batch;
    const isRange = days.length > 1;
    // An abort is not the unit's failure: it stays as it was, and the next run pulls it.
    if (this.#stop.signal.aborted) return;
    const error = thrown instanceof DaywalkError ? thrown : new DefectError(batchName(batch), thrown);
    if (isRange && error instanceof BadRequestError) {
      const isTooLong = gauge.refused(days.length);
      // As long a range was answered before: this one has a day that makes it fail.
      if (!isTooLong) return this.#again(stream, days, Math.ceil(days.length / 2));
      await this.#freeAll(stream, days);
      return this.#parts.schedule.putBack(stream, days);
    }
    gauge.undecided(days.length);
    if (isRange && error.effect !== 'run') {
      // A range that says too little is an answer all the same.
      if (error instanceof UnclearRangeError) outcomes.answered(stream);
      else outcomes.unanswered(stream, error);
      return this.#again(stream, days, 1);
    }
    await outcomes.failed({ stream, day: days[0] }, call.meter.requests, error);
    claims.done({ orgId: this.#orgId, stream, day: days[0] });
  }

  async #again(stream: DailyStream, days: readonly UtcDay[], daysMax: number): Promise<void> {
    if (days.length === 0) return;
    await this.#freeAll(stream, days);
    this.#parts.schedule.again(stream, days, daysMax);
  }

  /** Frees units that are claimed again when their turn comes. */
  #freeAll(stream: DailyStream, days: readonly UtcDay[]): Promise<void> {
    return this.#parts.claims.free(days.map((day) => ({ orgId: this.#orgId, stream, day })));
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
