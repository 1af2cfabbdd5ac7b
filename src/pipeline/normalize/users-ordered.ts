import { compareUtf8 } from '../../../schema/order.ts';
import { tables } from '../../../schema/tables.ts';
import { type EncodedRows, type Row, RowEncoder, type Value } from '../../warehouse/port.ts';

/** Position of the id in a row of `user_daily`. */
export const USER_ID = 2;

/** The rows of a user's languages, in the order of the languages. */
export function languageRows(
  [orgId = null, date = null, userId = null]: Row,
  spoken: readonly string[],
): Row[] {
  return spoken.map((language): Value[] => [orgId, date, userId, language, null]);
}

/** Users of a day who come in the order of their ids, each once. */
export class OrderedUsers {
  readonly #users = new RowEncoder(tables.userDaily);
  readonly #languages = new RowEncoder(tables.userDailyLanguages);
  #last: string | undefined;

  /** True for a user who comes after all that are here. */
  isNext(userId: string): boolean {
    return this.#last === undefined || compareUtf8(this.#last, userId) < 0;
  }

  /** Adds a user who is next. */
  add(row: Row, spoken: readonly string[]): void {
    this.#last = String(row[USER_ID]);
    this.#users.add(row);
    for (const language of languageRows(row, spoken)) this.#languages.add(language);
  }

  /** Rows in key order. */
  finish(): EncodedRows[] {
    return [this.#users.finish(), this.#languages.finish()];
  }
}
