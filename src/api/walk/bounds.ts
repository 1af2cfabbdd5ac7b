import { UnitError } from '../../core/errors.ts';
import { isObject } from '../../core/json.ts';
import { RULES, type RuleName } from '../../core/rules.ts';
import { CURSOR_CHARS_MAX, EMPTY_PAGES_MAX, PAGES_MAX, WALK_ROWS_MAX } from '../limits.ts';

/** What a walk is held to, and how its errors speak of it. */
export interface WalkBoundsOptions {
  /** What is walked, for messages. */
  readonly name: string;
  /** Characters of all answers at most. */
  readonly charsMax: number;
  /** What became of the pages before the one that fails, for the remedy. */
  readonly stored: string;
}

/**
 * Holds one walk to its bounds: pages, characters, rows, cursors that repeat or are too long, pages that bring nothing
 * new. It remembers a number for each row and cursor, so its own memory is bounded too.
 */
export class WalkBounds {
  readonly #options: WalkBoundsOptions;
  readonly #cursors = new Set<number>();
  readonly #rows = new Set<number>();
  #pages = 0;
  #chars = 0;
  #emptyPages = 0;

  constructor(options: WalkBoundsOptions) {
    this.#options = options;
  }

  /** Number of the page taken last, from 1. */
  get page(): number {
    return this.#pages;
  }

  /**
   * Counts a page with its text.
   * @throws {UnitError} `endless-walk` when that is more than a walk may have.
   */
  take({ text }: { readonly text: string }): void {
    const { charsMax } = this.#options;
    this.#pages += 1;
    this.#chars += text.length;
    if (this.#pages > PAGES_MAX) throw this.broken('endless-walk', `no end within ${PAGES_MAX} pages`);
    if (this.#chars > charsMax) throw this.broken('endless-walk', `no end within ${charsMax} characters`);
  }

  /**
   * Takes the rows of the page.
   * @throws {UnitError} `repeated-page` when none of them is new; `empty-pages` for one empty page too many in a row.
   */
  takeRows(rows: readonly unknown[]): void {
    const before = this.#rows.size;
    for (const row of rows) this.#rows.add(fingerprint(keyOf(row) ?? `page ${this.#pages}`));
    this.#emptyPages = rows.length === 0 ? this.#emptyPages + 1 : 0;
    if (this.#rows.size > WALK_ROWS_MAX)
      throw this.broken('endless-walk', `no end within ${WALK_ROWS_MAX} rows`);
    if (this.#emptyPages > EMPTY_PAGES_MAX)
      throw this.broken('empty-pages', `page ${this.#pages} is empty like the ${EMPTY_PAGES_MAX} before it`);
    if (rows.length > 0 && this.#rows.size === before)
      throw this.broken('repeated-page', `page ${this.#pages} has only rows of earlier pages`);
  }

  /**
   * Takes the cursor that leads on from the page.
   * @throws {UnitError} `long-cursor`, or `endless-walk` when it led on before.
   */
  takeCursor(cursor: string): void {
    if (cursor.length > CURSOR_CHARS_MAX)
      throw this.broken('long-cursor', `page ${this.#pages} has a cursor of ${cursor.length} characters`);
    const before = this.#cursors.size;
    if (this.#cursors.add(fingerprint(cursor)).size === before)
      throw this.broken('endless-walk', `page ${this.#pages} repeats the cursor "${shortened(cursor)}"`);
  }

  /** The error of a walk that breaks a rule. */
  broken(reason: RuleName, what: string): UnitError {
    const { name, stored } = this.#options;
    return new UnitError(`${name}: ${what}`, {
      reason,
      hint: `the service pages wrongly (${RULES[reason]}); ${stored}`,
    });
  }
}

/** What tells a row of /users from others: user and day, or its whole text where it lacks one of them. */
function keyOf(row: unknown): string | undefined {
  const { user_id: user, date } = isObject(row) ? row : {};
  if (typeof user === 'string' && user !== '' && typeof date === 'string') return `${user} ${date}`;
  try {
    return JSON.stringify(row);
  } catch (error) {
    // Nested deeper than the stack: it is refused where rows are checked.
    if (error instanceof RangeError) return undefined;
    throw error;
  }
}

/** 53 bits of a text, from two hashes: among a million texts two are alike once in ten thousand walks. */
function fingerprint(text: string): number {
  let high = 0x811c9dc5;
  let low = 0x9747b28c;
  for (let index = 0; index < text.length; index += 1) {
    const code = text.charCodeAt(index);
    high = Math.imul(high ^ code, 0x01000193);
    low = Math.imul(low ^ code, 0x5bd1e995) ^ (low >>> 15);
  }
  return (high >>> 0) * 2 ** 21 + (low >>> 11);
}

/** Enough of a cursor to recognize it. */
function shortened(cursor: string): string {
  return cursor.length > 64 ? `${cursor.slice(0, 64)}…` : cursor;
}
