import type { UtcDay } from '../../core/day.ts';
import type { RuleName } from '../../core/errors.ts';
import { DaywalkError, DefectError, RequestsSpentError } from '../../core/errors.ts';
import { DAILY_STREAMS, type DailyStream } from '../../core/stream.ts';
import { ApiError, BadRequestError } from '../../http/index.ts';
import { type DayView, isShortOf, secondLook, type UnitView } from '../../judge/agreement.ts';
import { parseNotes } from '../../judge/notes.ts';
import { type DayCommit, type DayUnit, dayKey, type LedgerDay } from '../../units/index.ts';
import { batchesOf, batchName, type DayBatch } from '../plan.ts';
import { RangeMisfitsError, UnclearRangeError } from '../validate.ts';
import type { UnitClaims } from './claims.ts';
import type { KnownLedger } from './known-ledger.ts';
import type { Outcomes } from './outcomes.ts';
import type { RangeGauge } from './range-gauge.ts';
import type { Schedule } from './schedule.ts';
import type { Watch } from './watch.ts';

/** What must be requested again, and which empty days can be committed. */
interface NextLooks {
  /** Units to request alone, and by which rule. */
  readonly alone: readonly (DayUnit & { readonly rule: RuleName })[];
  /** Gaps to request again, each in one request. */
  readonly gaps: readonly DayBatch[];
  /** Days that were held back and are confirmed to have no rows. */
  readonly empty: readonly DayCommit[];
}

/** The answer of a range of /users for one of its days. */
interface UsersRange {
  readonly days: readonly UtcDay[];
  readonly activeUsers: number;
}

/**
 * Collects what a run has seen of each unit, and decides what must be requested again because a range left it
 * unclear.
 */
export class SecondLooks {
  readonly #ledger: KnownLedger;
  readonly #seen = new Map<UtcDay, Map<DailyStream, 'range' | 'own'>>();
  /** Days for which a range had no row, ready to be committed. */
  readonly #gaps = new Map<UtcDay, Map<DailyStream, DayCommit>>();
  readonly #confirmed = new Set<UtcDay>();
  readonly #requested = new Set<string>();
  readonly #usersRanges = new Map<UtcDay, UsersRange>();
  #untrusted = new Set<UtcDay>();
  #later = new Set<UtcDay>();
  /** `daily_active_users` as stored when the run began: an answer without the figure removes it. */
  readonly #activeBefore: ReadonlyMap<UtcDay, number | null>;
  /** The same, from this run's answers. */
  readonly #active = new Map<UtcDay, number | null>();

  constructor(ledger: KnownLedger) {
    this.#ledger = ledger;
    this.#activeBefore = new Map(
      ledger
        .days()
        .flatMap(({ stream, day, activeUsers }) =>
          stream === 'activity' ? [[day, activeUsers] as const] : [],
        ),
    );
  }

  /** A range had no row for a day. Its commit is held back. */
  holdGap(commit: DayCommit): void {
    const held = this.#gaps.get(commit.day) ?? new Map<DailyStream, DayCommit>();
    this.#gaps.set(commit.day, held.set(commit.stream, commit));
  }

  /** The users of a day must be requested alone, after this run has pulled `daily_active_users`. */
  requestLater({ day }: DayUnit): void {
    this.#later.add(day);
  }

  /** `daily_active_users` of a day: from this run if it has the figure, otherwise as stored. */
  activeUsers(day: UtcDay): number | null {
    const stored = this.#activeBefore.get(day) ?? this.#ledger.of('activity', day)?.activeUsers;
    return this.#active.get(day) ?? stored ?? null;
  }

  /** True while this run may still pull `daily_active_users` of a day. */
  isOpen(day: UtcDay): boolean {
    return this.#seen.get(day)?.has('activity') !== true && !this.#requested.has(`users ${day}`);
  }

  /** The gap of some days was requested again and had no row. */
  confirmGap(days: readonly UtcDay[]): void {
    for (const day of days) this.#confirmed.add(day);
  }

  /**
   * Records the answer to a day.
   * @returns true if it shows that a range of /users lacked users, so that this run must not trust any range of them.
   */
  recordAnswer(commit: DayCommit, batch: DayBatch): boolean {
    const { stream, day, isOwn } = commit;
    const seen = this.#seen.get(day) ?? new Map<DailyStream, 'range' | 'own'>();
    this.#seen.set(day, seen.set(stream, isOwn ? 'own' : 'range'));
    this.#gaps.get(day)?.delete(stream);
    // The figure is used before the day is committed.
    if (stream === 'activity') this.#active.set(day, commit.activeUsers);
    if (stream !== 'users') return false;
    const activeUsers = commit.activeUsers ?? 0;
    if (!isOwn) {
      this.#usersRanges.set(day, { days: batch.days, activeUsers });
      return false;
    }
    const range = this.#usersRanges.get(day);
    if (range === undefined || range.activeUsers >= activeUsers) return false;
    for (const other of range.days) if (other !== day) this.#untrusted.add(other);
    return true;
  }

  /**
   * Decides what to request or commit next. Call when no request is in flight. It requests nothing twice, so repeated calls
   * come to an end.
   * @param daysMax maximum number of days per request.
   */
  next(daysMax: number): NextLooks {
    const alone: (DayUnit & { rule: RuleName })[] = [...this.#untrusted].map((day) => ({
      stream: 'users',
      day,
      rule: 'range-lacks-users',
    }));
    for (const day of this.#later) alone.push({ stream: 'users', day, rule: 'loss-of-users' });
    this.#untrusted = new Set();
    this.#later = new Set();
    const toConfirm: DayUnit[] = [];
    const empty: DayCommit[] = [];
    for (const day of new Set([...this.#gaps.keys(), ...this.#seen.keys()])) {
      const look = secondLook(this.#viewOf(day), this.#confirmed.has(day));
      for (const unit of look.alone) alone.push({ ...unit, day });
      if (look.confirm !== null) toConfirm.push({ stream: look.confirm, day });
      for (const stream of look.empty) empty.push(...this.#take(stream, day));
    }
    const units = alone.filter((unit) => this.#isFirst(unit));
    for (const { stream, day } of units) this.#take(stream, day);
    const gaps = stretchesOf(
      toConfirm.filter(({ day }) => this.#isFirst({ stream: 'gap', day })),
      daysMax,
    );
    return { alone: units, gaps, empty };
  }

  #viewOf(day: UtcDay): DayView {
    const active = this.#ledger.of('activity', day)?.activeUsers ?? null;
    const views = new Map<DailyStream, UnitView>();
    for (const unit of this.#ledger.onDay(day)) views.set(unit.stream, this.#viewOfUnit(unit, active));
    for (const stream of this.#gaps.get(day)?.keys() ?? [])
      views.set(stream, { from: 'gap', isActive: false, isShort: false });
    return views;
  }

  #viewOfUnit(unit: LedgerDay, active: number | null): UnitView {
    const from = this.#seen.get(unit.day)?.get(unit.stream) ?? 'ledger';
    // If a range has the same content as an answer for the day alone, no second request is needed.
    const isKnown = from === 'range' && parseNotes(unit.watch).own === unit.contentSha256;
    const isActive = ['loaded', 'quarantined', 'doubted'].includes(unit.state);
    return { from: isKnown ? 'ledger' : from, isActive, isShort: isShortOf(unit, active) };
  }

  #take(stream: DailyStream, day: UtcDay): DayCommit[] {
    const held = this.#gaps.get(day);
    const commit = held?.get(stream);
    held?.delete(stream);
    if (held?.size === 0) this.#gaps.delete(day);
    return commit === undefined ? [] : [commit];
  }

  #isFirst({ stream, day }: { readonly stream: string; readonly day: UtcDay }): boolean {
    const name = `${stream} ${day}`;
    if (this.#requested.has(name)) return false;
    this.#requested.add(name);
    return true;
  }
}

/** Groups units into batches of consecutive days of one stream. */
function stretchesOf(units: readonly DayUnit[], daysMax: number): DayBatch[] {
  return DAILY_STREAMS.flatMap((stream) => {
    const days = units.filter((unit) => unit.stream === stream).map(({ day }) => day);
    return batchesOf(stream, days, daysMax).map((batch) => ({ ...batch, isGap: true }));
  });
}

interface FailedBatchesOptions {
  readonly orgId: string;
  readonly schedule: Schedule;
  readonly gauge: RangeGauge;
  readonly claims: UnitClaims;
  readonly outcomes: Outcomes;
  readonly watch: Watch;
  readonly sorter: { knownEmpty(unit: DayUnit): LedgerDay | undefined };
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
    if (error instanceof BadRequestError) gauge.recordRefusedDay();
    gauge.endTrial(days.length);
    // The other days of the range can still be compared, in shorter ranges.
    const isRejected = error instanceof ApiError && error.effect === 'unit';
    const pulled = days.filter((day) => !this.#isWatched({ stream, day }));
    if (isRange && (isRejected || error instanceof RangeMisfitsError)) {
      // Where all ranges are rejected, the stream is given up. What a range pulls counts when it is requested alone.
      if (isRejected && pulled.length === 0) outcomes.recordNoAnswer(stream, error);
      await this.again(stream, this.#watched(batch), Math.ceil(days.length / 2));
    } else this.#unwatch(batch, error);
    if (isRange && error.effect !== 'run') {
      // An unclear range is still an answer of the service.
      if (error instanceof UnclearRangeError) outcomes.recordAnswer(stream);
      else if (pulled.length === days.length) outcomes.recordNoAnswer(stream, error);
      const unknown = isWithoutRows(error) ? this.#unknown(stream, pulled) : pulled;
      // Where no day ever had rows, a range without rows is all that a service can answer.
      if (unknown.length < pulled.length) gauge.recordAnswer(stream, { days: days.length, rows: 0, ms: 0 });
      return this.again(stream, unknown, 1);
    }
    const [first] = pulled;
    if (first === undefined) return;
    if (error.effect !== 'run' && claims.isGone({ stream, day: first }))
      return claims.tryAgain({ stream, day: first, requests });
    if (error instanceof RequestsSpentError) outcomes.recordSpent(error);
    else await outcomes.recordFailure({ stream, day: first }, requests, error);
    claims.markDone({ stream, day: first });
  }

  /** Drops the days of a failed batch that are only compared. */
  #unwatch({ stream, days }: DayBatch, error: DaywalkError): void {
    const { watch, outcomes, schedule } = this.#options;
    const watched = days.flatMap((day) => watch.settled({ stream, day }) ?? []);
    if (watched.length === 0) return;
    if (isWithoutRows(error)) {
      // Days without activity may have no rows.
      schedule.putBatchesFirst(chooseStandIn({ stream, days }, watched));
      return;
    }
    watch.recordFailure(watched);
    outcomes.recordFailedLook(stream, error);
  }

  /** Leaves out the days about which a range without rows says nothing new: they stay as they are. */
  #unknown(stream: DailyStream, days: readonly UtcDay[]): UtcDay[] {
    const { sorter, outcomes, claims } = this.#options;
    return days.filter((day) => {
      const unit = sorter.knownEmpty({ stream, day });
      if (unit === undefined) return true;
      const nothing = { rowsWritten: 0, requests: 0, restated: false, quarantined: 0, warnings: [] };
      outcomes.recordDone({ stream, day }, { state: unit.state, rows: unit.rows, ...nothing });
      claims.markDone({ stream, day });
      return false;
    });
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

function isWithoutRows(error: DaywalkError): boolean {
  return error instanceof UnclearRangeError && error.reason === 'range-without-rows';
}

/**
 * Chooses what to request instead of a range of settled days that was answered without rows. An empty list may be a
 * mistake, so the newest day with stored activity is requested alone. If it has no row either, all days of the range
 * count as answered without rows. Nothing is requested if no day of the range has stored activity.
 */
export function chooseStandIn({ stream }: DayBatch, watched: readonly LedgerDay[]): DayBatch[] {
  const newest = watched.findLast(({ state }) => state !== 'empty');
  if (newest === undefined) return [];
  return [{ stream, days: [newest.day], speaksFor: watched.map(({ day }) => day) }];
}
