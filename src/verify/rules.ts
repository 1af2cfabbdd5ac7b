import { CREDIT_COLUMNS } from '../../schema/tables/tokens.ts';

/** Two figures of one day that should be equal, or the second at most the first: columns `table.column`, summed over the day. */
export interface Rule {
  readonly what: string;
  readonly expected: string;
  readonly relation: '=' | '≤';
  readonly found: string;
}

const equal = (found: string, expected: string): Rule => ({
  what: `${found} = ${expected}`,
  expected,
  relation: '=',
  found,
});
const atMost = (found: string, expected: string): Rule => ({
  what: `${found} ≤ ${expected}`,
  expected,
  relation: '≤',
  found,
});

const PRODUCTIVITY = ['files_created', 'files_edited', 'git_commits', 'git_prs_created'];
const ACTIVITY = ['sessions', 'messages', 'user_messages'];

/**
 * How the figures of one day should relate. The service promises none of this, so a violation is an oddity, not an error.
 * `rows` is the number of rows.
 */
export const RULES: readonly Rule[] = [
  ...CREDIT_COLUMNS.map((name) => equal(`tokens_daily_by_model.${name}`, `tokens_daily.${name}`)),
  ...CREDIT_COLUMNS.map((name) => equal(`tokens_daily_by_user.${name}`, `tokens_daily.${name}`)),
  ...CREDIT_COLUMNS.map((name) =>
    equal(`tokens_daily_by_user_model.${name}`, `tokens_daily_by_user.${name}`),
  ),
  equal('user_daily.billable_tokens', 'tokens_daily.billable_tokens'),
  ...ACTIVITY.map((name) => equal(`user_daily.${name}`, `activity_daily.${name}`)),
  ...PRODUCTIVITY.map((name) => equal(`user_daily.${name}`, `productivity_daily.${name}`)),
  equal('user_daily.tool_calls', 'tools_daily.tool_calls'),
  equal('user_daily.mcp_calls', 'tools_daily_by_mcp_server.invocations'),
  equal('user_daily.skill_calls', 'tools_daily.skills_invocations'),
  equal('user_daily.slash_commands', 'tools_daily.slash_commands_invocations'),
  equal('user_daily.hooks', 'tools_daily.hooks_invocations'),
  equal('user_daily.rows', 'activity_daily.daily_active_users'),
  equal('tools_daily_by_tool.invocations', 'tools_daily.tool_calls'),
  equal('tools_daily_by_skill.count', 'tools_daily.skills_invocations'),
  equal('tools_daily_by_slash_command.count', 'tools_daily.slash_commands_invocations'),
  equal('tools_daily_by_hook.count', 'tools_daily.hooks_invocations'),
  atMost('tools_daily.mcp_users_with_mcp', 'activity_daily.daily_active_users'),
  atMost('tools_daily.web_users', 'activity_daily.daily_active_users'),
  atMost('activity_daily.daily_active_users', 'activity_daily.weekly_active_users'),
  atMost('activity_daily.weekly_active_users', 'activity_daily.monthly_active_users'),
];
