import type { UtcDay } from '../../core/day.ts';
import { DAILY_STREAMS, type DailyStream } from '../../core/stream.ts';
import { isDayUnit, type LedgerDay, type LedgerUnit, unitName } from '../../warehouse/port.ts';

/** The ledger of one organization as far as this run knows it: as it was read, and what was committed since. */
export class KnownLedger {
  readonly #units: Map<string, LedgerUnit>;

  constructor(units: readonly LedgerUnit[]) {
    this.#units = new Map(units.map((unit) => [unitName(unit), unit]));
  }

  /** What the ledger says of a day; undefined for one that was never pulled. */
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
