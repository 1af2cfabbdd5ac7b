import { USERS_LIMIT } from '../../api/index.ts';
import { daysBetween, isDay, notedDay, type UtcDay } from '../../core/day.ts';
import { canonicalJson, isObject, parseJson } from '../../core/json.ts';
import { DAILY_STREAMS, type DailyStream } from '../../core/stream.ts';
import type { WatchCost } from '../../judge/watch-plan.ts';
import type { Warehouse } from '../../port/index.ts';
import { readState, writeState } from '../../records/index.ts';
import { isDayUnit, type LedgerUnit } from '../../units/index.ts';
import type { KnownLedger } from './known-ledger.ts';

/** About how many rows a batch may hold in memory. Several batches are in flight. */
const BATCH_ROWS_TARGET = 8_000;
/**
 * The same for a batch that is only compared. A page of users holds the same number of users, however many days it
 * covers.
 */
const COMPARED_ROWS_TARGET = 95_000;
/** About how many characters of an answer become one row; fewer than in large answers, so that the first ranges are short. */
const CHARS_PER_ROW = 120;
/** After this many days, a range that the service refused is tried again. */
const REFUSAL_DAYS = 31;
/** After a slower answer the next ranges are shorter, so that requests do not time out. */
const SLOW_ANSWER_MS = 8_000;

/**
 * Learns how many days to request at once. The specification does not say which ranges the service allows, so the
 * first range of a run is a trial: until it is answered, no other request covers more than one day.
 */
export class RangeGauge {
  #daysMax: number;
  /** The longest range that was answered. */
  #proven: number;
  /** This run has had no answer to a range of that length. */
  #isRemembered = true;
  #isRefused: boolean;
  #onTrial = false;
  /** A trial range was given out, but perhaps not claimed yet. */
  #isGivenOut = false;
  /** An earlier run was refused a longer range. */
  readonly #wasRefused: boolean;
  readonly #rowsPerDay = new Map<DailyStream, number>();
  readonly #slowMax = new Map<DailyStream, number>();
  readonly #comparing = new Set<DailyStream>();

  /**
   * @param daysMax maximum number of days per request, even if the service allows more.
   * @param rowsPerDay rows per day that earlier runs stored, by stream.
   * @param remembered the longest range that an earlier run learned; null if none did.
   */
  constructor(
    daysMax: number,
    rowsPerDay: ReadonlyMap<DailyStream, number>,
    remembered: LongestRange | null = null,
  ) {
    for (const [stream, rows] of rowsPerDay) this.#rowsPerDay.set(stream, rows);
    this.#proven = Math.min(daysMax, remembered?.days ?? 1);
    this.#wasRefused = (remembered?.refusedOn ?? null) !== null;
    this.#isRefused = this.#wasRefused;
    this.#daysMax = this.#isRefused ? this.#proven : daysMax;
  }

  /** Most days of this stream are only compared, so its batches may be longer. */
  expectComparisons(stream: DailyStream): void {
    this.#comparing.add(stream);
  }

  /**
   * A day of a stream was answered before the first request that covers more days.
   * @param chars the length of its only page.
   */
  expectRows(stream: DailyStream, chars: number): void {
    if (!this.#rowsPerDay.has(stream)) this.#rowsPerDay.set(stream, chars / CHARS_PER_ROW);
  }

  /** From now on, each request for this stream covers one day. */
  distrust(stream: DailyStream): void {
    this.#slowMax.set(stream, 1);
  }

  /** The longest range that the service has answered, and whether it refuses longer ones. */
  get learned(): { readonly days: number; readonly isRefused: boolean } {
    return { days: this.#proven, isRefused: this.#isRefused };
  }

  /** Days per request that are safe for every stream. */
  get daysMax(): number {
    return Math.max(1, Math.min(this.#daysMax, this.#proven));
  }

  /** Days per request for a stream. A stream about which nothing is known begins with one. */
  daysFor(stream: DailyStream): number {
    const rows = this.#rowsPerDay.get(stream);
    if (rows === undefined) return 1;
    const target = this.#comparing.has(stream) ? COMPARED_ROWS_TARGET : BATCH_ROWS_TARGET;
    const fitting = fittingDays(target, rows, this.#daysMax);
    const days = Math.min(fitting, this.#slowMax.get(stream) ?? this.#daysMax);
    // Other requests keep to proven ranges until the trial has ended.
    if (days > this.#proven && (this.#onTrial || this.#isGivenOut)) return this.#proven;
    this.#isGivenOut ||= days > this.#proven;
    return days;
  }

  /** Reports the longest of the ranges that were given out last and will be requested. */
  recordTaken(days: number): void {
    this.#onTrial ||= this.#isGivenOut && days > this.#proven;
    this.#isGivenOut = false;
  }

  /** A batch was answered. */
  recordAnswer(stream: DailyStream, { days, rows, ms }: { days: number; rows: number; ms: number }): void {
    this.endTrial(days);
    if (days >= this.#proven) this.#isRemembered = false;
    this.#proven = Math.max(this.#proven, days);
    this.#rowsPerDay.set(stream, Math.max(rows / days, (this.#rowsPerDay.get(stream) ?? 0) / 2));
    if (days > 1 && ms > SLOW_ANSWER_MS) this.#slowMax.set(stream, Math.max(1, Math.floor(days / 2)));
  }

  /**
   * A range was refused. From now on, ranges have at most half its length. Returns false if a range of that length
   * was answered before, so that the length is not the reason.
   */
  recordRefusal(days: number): boolean {
    this.endTrial(days);
    if (this.#isRemembered && days <= this.#proven) this.#proven = 1;
    if (days <= this.#proven) return false;
    this.#isRemembered = false;
    this.#isRefused = true;
    this.#daysMax = Math.max(this.#proven, Math.floor(days / 2));
    return true;
  }

  /**
   * A day was refused alone, so it may be the reason why ranges of this run were. They stay short in this run, because each longer one
   * with another such day would be refused again, and the next runs are told of no refusal.
   */
  recordRefusedDay(): void {
    this.#isRefused = this.#wasRefused;
  }

  /** A batch ended without an answer that shows whether its range is allowed. */
  endTrial(days: number): void {
    if (days > this.#proven) this.#onTrial = false;
  }
}

function fittingDays(target: number, rowsPerDay: number, daysMax: number): number {
  return Math.min(daysMax, Math.max(1, Math.floor(target / Math.max(1, rowsPerDay))));
}

/** Days per request of a stream that is only compared. */
export function comparedDays(rowsPerDay: number, daysMax: number): number {
  return fittingDays(COMPARED_ROWS_TARGET, rowsPerDay, daysMax);
}

/**
 * The longest allowed range, which a run stores for the next ones. `refusedOn` is the UTC day on which a longer one was
 * refused; null if none was.
 */
export interface LongestRange {
  readonly days: number;
  readonly refusedOn: UtcDay | null;
}

/** Reads what an earlier run stored about ranges; null if there is nothing, or if its refusal is too old to rely on. */
export function rememberedRange(text: string | null, today: UtcDay): LongestRange | null {
  const value = text === null ? null : parseJson(text);
  if (!isObject(value) || typeof value['days'] !== 'number') return null;
  const refusedOn = isDay(value['refusedOn']) ? notedDay(value['refusedOn'], today) : null;
  if (refusedOn !== null && daysBetween(refusedOn, today) >= REFUSAL_DAYS) return null;
  return { days: value['days'], refusedOn };
}

/** The longest range that is worth a request: a longer one was refused, or the settings allow no longer one. */
export function allowedRange(rangeDays: number, remembered: LongestRange | null): number {
  return remembered === null || remembered.refusedOn === null
    ? rangeDays
    : Math.min(rangeDays, remembered.days);
}

/** How many of the latest days predict the size of the next ones. */
const RECENT_UNITS = 14;

/** The most rows that any of the latest days of a stream has, by stream. Streams without rows are left out. */
export function rowsPerDay(ledger: readonly LedgerUnit[]): Map<DailyStream, number> {
  return new Map(
    DAILY_STREAMS.flatMap((stream) => {
      const held = ledger.filter(isDayUnit).filter((unit) => unit.stream === stream && unit.rows > 0);
      const recent = held.toSorted((a, b) => (a.day < b.day ? 1 : -1)).slice(0, RECENT_UNITS);
      return recent.length === 0 ? [] : [[stream, Math.max(...recent.map(({ rows }) => rows))] as const];
    }),
  );
}

/** The name in `export_state` for the longest range that the service answers. */
export const RANGES = 'ranges';

/** A gauge that begins with what earlier runs learned. */
export async function openRangeGauge(
  { warehouse, rangeDays }: { readonly warehouse: Warehouse; readonly rangeDays: number },
  orgId: string,
  ledger: KnownLedger,
  today: UtcDay,
): Promise<RangeGauge> {
  const remembered = rememberedRange(await readState(warehouse, orgId, RANGES), today);
  return new RangeGauge(rangeDays, rowsPerDay(ledger.all()), remembered);
}

/** Stores what this run learned, for the next ones. */
export async function rememberRange(
  { warehouse }: { readonly warehouse: Warehouse },
  gauge: RangeGauge,
  orgId: string,
  today: UtcDay,
): Promise<void> {
  const text = await readState(warehouse, orgId, RANGES);
  const before = rememberedRange(text, today);
  const { days, isRefused } = gauge.learned;
  const now = canonicalJson({ days, refusedOn: isRefused ? (before?.refusedOn ?? today) : null });
  // That every range is refused is believed only where none was answered before: a day that is not over makes its ranges fail, too.
  const isLearned = days > 1 || (isRefused && (before?.days ?? 1) <= 1);
  if (isLearned && now !== text) await writeState(warehouse, orgId, RANGES, now);
}

/** The streams whose answers are small, a few kilobytes a day, and the others. */
export const LIGHT: readonly DailyStream[] = ['tools', 'activity', 'productivity'];
export const HEAVY: readonly DailyStream[] = ['tokens', 'users'];

/** Recent days whose size predicts that of others. */
const SIZED_UNITS = 31;
/** Distinct users of a stretch, for each user of its busiest day: not everybody is active every day. */
const USERS_PER_DAILY_USER = 1.5;

/** The requests that the watch costs, from what the ledger says of the latest days. */
export function watchCost({
  ledger,
  watchDays,
  rangeDays,
}: {
  readonly ledger: KnownLedger;
  readonly watchDays: number;
  /** Days per request. */
  readonly rangeDays: number;
}): WatchCost {
  const newest = ledger.days().toSorted((a, b) => (a.day < b.day ? 1 : -1));
  const recent = newest.filter(({ stream }) => stream === 'users').slice(0, SIZED_UNITS);
  const users = Math.max(0, ...recent.map(({ activeUsers }) => activeUsers ?? 0)) * USERS_PER_DAILY_USER;
  const pages = Math.max(1, Math.ceil(users / USERS_LIMIT.max));
  const rows = rowsPerDay(newest);
  const daysOf = (stream: DailyStream) => comparedDays(rows.get(stream) ?? 0, rangeDays);
  const [fullDays, heldDays] = [Math.min(watchDays, rangeDays), Math.min(watchDays, daysOf('users'))];
  const requestsFor = (days: number, perRequest: number) => Math.ceil(days / Math.max(1, perRequest));
  const recentTokens = requestsFor(watchDays, daysOf('tokens'));
  return {
    light: (LIGHT.length + 1) * requestsFor(watchDays, rangeDays),
    fullDays,
    walksFull: heldDays < fullDays,
    tokens: requestsFor(fullDays, daysOf('tokens')),
    users: pages,
    recent: recentTokens + pages * requestsFor(watchDays, heldDays),
    walk: recentTokens + pages * requestsFor(watchDays, rangeDays),
  };
}
