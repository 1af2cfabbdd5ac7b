import { compareUtf8 } from '../../../schema/order.ts';
import { tables } from '../../../schema/tables.ts';
import { type EncodedRows, RowEncoder, type Values } from '../../warehouse/port.ts';

/** The rows of one user on one day. */
export interface UserRows {
  readonly userId: string;
  /** The row of `user_daily`. */
  readonly user: Values;
  /** The rows of `user_daily_languages`, in key order. */
  readonly languages: readonly Values[];
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

  /** Adds a user who is next. Returns false: nobody was there with other values. */
  add({ userId, user, languages }: UserRows): boolean {
    this.#last = userId;
    this.#users.add(user);
    for (const language of languages) this.#languages.add(language);
    return false;
  }

  /** Rows in key order. */
  finish(): [users: EncodedRows, languages: EncodedRows] {
    return [this.#users.finish(), this.#languages.finish()];
  }
}
