import type { UtcDay } from '../../core/day.ts';
import { DAILY_STREAMS, type Stream } from '../../core/stream.ts';
import type { LedgerUnit } from '../../warehouse/port.ts';

/** The ledger of one organization as far as this run knows it: as it was read, and what was committed since. */
export class Book {
  readonly #units: Map<string, LedgerUnit>;

  constructor(units: readonly LedgerUnit[]) {
    this.#units = new Map(units.map((unit) => [nameOf(unit.stream, unit.day), unit]));
  }

  of(stream: Stream, day: UtcDay | ''): LedgerUnit | undefined {
    return this.#units.get(nameOf(stream, day));
  }

  /** The daily units of a day. */
  onDay(day: UtcDay): LedgerUnit[] {
    return DAILY_STREAMS.flatMap((stream) => this.of(stream, day) ?? []);
  }

  put(units: readonly LedgerUnit[]): void {
    for (const unit of units) this.#units.set(nameOf(unit.stream, unit.day), unit);
  }

  all(): LedgerUnit[] {
    return [...this.#units.values()];
  }
}

function nameOf(stream: Stream, day: string): string {
  return `${stream} ${day}`;
}
