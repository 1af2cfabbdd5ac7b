import { decodeRows, type EncodedRows, encodeRows, RowEncoder } from '../../../schema/digest.ts';
import { compareUtf8, encoderOf, readerOf, type Values } from '../../../schema/row.ts';
import { tables } from '../../../schema/tables.ts';
import { DELEGATION_LEVELS, MODEL_TIERS, type UserRow } from '../../contract/index.ts';
import { emailOf, mapping, type NormalizeContext } from './records.ts';

const PLACE = 'data[]';
const userRow = mapping(tables.userDaily, {
  place: PLACE,
  given: ['user_email'],
  known: ['user_email', 'languages'],
});
const languageRow = encoderOf(tables.userDailyLanguages);

/**
 * Collects the rows of a day of /users: the users and their languages. Pages may overlap, so a repeated user counts once.
 * A user with two contradicting records is held.
 *
 * A day may have many users, and several days are collected at a time. So users are encoded and released as long as they
 * come in the order of their IDs. From the first user out of order, all are kept as rows.
 */
export function normalizeUsers() {
  let users: OrderedUsers | MergedUsers = new OrderedUsers();
  return {
    add(record: UserRow, context: NormalizeContext): void {
      const userId = record.user_id;
      const user = valuesOf(record, context);
      if (users instanceof OrderedUsers && !users.isNext(userId)) users = MergedUsers.of(users);
      const contradicts = users.add({
        userId,
        user,
        languages: languagesOf(record, context),
      });
      if (!contradicts) return;
      context.findings.holdContradiction(
        { table: userDaily, row: user },
        {
          record,
          place: PLACE,
          exact: context.exact,
          reason: 'the same user came twice with different values',
        },
      );
    },
    finish: (): EncodedRows[] => users.finish(),
  };
}

function valuesOf(record: UserRow, context: NormalizeContext): Values {
  const { findings } = context;
  findings.expectOneOf(MODEL_TIERS, record.primary_model_tier, 'data[].primary_model_tier');
  findings.expectOneOf(DELEGATION_LEVELS, record.delegation_level, 'data[].delegation_level');
  return userRow(record, { user_email: emailOf(record) }, context);
}

const NONE: readonly Values[] = [];

/** The languages of a user in key order, each once. */
function languagesOf(
  { date, user_id, languages }: UserRow,
  { orgId: org_id }: NormalizeContext,
): readonly Values[] {
  if (languages === undefined || languages === null || languages.length === 0) return NONE;
  const distinct = languages.length === 1 ? languages : [...new Set(languages)].sort(compareUtf8);
  return distinct.map((language) => languageRow({ org_id, date, user_id, language, extra: null }));
}

/** The rows of one user on one day. */
interface UserRows {
  readonly userId: string;
  /** The row of `user_daily`. */
  readonly user: Values;
  /** The rows of `user_daily_languages`, in key order. */
  readonly languages: readonly Values[];
}

/** Users of a day that are added in the order of their IDs, each once. */
class OrderedUsers {
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

const { userDaily, userDailyLanguages } = tables;
const idOfUser = readerOf(userDaily, 'user_id');
const idOfLanguage = readerOf(userDailyLanguages, 'user_id');

/** Users of a day in any order. If a user is repeated, the last record counts. */
class MergedUsers {
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
