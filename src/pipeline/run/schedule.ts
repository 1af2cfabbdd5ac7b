import type { UtcDay } from '../../core/day.ts';
import { DAILY_STREAMS, type DailyStream } from '../../core/stream.ts';
import { type DayUnit, unitName } from '../../units/index.ts';
import { batchesOf, type DayBatch } from '../plan.ts';

/**
 * About how many units are claimed at once: enough to keep all requests busy, few enough to leave some to other
 * workers.
 */
const CLAIMED_UNITS = 16;

/** The order of a run. */
interface Order {
  readonly newestFirst: boolean;
  /**
   * True for a unit that probably has not changed: a settled one that is compared, or one that is looked at once more.
   * @default no unit is
   */
  readonly isCompared?: (unit: DayUnit) => boolean;
}

/**
 * The units that are still to be pulled, in order: oldest or newest days first, the streams in turn. Units that are only
 * compared or looked at again fill batches next to units that are pulled; the rest of them come last. So a run with few
 * requests spends them on what is new.
 */
export class Schedule {
  readonly #days: Map<DailyStream, UtcDay[]>;
  readonly #newestFirst: boolean;
  readonly #isCompared: (unit: DayUnit) => boolean;
  readonly #next: DayBatch[] = [];
  /** Names of units that no range includes. */
  readonly #alone = new Set<string>();

  constructor(units: readonly DayUnit[], { newestFirst, isCompared = () => false }: Order) {
    this.#newestFirst = newestFirst;
    this.#isCompared = isCompared;
    this.#days = new Map(
      DAILY_STREAMS.map((stream) => [
        stream,
        units.filter((unit) => unit.stream === stream).map(({ day }) => day),
      ]),
    );
  }

  /** True if no unit is left. */
  get isEmpty(): boolean {
    return this.#next.length === 0 && [...this.#days.values()].every((days) => days.length === 0);
  }

  /** Puts units in front of all others, as batches of at most `daysMax` days. */
  putFirst(stream: DailyStream, days: readonly UtcDay[], daysMax: number): void {
    this.#next.push(...batchesOf(stream, days, daysMax));
  }

  /** Adds units at their place in the order. */
  add(units: readonly DayUnit[]): void {
    for (const stream of DAILY_STREAMS) {
      const days = units.filter((unit) => unit.stream === stream).map(({ day }) => day);
      if (days.length > 0) this.putBack(stream, days);
    }
  }

  /** Puts batches in front of all others. */
  putBatchesFirst(batches: readonly DayBatch[]): void {
    this.#next.push(...batches);
  }

  /** Puts units back at their place. The length of their batches is decided when they are taken again. */
  putBack(stream: DailyStream, days: readonly UtcDay[]): void {
    const ascending = [...(this.#days.get(stream) ?? []), ...days].sort();
    this.#days.set(stream, this.#newestFirst ? ascending.reverse() : ascending);
  }

  /** Makes a unit a separate batch, at its place in the order. False if it is not planned. */
  keepAlone(unit: DayUnit): boolean {
    const isPlanned = this.#days.get(unit.stream)?.includes(unit.day) === true;
    if (isPlanned) this.#alone.add(unitName(unit));
    return isPlanned;
  }

  /** Takes the next batches, as many as are claimed at once. */
  takeSome(daysFor: (stream: DailyStream) => number): DayBatch[] {
    const batches: DayBatch[] = [];
    for (let units = 0; units < CLAIMED_UNITS; units += batches.at(-1)?.days.length ?? 0) {
      const batch = this.take(daysFor);
      if (batch === undefined) break;
      batches.push(batch);
    }
    return batches;
  }

  /**
   * Takes the next batch; undefined if there is none.
   * @param daysFor maximum number of days per request, by stream.
   */
  take(daysFor: (stream: DailyStream) => number): DayBatch | undefined {
    const next = this.#next.shift();
    if (next !== undefined) return next;
    const stream = this.#furthestBehind();
    return stream === undefined ? undefined : this.#takeFrom(stream, daysFor(stream));
  }

  /** The stream whose next day comes first in the order. Days that are only compared count when no other is left. */
  #furthestBehind(): DailyStream | undefined {
    const next = [...this.#days].flatMap(([stream, days]) => {
      const index = this.#nextIndex(stream, days);
      const day = days[index];
      return day === undefined ? [] : [{ stream, day, isCompared: this.#isCompared({ stream, day }) }];
    });
    const [best] = next.toSorted(
      (a, b) => Number(a.isCompared) - Number(b.isCompared) || this.#compare(a.day, b.day),
    );
    return best?.stream;
  }

  /** The index of a stream's next day: the first one to pull, otherwise the first one. */
  #nextIndex(stream: DailyStream, days: readonly UtcDay[]): number {
    return Math.max(
      0,
      days.findIndex((day) => !this.#isCompared({ stream, day })),
    );
  }

  #compare(a: UtcDay, b: UtcDay): number {
    if (a === b) return 0;
    return a < b === this.#newestFirst ? 1 : -1;
  }

  /**
   * Takes the next day with the days that follow it, and, if they leave room, with days before it that are only
   * compared.
   */
  #takeFrom(stream: DailyStream, daysMax: number): DayBatch | undefined {
    const days = this.#days.get(stream) ?? [];
    let start = this.#nextIndex(stream, days);
    const next = days[start];
    const isAlone = (day: UtcDay) => this.#alone.has(unitName({ stream, day }));
    if (next !== undefined && isAlone(next)) {
      days.splice(start, 1);
      return { stream, days: [next] };
    }
    const run = (from: number, to: number) => {
      const ranged = days.slice(from, to).filter((day) => !isAlone(day));
      return batchesOf(stream, ranged, daysMax).find((found) => found.days.some((day) => day === next));
    };
    const end = start + (run(start, start + daysMax)?.days.length ?? 0);
    start = Math.max(0, end - daysMax);
    const batch = run(start, end);
    days.splice(end - (batch?.days.length ?? 0), batch?.days.length ?? 0);
    return batch;
  }
}
