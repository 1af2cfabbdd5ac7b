import { daysBetween, isDay, type UtcDay } from '../../../core/day.ts';
import { isObject } from '../../../core/json.ts';
import { DAILY_STREAMS, type DailyStream } from '../../../core/stream.ts';
import { isDayUnit, type LedgerUnit } from '../../../warehouse/port.ts';

/** Rows that a batch may hold in memory, roughly; several batches are in flight. */
const BATCH_ROWS_TARGET = 8_000;
/** The same for a walk of users that only compares: a page holds so many users, however many days are asked for. */
const COMPARED_ROWS_TARGET = 95_000;
/** A service that refused long ranges is asked for them again after so many days. */
const REFUSAL_DAYS = 31;
/** An answer that takes longer makes the next ranges shorter, well before it times out. */
const SLOW_ANSWER_MS = 8_000;

/**
 * Learns how many days to ask for at once. Which ranges a service allows is not documented, so the first range of a run
 * is a trial: until one was answered, nothing else longer than a day is asked for.
 */
export class RangeGauge {
  #daysMax: number;
  /** The longest range that was answered in this run. */
  #proven = 1;
  /** That range was answered in an earlier run only. */
  #isRemembered = false;
  #isRefused = false;
  #onTrial = false;
  /** A range to be tried was given out; whether it will be asked for is not known yet. */
  #isGivenOut = false;
  readonly #rowsPerDay = new Map<DailyStream, number>();
  readonly #slowMax = new Map<DailyStream, number>();
  readonly #comparing = new Set<DailyStream>();

  /**
   * @param daysMax days to ask for at most, whatever the service allows.
   * @param rowsPerDay what is known from earlier runs, by stream.
   * @param remembered the longest range that an earlier run learned, see {@link learned}; null if none did.
   */
  constructor(
    daysMax: number,
    rowsPerDay: ReadonlyMap<DailyStream, number>,
    remembered: LongestRange | null = null,
  ) {
    this.#daysMax = daysMax;
    for (const [stream, rows] of rowsPerDay) this.#rowsPerDay.set(stream, rows);
    if (remembered === null || remembered.days <= 1) return;
    this.#proven = Math.min(daysMax, remembered.days);
    this.#isRemembered = true;
    if (remembered.refusedOn === null) return;
    this.#daysMax = this.#proven;
    this.#isRefused = true;
  }

  /** The days of most of this stream's batches are only compared, and may be more. */
  compares(stream: DailyStream): void {
    this.#comparing.add(stream);
  }

  /** From now on this stream is asked for by the day. */
  distrusts(stream: DailyStream): void {
    this.#slowMax.set(stream, 1);
  }

  /** The longest range that is known to be answered, and whether longer ones are refused. */
  get learned(): { readonly days: number; readonly isRefused: boolean } {
    return { days: this.#proven, isRefused: this.#isRefused };
  }

  /** Days to ask for at once, whatever the stream. */
  get daysMax(): number {
    return Math.max(1, Math.min(this.#daysMax, this.#proven));
  }

  /** Days to ask for at once. A stream of which nothing is known yet begins with one. */
  daysFor(stream: DailyStream): number {
    const rows = this.#rowsPerDay.get(stream);
    if (rows === undefined) return 1;
    const target = this.#comparing.has(stream) ? COMPARED_ROWS_TARGET : BATCH_ROWS_TARGET;
    const fitting = Math.max(1, Math.floor(target / Math.max(1, rows)));
    const days = Math.min(this.#daysMax, fitting, this.#slowMax.get(stream) ?? this.#daysMax);
    // Others wait with longer ranges until the trial has ended.
    if (days > this.#proven && (this.#onTrial || this.#isGivenOut)) return this.#proven;
    this.#isGivenOut ||= days > this.#proven;
    return days;
  }

  /** What became of the ranges that were last given out: so many days has the longest of them that will be asked for. */
  taken(days: number): void {
    this.#onTrial ||= this.#isGivenOut && days > this.#proven;
    this.#isGivenOut = false;
  }

  /** A batch was answered. */
  answered(stream: DailyStream, { days, rows, ms }: { days: number; rows: number; ms: number }): void {
    this.undecided(days);
    if (days >= this.#proven) this.#isRemembered = false;
    this.#proven = Math.max(this.#proven, days);
    this.#rowsPerDay.set(stream, Math.max(rows / days, (this.#rowsPerDay.get(stream) ?? 0) / 2));
    if (days > 1 && ms > SLOW_ANSWER_MS) this.#slowMax.set(stream, Math.max(1, Math.floor(days / 2)));
  }

  /**
   * A range was refused: half of it is the most to ask for from now on. False where as long a one was answered before,
   * so that its length is not the reason.
   */
  refused(days: number): boolean {
    this.undecided(days);
    if (this.#isRemembered && days <= this.#proven) this.#proven = 1;
    if (days <= this.#proven) return false;
    this.#isRemembered = false;
    this.#isRefused = true;
    this.#daysMax = Math.max(this.#proven, Math.floor(days / 2));
    return true;
  }

  /** A batch ended without an answer that tells anything of ranges. */
  undecided(days: number): void {
    if (days > this.#proven) this.#onTrial = false;
  }
}

/** What a run remembers of ranges. `refusedOn` is the UTC day on which a longer one was refused; null if none was. */
export interface LongestRange {
  readonly days: number;
  readonly refusedOn: UtcDay | null;
}

/** What an earlier run remembered; null where nothing is known, or a refusal is so old that it may hold no more. */
export function rememberedRange(text: string | null, today: UtcDay): LongestRange | null {
  const value: unknown = text === null ? null : JSON.parse(text);
  if (!isObject(value) || typeof value['days'] !== 'number') return null;
  const refusedOn = isDay(value['refusedOn']) ? value['refusedOn'] : null;
  if (refusedOn !== null && daysBetween(refusedOn, today) >= REFUSAL_DAYS) return null;
  return { days: value['days'], refusedOn };
}

/** Units of a stream that tell what the next ones will be like. */
const RECENT_UNITS = 14;

/** Rows per day of each stream, as the latest days of the ledger have them; streams without any are left out. */
export function rowsPerDay(ledger: readonly LedgerUnit[]): Map<DailyStream, number> {
  return new Map(
    DAILY_STREAMS.flatMap((stream) => {
      const held = ledger.filter(isDayUnit).filter((unit) => unit.stream === stream && unit.rows > 0);
      const recent = held.toSorted((a, b) => (a.day < b.day ? 1 : -1)).slice(0, RECENT_UNITS);
      return recent.length === 0 ? [] : [[stream, Math.max(...recent.map(({ rows }) => rows))] as const];
    }),
  );
}
