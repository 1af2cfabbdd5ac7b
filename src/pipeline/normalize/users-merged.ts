import { compareUtf8 } from '../../../schema/order.ts';
import { readerOf } from '../../../schema/row.ts';
import { tables } from '../../../schema/tables.ts';
import { decodeRows, type EncodedRows, encodeRows, type Values } from '../../warehouse/port.ts';
import type { OrderedUsers, UserRows } from './users-ordered.ts';

const { userDaily, userDailyLanguages } = tables;
const idOfUser = readerOf(userDaily, 'user_id');
const idOfLanguage = readerOf(userDailyLanguages, 'user_id');

/** Users of a day in any order. If a user is repeated, the last record counts. */
export class MergedUsers {
  readonly #users = new Map<string, UserRows>();

  /** Takes over users who came in order. */
  static of(ordered: OrderedUsers): MergedUsers {
    const merged = new MergedUsers();
    const [users, languages] = ordered.finish();
    const languagesOf = new Map<string, Values[]>();
    for (const row of decodeRows(languages).rows) {
      const userId = String(idOfLanguage(row));
      const own = languagesOf.get(userId);
      if (own === undefined) languagesOf.set(userId, [row]);
      else own.push(row);
    }
    for (const user of decodeRows(users).rows) {
      const userId = String(idOfUser(user));
      merged.add({ userId, user, languages: languagesOf.get(userId) ?? [] });
    }
    return merged;
  }

  /** Adds a user. Returns true if the user was added before with other values. */
  add(rows: UserRows): boolean {
    const before = this.#users.get(rows.userId);
    this.#users.set(rows.userId, rows);
    return before !== undefined && JSON.stringify(before) !== JSON.stringify(rows);
  }

  /** Rows in key order. */
  finish(): [users: EncodedRows, languages: EncodedRows] {
    const users = [...this.#users.values()].sort((a, b) => compareUtf8(a.userId, b.userId));
    return [
      encodeRows({ table: userDaily, rows: users.map(({ user }) => user) }),
      encodeRows({ table: userDailyLanguages, rows: users.flatMap(({ languages }) => languages) }),
    ];
  }
}
