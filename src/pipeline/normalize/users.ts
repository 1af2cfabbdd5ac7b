import { compareUtf8 } from '../../../schema/order.ts';
import { DELEGATION_LEVELS, MODEL_TIERS, type UserRow } from '../../api/shapes/users.ts';
import type { EncodedRows, Value } from '../../warehouse/port.ts';
import type { NormalizeContext } from './context.ts';
import { MergedUsers } from './users-merged.ts';
import { OrderedUsers } from './users-ordered.ts';

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

/**
 * Collects the rows of a day of /users: the users and their languages. Pages may overlap: a repeated user counts
 * once, and of two that contradict each other the last one counts.
 *
 * A day may have many users, and several days are collected at a time. So users who come in the order of their ids are
 * encoded and let go; from the first on who does not, all are kept as rows.
 */
export function normalizeUsers() {
  let users: OrderedUsers | MergedUsers = new OrderedUsers();
  return {
    add(record: UserRow, context: NormalizeContext): void {
      if (users instanceof OrderedUsers && !users.isNext(record.user_id)) users = MergedUsers.of(users);
      const row = rowOf(record, context);
      if (users.add(row, spokenBy(record)) === 'other') {
        context.findings.warn(
          `/users answered user ${record.user_id} twice with different values; the last one is kept`,
        );
      }
    },
    finish: (): EncodedRows[] => users.finish(),
  };
}

const NONE: readonly string[] = [];

/** The languages of a user in key order, each once. */
function spokenBy({ languages }: UserRow): readonly string[] {
  if (languages === undefined || languages === null || languages.length === 0) return NONE;
  return languages.length === 1 ? languages : [...new Set(languages)].sort(compareUtf8);
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
