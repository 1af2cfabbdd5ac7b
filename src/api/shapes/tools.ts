import Type, { type Static } from 'typebox';
import { Identity, Label, listOf, Metric } from './fields.ts';

export const ToolElement = Type.Object({ tool: Type.String(), invocations: Metric });
export type ToolElement = Static<typeof ToolElement>;

export const McpServerElement = Type.Object({ server: Type.String(), invocations: Metric });
export type McpServerElement = Static<typeof McpServerElement>;

/** A skill or a slash command. */
export const NamedCount = Type.Object({ name: Type.String(), count: Metric });
export type NamedCount = Static<typeof NamedCount>;

export const HookElement = Type.Object({
  event: Type.String(),
  matcher: Label,
  command: Label,
  count: Metric,
});
export type HookElement = Static<typeof HookElement>;

/** The shares of tool calls by autonomy level. The service publishes no `spec` key here. */
export const AutonomyRatio = Type.Object({
  auto_high: Metric,
  auto_medium: Metric,
  auto_low: Metric,
  manual: Metric,
});
export type AutonomyRatio = Static<typeof AutonomyRatio>;

/** A row of /tools: one day (specification, section 2.4). */
export const ToolsRow = Type.Object({
  date: Identity,
  tool_calls: Metric,
  by_tool: listOf(ToolElement),
  mcp_users_with_mcp: Metric,
  mcp_by_server: listOf(McpServerElement),
  skills_invocations: Metric,
  skills_by_name: listOf(NamedCount),
  slash_commands_invocations: Metric,
  slash_commands_by_name: listOf(NamedCount),
  hooks_invocations: Metric,
  hooks_by_event: listOf(HookElement),
  web_users: Metric,
  autonomy_ratio_avg: Metric,
  autonomy_ratio_p50: Metric,
  autonomy_ratio_p90: Metric,
  tool_calls_per_session_avg: Metric,
  user_turns_per_session_avg: Metric,
  tool_autonomy_level_ratio: Type.Optional(Type.Union([AutonomyRatio, Type.Null()])),
});
export type ToolsRow = Static<typeof ToolsRow>;

/** A row of /tools?group_by=tool_name (group_by rule 3). */
export const ToolsByToolRow = Type.Object({ date: Identity, group_key: Type.String(), tool_calls: Metric });
export type ToolsByToolRow = Static<typeof ToolsByToolRow>;
