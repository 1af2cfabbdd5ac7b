import { createHash } from 'node:crypto';
import type { UtcDay } from '../../core/day.ts';
import { DAILY_STREAMS, type DailyStream } from '../../core/stream.ts';
import { type DayUnit, isDayUnit, type LedgerDay, type LedgerUnit, unitName } from '../../units/index.ts';

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

/** Maximum number of characters that are hashed at once. */
const SLICE_CHARS = 256 * 1024;

/** A stored day with the digest of its answers. */
export interface KnownDay {
  readonly unit: LedgerDay & { readonly contentSha256: string };
  readonly answersSha256: string;
}

/**
 * A SHA-256 over the answers of a day as they came. Most days that are pulled again are answered as before, byte for
 * byte. Their content is stored already, so they need no validation, normalization or comparison: more than half of
 * the work.
 */
export class AnswersDigest {
  readonly #hash;
  #hex: string | undefined;

  /** @param maker what else the content depends on: the version of the program and its settings. */
  constructor(maker: string) {
    this.#hash = createHash('sha256').update(`${maker}\n`);
  }

  /** Adds the text of a page, in slices, because the hash copies its input. */
  add(text: string): void {
    this.#hash.update(`${text.length}\n`);
    for (let start = 0; start < text.length; ) {
      const end = sliceEnd(text, start + SLICE_CHARS);
      this.#hash.update(text.slice(start, end));
      start = end;
    }
  }

  /** The digest in lower-case hexadecimal. Nothing can be added afterwards. */
  hex(): string {
    this.#hex ??= this.#hash.digest('hex');
    return this.#hex;
  }
}

/** The end of a slice that does not split a surrogate pair: its halves would be encoded differently. */
function sliceEnd(text: string, end: number): number {
  const last = text.charCodeAt(end - 1);
  return last >= 0xd800 && last <= 0xdbff ? end + 1 : end;
}

/** The stored days whose answers are known. */
export class KnownDays {
  readonly #days: ReadonlyMap<string, KnownDay>;
  readonly #taken = new Set<string>();

  constructor(ledger: readonly LedgerUnit[]) {
    this.#days = new Map(
      ledger.filter(isDayUnit).flatMap((unit) => {
        const known = knownDay(unit);
        return known === undefined ? [] : [[unitName(unit), known] as const];
      }),
    );
  }

  /** Takes what is known about a day. A second call returns undefined: the first attempt has failed. */
  take(unit: DayUnit): KnownDay | undefined {
    const name = unitName(unit);
    if (this.#taken.has(name)) return undefined;
    this.#taken.add(name);
    return this.#days.get(name);
  }
}

function knownDay(unit: LedgerDay): KnownDay | undefined {
  const { state, answersSha256, contentSha256 } = unit;
  if (state !== 'loaded' || answersSha256 === null || contentSha256 === null) return undefined;
  return { unit: { ...unit, contentSha256 }, answersSha256 };
}
