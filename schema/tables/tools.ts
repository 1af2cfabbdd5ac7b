import { factTable, flag, json, key, metric, ratio } from '../define.ts';

export const toolsDaily = factTable({
  name: 'tools_daily',
  doc: 'Tool use of the organization: one row per day.',
  stream: 'tools',
  values: {
    tool_calls: metric('tool calls'),
    mcp_users_with_mcp: ratio('distinct users who used MCP servers'),
    skills_invocations: metric('skill invocations'),
    slash_commands_invocations: metric('slash command invocations'),
    hooks_invocations: metric('hook invocations'),
    web_users: ratio('distinct users of the web app'),
    autonomy_ratio_avg: ratio('average number of tool calls per user turn'),
    autonomy_ratio_p50: ratio('median number of tool calls per user turn'),
    autonomy_ratio_p90: ratio('90th percentile of the number of tool calls per user turn'),
    tool_calls_per_session_avg: ratio('average number of tool calls per session'),
    user_turns_per_session_avg: ratio('average number of user turns per session'),
    autonomy_auto_high: ratio('share of tool calls at autonomy level auto-high'),
    autonomy_auto_medium: ratio('share of tool calls at autonomy level auto-medium'),
    autonomy_auto_low: ratio('share of tool calls at autonomy level auto-low'),
    autonomy_manual: ratio('share of tool calls at autonomy level manual'),
  },
});

export const toolsDailyByTool = factTable({
  name: 'tools_daily_by_tool',
  doc: 'Invocations by tool.',
  stream: 'tools',
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
  by: { server: key('name of the server in lower case') },
  values: {
    invocations: metric('invocations of all spellings'),
    spellings: json('JSON object: the invocations of each spelling that the service sent'),
  },
});

const counted = { count: metric('invocations') };

export const toolsDailyBySkill = factTable({
  name: 'tools_daily_by_skill',
  doc: 'Invocations by skill.',
  stream: 'tools',
  by: { name: key('name of the skill') },
  values: counted,
});

export const toolsDailyBySlashCommand = factTable({
  name: 'tools_daily_by_slash_command',
  doc: 'Invocations by slash command.',
  stream: 'tools',
  by: { name: key('name of the slash command') },
  values: counted,
});

export const toolsDailyByHook = factTable({
  name: 'tools_daily_by_hook',
  doc: 'Invocations by hook.',
  stream: 'tools',
  by: {
    event: key('name of the hook event'),
    matcher: key("matcher of the hook; '' if absent"),
    command: key("command of the hook; '' if absent"),
  },
  values: counted,
});
