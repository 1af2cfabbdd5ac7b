import type { UtcDay } from '../../core/day.ts';
import { DAILY_STREAMS, type DailyStream } from '../../core/stream.ts';
import { isDayUnit, type LedgerDay, type LedgerUnit, unitName } from '../../warehouse/port.ts';

/** The ledger of one organization as this run knows it: the rows that it read, updated by its commits. */
export class KnownLedger {
  readonly #units: Map<string, LedgerUnit>;

  constructor(units: readonly LedgerUnit[]) {
    this.#units = new Map(units.map((unit) => [unitName(unit), unit]));
  }

  /** The unit of a day; undefined if it was never pulled. */
  of(stream: DailyStream, day: UtcDay): LedgerDay | undefined {
    const unit = this.#units.get(unitName({ stream, day }));
    return unit?.kind === 'day' ? unit : undefined;
  }

  /** The units of a day. */
  onDay(day: UtcDay): LedgerDay[] {
    return DAILY_STREAMS.flatMap((stream) => this.of(stream, day) ?? []);
  }

  put(units: readonly LedgerUnit[]): void {
    for (const unit of units) this.#units.set(unitName(unit), unit);
  }

  all(): LedgerUnit[] {
    return [...this.#units.values()];
  }

  /** All units that have a day. */
  days(): LedgerDay[] {
    return this.all().filter(isDayUnit);
  }
}
