import { inKeyOrder } from '../../../schema/order.ts';
import { tables } from '../../../schema/tables.ts';
import { decodeRows, type EncodedRows, encodeRows, type Row } from '../../warehouse/port.ts';
import { languageRows, type OrderedUsers, USER_ID } from './users-ordered.ts';

interface User {
  readonly row: Row;
  readonly spoken: readonly string[];
}

/** Users of a day in any order, also repeated; of one who is repeated the last counts. */
export class MergedUsers {
  readonly #users = new Map<string, User>();

  /** Takes over users who came in order. */
  static of(ordered: OrderedUsers): MergedUsers {
    const merged = new MergedUsers();
    const [users, languages] = ordered.finish().map(decodeRows);
    const spoken = new Map<string, string[]>();
    for (const [, , userId, language] of languages?.rows ?? []) {
      const own = spoken.get(String(userId));
      if (own === undefined) spoken.set(String(userId), [String(language)]);
      else own.push(String(language));
    }
    for (const row of users?.rows ?? []) merged.add(row, spoken.get(String(row[USER_ID])) ?? []);
    return merged;
  }

  /** Adds a user. Tells of one who was here with other values. */
  add(row: Row, spoken: readonly string[]): 'other' | undefined {
    const userId = String(row[USER_ID]);
    const before = this.#users.get(userId);
    const user = { row, spoken };
    this.#users.set(userId, user);
    const isOther = before !== undefined && JSON.stringify(before) !== JSON.stringify(user);
    return isOther ? 'other' : undefined;
  }

  /** Rows in key order. */
  finish(): EncodedRows[] {
    const users = [...this.#users.values()];
    const spoken = new Map(users.map((user) => [user.row, user.spoken]));
    const rows = inKeyOrder(
      tables.userDaily,
      users.map(({ row }) => row),
    );
    const languages = rows.flatMap((row) => languageRows(row, spoken.get(row) ?? []));
    return [
      { table: tables.userDaily, rows },
      { table: tables.userDailyLanguages, rows: languages },
    ].map(encodeRows);
  }
}
