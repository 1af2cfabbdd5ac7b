/** The values of a user's row, in the order of the columns of `user_daily`. */
export function userValues(orgId, user) {
  return [
    orgId,
    user.date,
    user.user_id,
    user.user_email ?? null,
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
    null,
  ];
}
