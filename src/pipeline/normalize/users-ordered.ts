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

/** Users of a day that are added in the order of their IDs, each once. */
export class OrderedUsers {
  readonly #users = new RowEncoder(tables.userDaily);
  readonly #languages = new RowEncoder(tables.userDailyLanguages);
  #last: string | undefined;

  /** True for a user who comes after all users that were added. */
  isNext(userId: string): boolean {
    return this.#last === undefined || compareUtf8(this.#last, userId) < 0;
  }

  /** Adds a user for whom {@link isNext} is true. Returns false, because this user was not added before. */
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
