import { distinct, factTable, flag, json, key, label, metric, ratio, share } from '../define.ts';

export const credits = {
  billable_tokens: metric('credits consumed; the service computes them from raw tokens with cache discounts'),
  input_tokens: metric('raw input tokens'),
  output_tokens: metric('output tokens'),
  cache_read_tokens: metric('tokens read from the cache'),
  cache_write_tokens: metric('tokens written to the cache'),
};

/** The columns of credits and raw tokens, which every table of the stream `tokens` has. */
export const CREDIT_COLUMNS = Object.keys(credits) as readonly (keyof typeof credits)[];

const modelTier = { model_tier: label('tier of the model, for example standard or thinking') };
const userEmail = { user_email: label('email address, as DAYWALK_EMAILS allows') };

export const tokensDaily = factTable({
  name: 'tokens_daily',
  doc: 'Credits of the organization: one row per day.',
  stream: 'tokens',
  values: credits,
});

export const tokensDailyByModel = factTable({
  name: 'tokens_daily_by_model',
  doc: 'Credits by model.',
  stream: 'tokens',
  inside: ['by_model'],
  by: { model_id: key('ID of the model') },
  values: { ...modelTier, ...credits },
});

export const tokensDailyByUser = factTable({
  name: 'tokens_daily_by_user',
  doc: 'Credits by user.',
  stream: 'tokens',
  inside: ['by_user'],
  by: { user_id: key('ID of the user') },
  values: { ...userEmail, ...credits },
});

export const tokensDailyByUserModel = factTable({
  name: 'tokens_daily_by_user_model',
  doc: 'Credits by user and model.',
  stream: 'tokens',
  inside: ['by_user', 'by_model'],
  by: { user_id: key('ID of the user'), model_id: key('ID of the model') },
  values: { ...modelTier, ...credits },
});

export const toolsDaily = factTable({
  name: 'tools_daily',
  doc: 'Tool use of the organization: one row per day.',
  stream: 'tools',
  values: {
    tool_calls: metric('tool calls'),
    mcp_users_with_mcp: distinct('distinct users who used MCP servers'),
    skills_invocations: metric('skill invocations'),
    slash_commands_invocations: metric('slash command invocations'),
    hooks_invocations: metric('hook invocations'),
    web_users: distinct('distinct users of the web app'),
    autonomy_ratio_avg: ratio('average number of tool calls per user turn'),
    autonomy_ratio_p50: ratio('median number of tool calls per user turn'),
    autonomy_ratio_p90: ratio('90th percentile of the number of tool calls per user turn'),
    tool_calls_per_session_avg: ratio('average number of tool calls per session'),
    user_turns_per_session_avg: ratio('average number of user turns per session'),
    autonomy_auto_high: share('share of tool calls at autonomy level auto-high'),
    autonomy_auto_medium: share('share of tool calls at autonomy level auto-medium'),
    autonomy_auto_low: share('share of tool calls at autonomy level auto-low'),
    autonomy_manual: share('share of tool calls at autonomy level manual'),
  },
  ascending: [{ smaller: 'autonomy_ratio_p50', larger: 'autonomy_ratio_p90' }],
});

export const toolsDailyByTool = factTable({
  name: 'tools_daily_by_tool',
  doc: 'Invocations by tool.',
  stream: 'tools',
  inside: ['by_tool'],
  by: { tool: key('name of the tool, as the service sends it') },
  values: {
    invocations: metric('invocations'),
    is_artifact: flag(
      '1 if the name looks like a parsing error of the service (about 0.006 % do), otherwise 0',
    ),
  },
});

export const toolsDailyByMcpServer = factTable({
  name: 'tools_daily_by_mcp_server',
  doc: 'Invocations by MCP server. The service sends names in different letter case; Daywalk merges them.',
  stream: 'tools',
  inside: ['mcp_by_server'],
  by: { server: key('name of the server in lower case') },
  values: {
    invocations: metric('invocations of all spellings'),
    spellings: json('JSON object: the invocations of each spelling that the service sent'),
  },
});

const countedInvocations = { count: metric('invocations') };

export const toolsDailyBySkill = factTable({
  name: 'tools_daily_by_skill',
  doc: 'Invocations by skill.',
  stream: 'tools',
  inside: ['skills_by_name'],
  by: { name: key('name of the skill') },
  values: countedInvocations,
});

export const toolsDailyBySlashCommand = factTable({
  name: 'tools_daily_by_slash_command',
  doc: 'Invocations by slash command.',
  stream: 'tools',
  inside: ['slash_commands_by_name'],
  by: { name: key('name of the slash command') },
  values: countedInvocations,
});

export const toolsDailyByHook = factTable({
  name: 'tools_daily_by_hook',
  doc: 'Invocations by hook.',
  stream: 'tools',
  inside: ['hooks_by_event'],
  by: {
    event: key('name of the hook event'),
    matcher: key("matcher of the hook; '' if absent"),
    command: key("command of the hook; '' if absent"),
  },
  values: countedInvocations,
});

export const activityDaily = factTable({
  name: 'activity_daily',
  doc: 'Active users, sessions and messages of the organization: one row per day.',
  stream: 'activity',
  values: {
    daily_active_users: distinct('distinct users active on the day'),
    weekly_active_users: distinct('distinct users active in the 7 days that end on this day'),
    monthly_active_users: distinct('distinct users active in the 30 days that end on this day'),
    sessions: metric('sessions started'),
    messages: metric('messages from users and the assistant'),
    user_messages: metric('messages from users'),
  },
  ascending: [
    { smaller: 'daily_active_users', larger: 'weekly_active_users' },
    { smaller: 'weekly_active_users', larger: 'monthly_active_users' },
    { smaller: 'user_messages', larger: 'messages' },
  ],
});

export const activityDailyByClient = factTable({
  name: 'activity_daily_by_client',
  doc: 'Active users by client type. Someone who uses several clients counts once in each.',
  stream: 'activity',
  inside: ['daily_active_users_by_client'],
  by: { client: key('client type: terminal-ui, web, non-interactive-cli or a newer one') },
  values: { daily_active_users: distinct('distinct users active on the day with this client') },
  ascending: [{ smaller: 'daily_active_users', larger: 'daily_active_users', of: activityDaily }],
});

export const productivityDaily = factTable({
  name: 'productivity_daily',
  doc: 'Files and git work of the organization: one row per day.',
  stream: 'productivity',
  values: {
    files_created: metric('files created'),
    files_edited: metric('files edited'),
    git_commits: metric('git commits'),
    git_prs_created: metric('pull requests created'),
  },
});

const countedFiles = { count: metric('number of files') };

export const productivityDailyByExtension = factTable({
  name: 'productivity_daily_by_extension',
  doc: 'Files by extension.',
  stream: 'productivity',
  inside: ['by_extension'],
  by: { extension: key('file name extension, as the service sends it') },
  values: countedFiles,
});

export const productivityDailyByLanguage = factTable({
  name: 'productivity_daily_by_language',
  doc: 'Files by language.',
  stream: 'productivity',
  inside: ['by_language'],
  by: { language: key('programming language') },
  values: countedFiles,
});

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
  ascending: [{ smaller: 'user_messages', larger: 'messages' }],
  // The ledger keeps the figures in this order, so a new line belongs at the end.
  addsUp: [
    { of: activityDaily, figure: 'daily_active_users', isSpecified: true },
    { column: 'sessions', of: activityDaily, figure: 'sessions' },
    { column: 'messages', of: activityDaily, figure: 'messages' },
    { column: 'user_messages', of: activityDaily, figure: 'user_messages' },
    { column: 'billable_tokens', of: tokensDaily, figure: 'billable_tokens' },
    { column: 'files_created', of: productivityDaily, figure: 'files_created' },
    { column: 'files_edited', of: productivityDaily, figure: 'files_edited' },
    { column: 'git_commits', of: productivityDaily, figure: 'git_commits' },
    { column: 'git_prs_created', of: productivityDaily, figure: 'git_prs_created' },
    { column: 'tool_calls', of: toolsDaily, figure: 'tool_calls' },
    { column: 'skill_calls', of: toolsDaily, figure: 'skills_invocations' },
    { column: 'slash_commands', of: toolsDaily, figure: 'slash_commands_invocations' },
    { column: 'hooks', of: toolsDaily, figure: 'hooks_invocations' },
    { column: 'mcp_calls', of: toolsDailyByMcpServer, figure: 'invocations' },
  ],
});

export const userDailyLanguages = factTable({
  name: 'user_daily_languages',
  doc: 'Languages in which each user worked: one row per user, day and language.',
  stream: 'users',
  inside: ['languages'],
  by: { user_id: key('ID of the user'), language: key('programming language') },
  values: {},
});
