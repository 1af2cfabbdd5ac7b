import { DAILY_STREAMS, type DailyStream } from '../../core/stream.ts';
import type { LedgerUnit } from '../../warehouse/port.ts';

/** Rows that a batch may hold in memory, roughly; several batches are in flight. */
const BATCH_ROWS_TARGET = 8_000;
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
  #onTrial = false;
  /** A range to be tried was given out; whether it will be asked for is not known yet. */
  #isGivenOut = false;
  readonly #rowsPerDay = new Map<DailyStream, number>();
  readonly #slowMax = new Map<DailyStream, number>();

  /**
   * @param daysMax days to ask for at most, whatever the service allows.
   * @param rowsPerDay what is known from earlier runs, by stream.
   */
  constructor(daysMax: number, rowsPerDay: ReadonlyMap<DailyStream, number>) {
    this.#daysMax = daysMax;
    for (const [stream, rows] of rowsPerDay) this.#rowsPerDay.set(stream, rows);
  }

  /** Days to ask for at once. A stream of which nothing is known yet begins with one. */
  daysFor(stream: DailyStream): number {
    const rows = this.#rowsPerDay.get(stream);
    if (rows === undefined) return 1;
    const fitting = Math.max(1, Math.floor(BATCH_ROWS_TARGET / Math.max(1, rows)));
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
    if (days <= this.#proven) return false;
    this.#daysMax = Math.max(this.#proven, Math.floor(days / 2));
    return true;
  }

  /** A batch ended without an answer that tells anything of ranges. */
  undecided(days: number): void {
    if (days > this.#proven) this.#onTrial = false;
  }
}

/** Units of a stream that tell what the next ones will be like. */
const RECENT_UNITS = 14;

/** Rows per day of each stream, as the latest days of the ledger have them; streams without any are left out. */
export function rowsPerDay(ledger: readonly LedgerUnit[]): Map<DailyStream, number> {
  return new Map(
    DAILY_STREAMS.flatMap((stream) => {
      const held = ledger.filter((unit) => unit.stream === stream && unit.rows > 0);
      const recent = held.toSorted((a, b) => (a.day < b.day ? 1 : -1)).slice(0, RECENT_UNITS);
      return recent.length === 0 ? [] : [[stream, Math.max(...recent.map(({ rows }) => rows))] as const];
    }),
  );
}
