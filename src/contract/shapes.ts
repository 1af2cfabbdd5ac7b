import type { Static } from 'typebox';
import Type from 'typebox';
import {
  Flag,
  FractionalInstant,
  Identity,
  Label,
  listOf,
  Metric,
  mapOf,
  recordOf,
} from '../checks/index.ts';

/** The five credit metrics (specification, section 2.4). */
const credits = {
  billable_tokens: Metric,
  input_tokens: Metric,
  output_tokens: Metric,
  cache_read_tokens: Metric,
  cache_write_tokens: Metric,
};

/** The fields that may hold the model of a breakdown element, the preferred one first. */
export const MODEL_KEYS = ['model_id', 'model', 'model_name', 'group_key'] as const;

const ModelFields = Type.Object({
  model_id: Label,
  model: Label,
  model_name: Label,
  group_key: Label,
  model_tier: Label,
  ...credits,
});

/**
 * One model of `by_model`. The specification does not show this shape: the model is in one of the fields
 * {@link MODEL_KEYS}, and any metric may be missing.
 */
export const ModelElement = Type.Intersect([
  ModelFields,
  Type.Union(MODEL_KEYS.map((key) => Type.Object({ [key]: Identity }))),
]);
export type ModelElement = Static<typeof ModelFields>;

/** The fields that may hold the user of a breakdown element, the preferred one first. */
export const USER_KEYS = ['user_id', 'user', 'id', 'group_key'] as const;

const UserFields = Type.Object({
  user_id: Label,
  // If `user_id` holds the ID, these may hold any value, such as an object or a number.
  user: Type.Optional(Type.Unknown()),
  id: Type.Optional(Type.Unknown()),
  group_key: Label,
  user_email: Label,
  ...credits,
  by_model: listOf(ModelElement),
});

/** One user of `by_user`, not shown in the specification either. The user is in one of the fields {@link USER_KEYS}. */
export const TokensUserElement = Type.Intersect([
  UserFields,
  Type.Union(USER_KEYS.map((key) => Type.Object({ [key]: Identity }))),
]);
export type TokensUserElement = Omit<Static<typeof UserFields>, 'by_model'> & {
  by_model?: ModelElement[] | null;
};

/** A row of /tokens: the organization's credits on one day. */
export const TokensRow = Type.Object({
  date: Identity,
  ...credits,
  by_model: listOf(ModelElement),
  by_user: listOf(TokensUserElement),
});
export type TokensRow = Omit<Static<typeof TokensRow>, 'by_model' | 'by_user'> & {
  by_model?: ModelElement[] | null;
  by_user?: TokensUserElement[] | null;
};

/** A row of /tokens?group_by=model. The exact shape is not shown; `group_key` is the model. */
export const TokensByModelRow = Type.Intersect([Type.Object({ date: Identity }), ModelElement]);
export type TokensByModelRow = { date: string } & ModelElement;

export const ToolElement = Type.Object({ tool: Type.String(), invocations: Metric });
export type ToolElement = Static<typeof ToolElement>;

export const McpServerElement = Type.Object({ server: Type.String(), invocations: Metric });
export type McpServerElement = Static<typeof McpServerElement>;

/** A skill or a slash command. */
const NamedCount = Type.Object({ name: Type.String(), count: Metric });

const HookElement = Type.Object({
  event: Type.String(),
  matcher: Label,
  command: Label,
  count: Metric,
});

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

/** The client types that the specification names; others are kept and reported as drift. */
export const CLIENTS = ['terminal-ui', 'web', 'non-interactive-cli'] as const;

/** A row of /activity: one day (specification, section 2.4). */
export const ActivityRow = Type.Object({
  date: Identity,
  daily_active_users: Metric,
  weekly_active_users: Metric,
  monthly_active_users: Metric,
  daily_active_users_by_client: mapOf(Metric),
  sessions: Metric,
  messages: Metric,
  user_messages: Metric,
});
export type ActivityRow = Static<typeof ActivityRow>;

/** A row of /activity?group_by=client (group_by rule 4). */
export const ActivityByClientRow = Type.Object({
  date: Identity,
  group_key: Type.String(),
  daily_active_users: Metric,
});
export type ActivityByClientRow = Static<typeof ActivityByClientRow>;

const ExtensionElement = Type.Object({ extension: Type.String(), count: Metric });

const LanguageElement = Type.Object({ language: Type.String(), count: Metric });

/** A row of /productivity: one day (specification, section 2.4). */
export const ProductivityRow = Type.Object({
  date: Identity,
  files_created: Metric,
  files_edited: Metric,
  by_extension: listOf(ExtensionElement),
  by_language: listOf(LanguageElement),
  git_commits: Metric,
  git_prs_created: Metric,
});
export type ProductivityRow = Static<typeof ProductivityRow>;

/** The model tiers that the specification names; others are kept and reported as drift. */
export const MODEL_TIERS = ['standard', 'thinking'] as const;

/** The delegation levels that the specification names; others are kept and reported as drift. */
export const DELEGATION_LEVELS = ['auto-high', 'auto-medium', 'auto-low', 'spec', 'manual'] as const;

/** A row of /users: one user on one day (specification, section 2.4). */
export const UserRow = Type.Object({
  user_id: Identity,
  user_email: Label,
  date: Identity,
  tool_calls: Metric,
  billable_tokens: Metric,
  primary_model: Label,
  primary_model_tier: Label,
  files_created: Metric,
  files_edited: Metric,
  git_commits: Metric,
  git_prs_created: Metric,
  mcp_calls: Metric,
  skill_calls: Metric,
  slash_commands: Metric,
  hooks: Metric,
  sessions: Metric,
  messages: Metric,
  user_messages: Metric,
  assistant_messages: Metric,
  autonomy_ratio: Metric,
  delegation_level: Label,
  languages: listOf(Type.String()),
});
export type UserRow = Static<typeof UserRow>;

/** One criterion of a report. `numerator` is null if the criterion was skipped (specification, section 2.5). */
export const Criterion = Type.Object({ numerator: Metric, denominator: Metric, rationale: Label });
export type Criterion = Static<typeof Criterion>;

const ReportApp = Type.Object({ description: Label });

const ModelUsed = Type.Object({ id: Label, reasoningEffort: Label });

/** A readiness report (section 2.5). `createdAt` is in Unix milliseconds. */
export const ReadinessReport = Type.Object({
  reportId: Identity,
  createdAt: FractionalInstant,
  repoUrl: Type.String(),
  apps: recordOf(ReportApp),
  report: recordOf(Criterion),
  commitHash: Label,
  branch: Label,
  hasLocalChanges: Flag,
  hasNonRemoteCommits: Flag,
  modelUsed: Type.Optional(Type.Union([ModelUsed, Type.Null()])),
  droidVersion: Label,
});
export type ReadinessReport = Static<typeof ReadinessReport>;
