import { factTable, key, label, metric, ratio } from '../define.ts';

export const userDaily = factTable({
  name: 'user_daily',
  doc: 'What each user did, one row per user and day.',
  stream: 'users',
  by: { user_id: key('user') },
  values: {
    user_email: label('email as the setting DAYWALK_EMAILS lets it through'),
    tool_calls: metric('tool calls'),
    billable_tokens: metric('credits consumed'),
    primary_model: label('model that the user used most'),
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
    messages: metric('messages of the user and the assistant'),
    user_messages: metric('messages of the user'),
    assistant_messages: metric('messages of the assistant'),
    autonomy_ratio: ratio('tool calls per user turn, as the service computes it'),
    delegation_level: label('primary autonomy mode: auto-high, auto-medium, auto-low, spec or manual'),
  },
  // The key finds a day; who asks for one person needs every day of theirs.
  indexes: { user_daily_by_user: ['org_id', 'user_id', 'date'] },
});

export const userDailyLanguages = factTable({
  name: 'user_daily_languages',
  doc: 'Languages that each user worked in, one row per user, day and language.',
  stream: 'users',
  by: { user_id: key('user'), language: key('programming language') },
  values: {},
});
