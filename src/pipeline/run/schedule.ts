import type { UtcDay } from '../../core/day.ts';
import { DAILY_STREAMS, type DailyStream } from '../../core/stream.ts';
import { batchesOf, type DayBatch } from '../batch.ts';
import type { DayUnit } from '../plan.ts';

/** Which units are still to be pulled, and in what order: oldest or newest days first, the streams in turn. */
export class Schedule {
  readonly #days: Map<DailyStream, UtcDay[]>;
  readonly #newestFirst: boolean;
  readonly #next: DayBatch[] = [];

  constructor(units: readonly DayUnit[], { newestFirst }: { readonly newestFirst: boolean }) {
    this.#newestFirst = newestFirst;
    this.#days = new Map(
      DAILY_STREAMS.map((stream) => [
        stream,
        units.filter((unit) => unit.stream === stream).map(({ day }) => day),
      ]),
    );
  }

  /** True when no unit is left to be handed out. */
  get isEmpty(): boolean {
    return this.#next.length === 0 && [...this.#days.values()].every((days) => days.length === 0);
  }

  /** Puts units in front of all others, as batches of at most so many days. */
  again(stream: DailyStream, days: readonly UtcDay[], daysMax: number): void {
    this.#next.push(...batchesOf(stream, days, daysMax));
  }

  /** Adds units where they belong in the order of the run. */
  add(units: readonly DayUnit[]): void {
    for (const stream of DAILY_STREAMS) {
      const days = units.filter((unit) => unit.stream === stream).map(({ day }) => day);
      if (days.length > 0) this.putBack(stream, days);
    }
  }

  /** Puts batches in front of all others. */
  next(batches: readonly DayBatch[]): void {
    this.#next.push(...batches);
  }

  /** Puts units back where they were, to be handed out in batches as long as their stream is to be asked for then. */
  putBack(stream: DailyStream, days: readonly UtcDay[]): void {
    const ascending = [...(this.#days.get(stream) ?? []), ...days].sort();
    this.#days.set(stream, this.#newestFirst ? ascending.reverse() : ascending);
  }

  /** Takes one unit out, to be pulled first. False when it is not planned. */
  first({ stream, day }: DayUnit): boolean {
    const days = this.#days.get(stream) ?? [];
    const index = days.indexOf(day);
    if (index < 0) return false;
    days.splice(index, 1);
    this.#next.unshift({ stream, days: [day] });
    return true;
  }

  /** The next batch, with at most as many days as its stream is to be asked for; undefined when there is none. */
  take(daysFor: (stream: DailyStream) => number): DayBatch | undefined {
    const next = this.#next.shift();
    if (next !== undefined) return next;
    const stream = this.#furthestBehind();
    return stream === undefined ? undefined : this.#takeFrom(stream, daysFor(stream));
  }

  /** The stream whose next day comes first in the order of the run. */
  #furthestBehind(): DailyStream | undefined {
    let best: { stream: DailyStream; day: UtcDay } | undefined;
    for (const [stream, [day]] of this.#days) {
      if (day === undefined) continue;
      const isBefore = best === undefined || (this.#newestFirst ? day > best.day : day < best.day);
      if (isBefore) best = { stream, day };
    }
    return best?.stream;
  }

  #takeFrom(stream: DailyStream, daysMax: number): DayBatch | undefined {
    const days = this.#days.get(stream) ?? [];
    const batch = batchesOf(stream, days.slice(0, daysMax), daysMax).find((found) =>
      found.days.some((day) => day === days[0]),
    );
    days.splice(0, batch?.days.length ?? 0);
    return batch;
  }
}
