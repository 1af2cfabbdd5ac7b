import { compareUtf8 } from '../../schema/order.ts';
import { tables } from '../../schema/tables.ts';
import type { Row } from '../warehouse/port.ts';
import type { Batch } from './parquet/column.ts';

/** Lists that are remembered at most. */
const LISTS_MAX = 10_000;

/** What is read of `user_daily_languages`. */
export const LANGUAGE_COLUMNS = ['date', 'user_id', 'language'] as const;

const USER_KEY = positionsOf(Object.keys(tables.userDaily.columns));
const LANGUAGE_KEY = positionsOf(LANGUAGE_COLUMNS);
const LANGUAGE = LANGUAGE_COLUMNS.indexOf('language');

function positionsOf(columns: readonly string[]): [date: number, user: number] {
  return [columns.indexOf('date'), columns.indexOf('user_id')];
}

/**
 * Rows of `user_daily` of one organization, each with the list of the user's languages of the day in their order: an
 * empty one where there are none. Both tables are read side by side, in key order, of
 * the languages {@link LANGUAGE_COLUMNS}.
 */
export async function* withLanguages(
  users: AsyncIterable<readonly Row[]>,
  languages: AsyncIterable<readonly Row[]>,
): AsyncGenerator<Batch> {
  const children = new Children(languages);
  const lists = new Lists();
  try {
    for await (const rows of users) {
      const joined: (readonly string[])[] = [];
      for (const row of rows) {
        let list = lists.empty;
        for (;;) {
          if (children.isRead) await children.read();
          const order = children.compareWith(row);
          if (order > 0) break;
          if (order === 0) list = lists.extended(list, children.language);
          children.next();
        }
        joined.push(list);
      }
      yield { rows, languages: joined };
    }
  } finally {
    await children.close();
  }
}

/** The rows of `user_daily_languages`, one after the other. */
class Children {
  readonly #chunks: AsyncIterator<readonly Row[]>;
  #rows: readonly Row[] = [];
  #at = 0;
  #isOver = false;

  constructor(chunks: AsyncIterable<readonly Row[]>) {
    this.#chunks = chunks[Symbol.asyncIterator]();
  }

  /** True when {@link read} must be called before anything is asked. */
  get isRead(): boolean {
    return this.#at >= this.#rows.length && !this.#isOver;
  }

  async read(): Promise<void> {
    while (this.isRead) {
      const { value, done } = await this.#chunks.next();
      this.#isOver = done === true;
      this.#rows = done === true ? [] : value;
      this.#at = 0;
    }
  }

  /** Below 0 where this row is of an earlier user or day, 0 where it is of this user, above 0 where it is later or none. */
  compareWith(user: Row): number {
    const row = this.#rows[this.#at];
    if (row === undefined) return 1;
    const [date, id] = LANGUAGE_KEY;
    const [userDate, userId] = USER_KEY;
    return (
      compareUtf8(String(row[date]), String(user[userDate])) ||
      compareUtf8(String(row[id]), String(user[userId]))
    );
  }

  get language(): string {
    return String(this.#rows[this.#at]?.[LANGUAGE]);
  }

  next(): void {
    this.#at += 1;
  }

  async close(): Promise<void> {
    await this.#chunks.return?.();
  }
}

/** Lists that are told apart by what they hold: thousands of users work in the same few languages. */
class Lists {
  readonly empty: readonly string[] = [];
  readonly #longer = new Map<readonly string[], Map<string, readonly string[]>>();
  #count = 0;

  /** The list with one more element: the same array for the same list and element, unless there are too many. */
  extended(list: readonly string[], element: string): readonly string[] {
    const known = this.#longer.get(list)?.get(element);
    if (known !== undefined) return known;
    const longer = [...list, element];
    if (this.#count < LISTS_MAX) {
      const siblings = this.#longer.get(list) ?? new Map<string, readonly string[]>();
      this.#longer.set(list, siblings.set(element, longer));
      this.#count += 1;
    }
    return longer;
  }
}
