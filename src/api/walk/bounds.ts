import { UnitError } from '../../core/errors.ts';
import { isObject } from '../../core/json.ts';
import { RULES, type RuleName } from '../../core/rules.ts';
import { CURSOR_CHARS_MAX, EMPTY_PAGES_MAX, PAGES_MAX, WALK_ROWS_MAX } from '../limits.ts';

/** Options of {@link WalkBounds}. */
export interface WalkBoundsOptions {
  /** Name of the walk, for messages. */
  readonly name: string;
  /** Maximum number of characters of all answers. */
  readonly charsMax: number;
  /** States whether the pages before the failing one are stored, for the hint. */
  readonly stored: string;
}

/**
 * Checks the bounds of one walk: pages, characters, rows, cursors that repeat or are too long, pages without new rows. It
 * keeps one number for each row and cursor, so its own memory is bounded too.
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

  /** Number of the latest page, from 1. */
  get page(): number {
    return this.#pages;
  }

  /**
   * Counts a page.
   * @throws {UnitError} `endless-walk` beyond the maximum of pages or characters.
   */
  take({ text }: { readonly text: string }): void {
    const { charsMax } = this.#options;
    this.#pages += 1;
    this.#chars += text.length;
    if (this.#pages > PAGES_MAX) throw this.broken('endless-walk', `no end within ${PAGES_MAX} pages`);
    if (this.#chars > charsMax) throw this.broken('endless-walk', `no end within ${charsMax} characters`);
  }

  /**
   * Checks the rows of the page.
   * @throws {UnitError} `repeated-page` if none of them is new; `empty-pages` for too many empty pages in a row.
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
   * Checks the cursor of the next page.
   * @throws {UnitError} `long-cursor`, or `endless-walk` if an earlier page had it.
   */
  takeCursor(cursor: string): void {
    if (cursor.length > CURSOR_CHARS_MAX)
      throw this.broken('long-cursor', `page ${this.#pages} has a cursor of ${cursor.length} characters`);
    const before = this.#cursors.size;
    if (this.#cursors.add(fingerprint(cursor)).size === before)
      throw this.broken('endless-walk', `page ${this.#pages} repeats the cursor "${shorten(cursor)}"`);
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

/** The identity of a row of /users: user and day, or its whole text if one of them is missing. */
function keyOf(row: unknown): string | undefined {
  const { user_id: user, date } = isObject(row) ? row : {};
  if (typeof user === 'string' && user !== '' && typeof date === 'string') return `${user} ${date}`;
  try {
    return JSON.stringify(row);
  } catch (error) {
    // Nested deeper than the stack allows: the row check rejects the row.
    if (error instanceof RangeError) return undefined;
    throw error;
  }
}

/** A 53-bit hash of a text, made of two hashes. One of 18,000 walks of a million rows has a collision. */
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

function shorten(cursor: string): string {
  return cursor.length > 64 ? `${cursor.slice(0, 64)}…` : cursor;
}
