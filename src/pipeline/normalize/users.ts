import { compareUtf8 } from '../../../schema/order.ts';
import { encoderOf } from '../../../schema/row.ts';
import { tables } from '../../../schema/tables.ts';
import { DELEGATION_LEVELS, MODEL_TIERS, type UserRow } from '../../api/shapes/users.ts';
import type { EncodedRows, Values } from '../../warehouse/port.ts';
import type { NormalizeContext } from './context.ts';
import { mapping } from './mapping.ts';
import { MergedUsers } from './users-merged.ts';
import { OrderedUsers } from './users-ordered.ts';

const userRow = mapping(tables.userDaily, {
  place: 'data[]',
  given: ['user_email'],
  known: ['user_email', 'languages'],
});
const languageRow = encoderOf(tables.userDailyLanguages);

/**
 * Collects the rows of a day of /users: the users and their languages. Pages may overlap, so a repeated user counts once;
 * of two contradicting records the last one counts.
 *
 * A day may have many users, and several days are collected at a time. So users are encoded and released as long as they
 * come in the order of their IDs. From the first user out of order, all are kept as rows.
 */
export function normalizeUsers() {
  let users: OrderedUsers | MergedUsers = new OrderedUsers();
  return {
    add(record: UserRow, context: NormalizeContext): void {
      const userId = record.user_id;
      if (users instanceof OrderedUsers && !users.isNext(userId)) users = MergedUsers.of(users);
      const contradicts = users.add({
        userId,
        user: valuesOf(record, context),
        languages: languagesOf(record, context),
      });
      if (!contradicts) return;
      context.findings.warn(
        `/users returned user ${JSON.stringify(userId)} twice with different values; the last one is kept`,
      );
    },
    finish: (): EncodedRows[] => users.finish(),
  };
}

function valuesOf(record: UserRow, context: NormalizeContext): Values {
  const { findings, privacy } = context;
  findings.expectOneOf(MODEL_TIERS, record.primary_model_tier, 'data[].primary_model_tier');
  findings.expectOneOf(DELEGATION_LEVELS, record.delegation_level, 'data[].delegation_level');
  return userRow(record, { user_email: privacy.email(record.user_email) }, context);
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
