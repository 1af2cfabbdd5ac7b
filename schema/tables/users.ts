import { factTable, key, label, metric, ratio } from '../define.ts';

export const userDaily = factTable({
  name: 'user_daily',
  doc: 'Activity of each user: one row per user and day.',
  stream: 'users',
  by: { user_id: key('ID of the user') },
  values: {
    user_email: label('email address, as DAYWALK_EMAILS allows'),
    tool_calls: metric('tool calls'),
    billable_tokens: metric('credits consumed'),
    primary_model: label('the model that the user used most'),
    primary_model_tier: label('tier of that model: standard or thinking'),
    files_created: metric('files created'),
    files_edited: metric('files edited'),
    git_commits: metric('git commits'),
    git_prs_created: metric('pull requests created'),
    mcp_calls: metric('calls of MCP tools'),
    skill_calls: metric('skill calls'),
    slash_commands: metric('slash commands'),
    hooks: metric('hook invocations'),
    sessions: metric('sessions started'),
    messages: metric('messages from the user and the assistant'),
    user_messages: metric('messages from the user'),
    assistant_messages: metric('messages from the assistant'),
    autonomy_ratio: ratio('tool calls per user turn, as the service computes it'),
    delegation_level: label('primary autonomy mode: auto-high, auto-medium, auto-low, spec or manual'),
  },
});

export const userDailyLanguages = factTable({
  name: 'user_daily_languages',
  doc: 'Languages in which each user worked: one row per user, day and language.',
  stream: 'users',
  by: { user_id: key('ID of the user'), language: key('programming language') },
  values: {},
});
