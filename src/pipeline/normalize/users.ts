import { inKeyOrder } from '../../../schema/order.ts';
import { tables } from '../../../schema/tables.ts';
import { DELEGATION_LEVELS, MODEL_TIERS, type UserRow } from '../../api/shapes/users.ts';
import type { TableRows, Value } from '../../warehouse/port.ts';
import type { NormalizeContext } from './context.ts';

const USER_FIELDS = new Set([
  'user_id',
  'user_email',
  'date',
  'tool_calls',
  'billable_tokens',
  'primary_model',
  'primary_model_tier',
  'files_created',
  'files_edited',
  'git_commits',
  'git_prs_created',
  'mcp_calls',
  'skill_calls',
  'slash_commands',
  'hooks',
  'sessions',
  'messages',
  'user_messages',
  'assistant_messages',
  'autonomy_ratio',
  'delegation_level',
  'languages',
]);

interface User {
  readonly row: Value[];
  readonly languages: readonly string[];
}

/**
 * Collects the rows of a day of /users: the users and their languages. Pages may overlap: a repeated user counts
 * once, and of two that contradict each other the last one counts.
 */
export function normalizeUsers() {
  const users = new Map<string, User>();
  return {
    add(record: UserRow, context: NormalizeContext): void {
      const user = { row: rowOf(record, context), languages: [...new Set(record.languages ?? [])] };
      const known = users.get(record.user_id);
      if (known !== undefined && textOf(known) !== textOf(user)) {
        context.findings.warn(
          `/users answered user ${record.user_id} twice with different values; the last one is kept`,
        );
      }
      users.set(record.user_id, user);
    },
    finish: (): TableRows[] => finish([...users.values()]),
  };
}

/** The same for the same user, in whatever order the languages came. */
function textOf({ row, languages }: User): string {
  return JSON.stringify([row, [...languages].sort()]);
}

function finish(users: readonly User[]): TableRows[] {
  const languages = users.flatMap(({ row: [orgId, date, userId], languages }) =>
    languages.map((language): Value[] => [orgId ?? null, date ?? null, userId ?? null, language, null]),
  );
  return [
    {
      table: tables.userDaily,
      rows: inKeyOrder(
        tables.userDaily,
        users.map(({ row }) => row),
      ),
    },
    { table: tables.userDailyLanguages, rows: inKeyOrder(tables.userDailyLanguages, languages) },
  ];
}

// Written out, not looped over: this is the row of which there are most.
function rowOf(user: UserRow, { orgId, findings, privacy, exact }: NormalizeContext): Value[] {
  findings.expectOneOf(MODEL_TIERS, user.primary_model_tier, 'data[].primary_model_tier');
  findings.expectOneOf(DELEGATION_LEVELS, user.delegation_level, 'data[].delegation_level');
  return [
    orgId,
    user.date,
    user.user_id,
    privacy.email(user.user_email),
    user.tool_calls ?? null,
    user.billable_tokens ?? null,
    user.primary_model ?? null,
    user.primary_model_tier ?? null,
    user.files_created ?? null,
    user.files_edited ?? null,
    user.git_commits ?? null,
    user.git_prs_created ?? null,
    user.mcp_calls ?? null,
    user.skill_calls ?? null,
    user.slash_commands ?? null,
    user.hooks ?? null,
    user.sessions ?? null,
    user.messages ?? null,
    user.user_messages ?? null,
    user.assistant_messages ?? null,
    user.autonomy_ratio ?? null,
    user.delegation_level ?? null,
    findings.extra(user, USER_FIELDS, { place: 'data[]', exact }),
  ];
}
