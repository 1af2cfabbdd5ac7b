import type { ToolElement, ToolsByToolRow, ToolsRow } from '../../../api/shapes/tools.ts';
import { HOOKS, MCP_SERVERS, MCP_TOOLS, SKILLS, SLASH_COMMANDS, TOOLS } from '../../dataset/catalog.ts';
import type { OrgDay } from '../../dataset/org-day.ts';
import { splitByAutonomy } from './autonomy.ts';
import { orgDayOf } from './org-day.ts';
import { type DayView, divide, rank } from './view.ts';

const WEB = 1;
const SPELLED_SERVERS = MCP_SERVERS.flatMap((server) => server.spellings);

/** /tools: one row per day (specification, section 2.4). */
export function writeToolsRows(view: DayView): readonly ToolsRow[] {
  const org = orgDayOf(view, 'tools');
  if (org === null) return [];
  const row: ToolsRow = {
    date: view.date,
    tool_calls: org.toolCalls,
    by_tool: byTool(org),
    mcp_users_with_mcp: org.mcpUsers,
    mcp_by_server: byServer(org),
    skills_invocations: org.skillCalls,
    skills_by_name: rank(SKILLS, org.skills),
    slash_commands_invocations: org.slashCommands,
    slash_commands_by_name: rank(SLASH_COMMANDS, org.commands),
    hooks_invocations: org.hooks,
    hooks_by_event: HOOKS.map((hook, index) => ({ ...hook, count: org.hooksBy[index] ?? 0 })).filter(
      (hook) => hook.count > 0,
    ),
    web_users: org.usersByClient[WEB] ?? 0,
    autonomy_ratio_avg: org.autonomy.avg / 10_000,
    autonomy_ratio_p50: org.autonomy.p50 / 10_000,
    autonomy_ratio_p90: org.autonomy.p90 / 10_000,
    tool_calls_per_session_avg: divide(org.toolCalls, org.sessions),
    user_turns_per_session_avg: divide(org.userMessages, org.sessions),
    tool_autonomy_level_ratio: splitByAutonomy(org.callsByDelegation),
  };
  return [row];
}

/** /tools?group_by=tool_name: one row per day and tool (section 4.2, group_by rule 3). */
export function writeToolsByToolRows(view: DayView): readonly ToolsByToolRow[] {
  const org = orgDayOf(view, 'tools');
  if (org === null) return [];
  return byTool(org).map(({ tool, invocations }) => ({
    date: view.date,
    group_key: tool,
    tool_calls: invocations ?? 0,
  }));
}

function byTool(org: OrgDay): ToolElement[] {
  const broken = [...org.artifacts.keys()].sort();
  const names = [...TOOLS, ...MCP_TOOLS, ...broken];
  const counts = [...org.tools, ...org.mcpTools, ...broken.map((name) => org.artifacts.get(name) ?? 0)];
  return rank(names, counts).map(({ name, count }) => ({ tool: name, invocations: count }));
}

/** Some servers have the same name twice, because both of their spellings are equal. */
function byServer(org: OrgDay): NonNullable<ToolsRow['mcp_by_server']> {
  const merged = new Map<string, number>();
  SPELLED_SERVERS.forEach((server, place) => {
    merged.set(server, (merged.get(server) ?? 0) + (org.servers[place] ?? 0));
  });
  return rank([...merged.keys()], [...merged.values()]).map(({ name, count }) => ({
    server: name,
    invocations: count,
  }));
}
