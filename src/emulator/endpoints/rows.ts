import type {
  ActivityByClientRow,
  ActivityRow,
  AutonomyRatio,
  ModelElement,
  ProductivityRow,
  TokensByModelRow,
  TokensRow,
  TokensUserElement,
  ToolElement,
  ToolsByToolRow,
  ToolsRow,
} from '../../contract/index.ts';
import type { UtcDay } from '../../core/day.ts';
import type { DailyStream } from '../../core/stream.ts';
import {
  CLIENT_TYPES,
  DELEGATION,
  EXTENSIONS,
  HOOKS,
  LANGUAGES,
  MCP_SERVERS,
  MCP_TOOLS,
  MODELS,
  SKILLS,
  SLASH_COMMANDS,
  TOOLS,
} from '../dataset/catalog.ts';
import type { Dataset } from '../dataset/dataset.ts';
import { CREDITS, createOrgDay, type OrgDay } from '../dataset/day-numbers.ts';
import type { Quirks } from '../quirks.ts';

/** One day for which an endpoint writes rows. */
export interface DayView {
  readonly dataset: Dataset;
  readonly quirks: Quirks;
  /** Counts from the first day with data; `date` is the same day. */
  readonly day: number;
  readonly date: UtcDay;
}

/** Writes the rows of one day; none when nothing happened. */
export type RowSource = (view: DayView) => readonly object[];

/** Lists the names whose count is above 0, the highest count first. */
export function rank(
  names: readonly string[],
  counts: ArrayLike<number>,
): { readonly name: string; readonly count: number }[] {
  return names
    .map((name, index) => ({ name, count: counts[index] ?? 0 }))
    .filter(({ count }) => count > 0)
    .sort((a, b) => b.count - a.count);
}

/** Divides and rounds to four decimal places; 0 when the divisor is 0. */
function divide(amount: number, by: number): number {
  return by === 0 ? 0 : Math.round((amount * 10_000) / by) / 10_000;
}

const NOTHING = createOrgDay();

/** The sums of the day. A day without activity has zeros or null (no row), as the quirk says. */
function orgDayOf(view: DayView, stream: DailyStream): OrgDay | null {
  const org = view.day < 0 ? null : view.dataset.orgDay(view.day, stream);
  if (org !== null || view.day < 0) return org;
  return view.quirks.emptyDays === 'zeros' ? NOTHING : null;
}

/** /tokens: one row per day with breakdowns by model and by user (specification, section 2.4). */
export function writeTokensRows(view: DayView): readonly TokensRow[] {
  const org = orgDayOf(view, 'tokens');
  if (org === null) return [];
  const sumOf = (metric: number): number =>
    MODELS.reduce((sum, _, model) => sum + (org.models[model * CREDITS.count + metric] ?? 0), 0);
  const row: TokensRow = {
    date: view.date,
    billable_tokens: sumOf(CREDITS.billable),
    input_tokens: sumOf(CREDITS.input),
    output_tokens: sumOf(CREDITS.output),
    cache_read_tokens: sumOf(CREDITS.cacheRead),
    cache_write_tokens: sumOf(CREDITS.cacheWrite),
    by_model: byModel(org.models, view.quirks, view.quirks.modelKey),
  };
  return [view.quirks.byUser === 'absent' ? row : { ...row, by_user: byUser(view) }];
}

/** /tokens?group_by=model: one row per day and model. The specification does not show the shape; `group_key` is likely. */
export function writeTokensByModelRows(view: DayView): readonly TokensByModelRow[] {
  const org = orgDayOf(view, 'tokens');
  if (org === null) return [];
  return byModel(org.models, { ...view.quirks, modelTier: false }, 'group_key').map((element) => ({
    date: view.date,
    ...element,
  }));
}

function byUser(view: DayView): TokensUserElement[] {
  const { dataset, day, quirks } = view;
  const elements: TokensUserElement[] = [];
  dataset.eachUser(day, 'tokens', (facts, user) => {
    elements.push({
      [quirks.userKey]: dataset.population.idOf(user),
      user_email: dataset.population.emailOf(user, day),
      billable_tokens: facts.billable,
      ...(quirks.byUser === 'nested' ? { by_model: byModel(facts.models, quirks, quirks.modelKey) } : {}),
    });
  });
  return elements;
}

/** A loop, because this runs for every user of a day. */
function byModel(credits: Float64Array, quirks: Quirks, key: Quirks['modelKey']): ModelElement[] {
  const elements: ModelElement[] = [];
  for (let model = 0; model < MODELS.length; model++) {
    const base = model * CREDITS.count;
    const input = credits[base + CREDITS.input] ?? 0;
    const entry = MODELS[model];
    if (input === 0 || entry === undefined) continue;
    elements.push({
      [key]: entry.id,
      ...(quirks.modelTier ? { model_tier: entry.tier } : {}),
      billable_tokens: credits[base + CREDITS.billable] ?? 0,
      input_tokens: input,
      output_tokens: credits[base + CREDITS.output] ?? 0,
      ...(quirks.cacheFields ? cacheFields(credits, base) : {}),
    });
  }
  return elements;
}

function cacheFields(credits: Float64Array, base: number): ModelElement {
  return {
    cache_read_tokens: credits[base + CREDITS.cacheRead] ?? 0,
    cache_write_tokens: credits[base + CREDITS.cacheWrite] ?? 0,
  };
}

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

/** Shares are published with four decimal places. */
const PARTS = 10_000;

/**
 * Computes the shares of tool calls by autonomy level. They sum to exactly 1 in ten-thousandths. There is no `spec`
 * share: calls in that mode count as auto_low.
 */
function splitByAutonomy(callsByDelegation: ArrayLike<number>): AutonomyRatio {
  const calls = (level: (typeof DELEGATION)[number]) => callsByDelegation[DELEGATION.indexOf(level)] ?? 0;
  const [high = 0, medium = 0, low = 0, manual = 0] = apportion([
    calls('auto-high'),
    calls('auto-medium'),
    calls('auto-low') + calls('spec'),
    calls('manual'),
  ]);
  return {
    auto_high: high / PARTS,
    auto_medium: medium / PARTS,
    auto_low: low / PARTS,
    manual: manual / PARTS,
  };
}

/** Splits {@link PARTS} in proportion. The largest remainders get what rounding leaves. */
function apportion(amounts: readonly number[]): number[] {
  const total = amounts.reduce((sum, amount) => sum + amount, 0);
  if (total === 0) return amounts.map(() => 0);
  const parts = amounts.map((amount) => Math.floor((amount * PARTS) / total));
  const byRemainder = amounts
    .map((amount, index) => ({ index, remainder: (amount * PARTS) % total }))
    .sort((a, b) => b.remainder - a.remainder || a.index - b.index);
  const missing = PARTS - parts.reduce((sum, part) => sum + part, 0);
  for (const { index } of byRemainder.slice(0, missing)) parts[index] = (parts[index] ?? 0) + 1;
  return parts;
}

/** The client type that the quirk `newClientType` adds. */
const NEW_CLIENT_TYPE = 'ide-extension';

/** /activity: one row per day; WAU and MAU are unions over the trailing 7 and 30 days (section 2.4). */
export function writeActivityRows(view: DayView): readonly ActivityRow[] {
  const org = orgDayOf(view, 'activity');
  if (org === null) return [];
  return [
    {
      date: view.date,
      daily_active_users: org.users,
      weekly_active_users: view.dataset.distinctUsers(view.day, 7, 'activity'),
      monthly_active_users: view.dataset.distinctUsers(view.day, 30, 'activity'),
      daily_active_users_by_client: Object.fromEntries(usersByClient(org, view.quirks)),
      sessions: org.sessions,
      messages: org.userMessages + org.assistantMessages,
      user_messages: org.userMessages,
    },
  ];
}

/** /activity?group_by=client: one row per day and client type (section 4.2, group_by rule 4). */
export function writeActivityByClientRows(view: DayView): readonly ActivityByClientRow[] {
  const org = orgDayOf(view, 'activity');
  if (org === null) return [];
  return usersByClient(org, view.quirks).map(([client, users]) => ({
    date: view.date,
    group_key: client,
    daily_active_users: users,
  }));
}

function usersByClient(org: OrgDay, quirks: Quirks): [string, number][] {
  const known = CLIENT_TYPES.map((client, index): [string, number] => [
    client,
    org.usersByClient[index] ?? 0,
  ]);
  return quirks.newClientType ? [...known, [NEW_CLIENT_TYPE, Math.ceil(org.users / 9)]] : known;
}

/** The names of the languages, in the order of the catalog. */
export const LANGUAGE_NAMES: readonly string[] = LANGUAGES.map((language) => language.name);

/** /productivity: one row per day; both breakdowns sum to the files created and edited (section 2.4). */
export function writeProductivityRows(view: DayView): readonly ProductivityRow[] {
  const org = orgDayOf(view, 'productivity');
  if (org === null) return [];
  return [
    {
      date: view.date,
      files_created: org.filesCreated,
      files_edited: org.filesEdited,
      by_extension: rank(EXTENSIONS, org.extensions).map(({ name, count }) => ({ extension: name, count })),
      by_language: rank(LANGUAGE_NAMES, org.languages).map(({ name, count }) => ({
        language: name,
        count,
      })),
      git_commits: org.commits,
      git_prs_created: org.pullRequests,
    },
  ];
}
