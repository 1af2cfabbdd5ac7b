import type { AnyTable } from '../define.ts';
import { tables } from '../tables.ts';
import { type Dimension, type Metric, type SnapshotMeasure, type Source, source, sum } from './define.ts';
import { userMetrics, userModelMetrics } from './user-metrics.ts';

const credits = source({ table: tables.tokensDaily, stream: 'tokens' });
const creditsByModel = source({
  table: tables.tokensDailyByModel,
  stream: 'tokens',
  columns: { model: ['model_id'], tier: ['model_tier'] },
});
const activity = source({ table: tables.activityDaily, stream: 'activity' });
const clients = source({
  table: tables.activityDailyByClient,
  stream: 'activity',
  columns: { client: ['client'] },
});
const tools = source({ table: tables.toolsDaily, stream: 'tools' });
const languages = source({
  table: tables.productivityDailyByLanguage,
  stream: 'productivity',
  columns: { language: ['language'] },
});

type CreditColumn = keyof typeof tables.tokensDaily.columns;

const tokens = (column: CreditColumn, title: string, doc: string, name: string = column): Metric => ({
  name,
  title,
  unit: column === 'billable_tokens' ? 'credits' : 'tokens',
  doc,
  source: credits,
  breakdown: creditsByModel,
  measure: { kind: 'term', term: sum(column) },
});

const published = (column: string, title: string, doc: string): Metric => ({
  name: `published_${column}`,
  title,
  unit: column,
  doc,
  source: activity,
  measure: { kind: 'term', term: sum(column) },
});

const snapshot = (
  name: string,
  title: string,
  doc: string,
  part: { unit: string; source: Source; measure: Omit<SnapshotMeasure, 'kind'> },
): Metric => ({ name, title, doc, ...part, measure: { kind: 'snapshot', ...part.measure } });

const people = (column: string, from: Source = activity) => ({
  unit: 'users',
  source: from,
  measure: { column, instead: 'active_users' },
});

const autonomy = (column: string) => ({
  unit: 'calls per turn',
  source: tools,
  measure: { column, instead: 'tool_calls_per_user_message' },
});

/** What the service publishes for the organization as a whole. It is never mixed with numbers from user rows. */
const publishedMetrics: readonly Metric[] = [
  tokens(
    'billable_tokens',
    'Credits as published',
    'Credits of the organization as the service publishes them, including credits that belong to no user.',
    'published_billable_tokens',
  ),
  {
    name: 'published_cost',
    title: 'Cost as published',
    unit: 'currency',
    doc: 'Credits of each day as the service publishes them, in millions, times the price of that day. NULL if a day with credits has no price.',
    source: credits,
    breakdown: creditsByModel,
    alsoReads: [tables.prices],
    measure: { kind: 'term', term: { kind: 'cost' } },
  },
  tokens('input_tokens', 'Input tokens', 'Raw input tokens.'),
  tokens('output_tokens', 'Output tokens', 'Output tokens.'),
  tokens('cache_read_tokens', 'Cache reads', 'Tokens read from the cache.'),
  tokens('cache_write_tokens', 'Cache writes', 'Tokens written to the cache.'),
  {
    name: 'cache_share',
    title: 'Cache share',
    unit: 'ratio',
    doc: 'Tokens read from the cache, divided by the sum of these and the raw input tokens, 0 to 1.',
    source: credits,
    measure: {
      kind: 'ratio',
      numerator: sum('cache_read_tokens'),
      denominator: sum('cache_read_tokens', 'input_tokens'),
    },
  },
  snapshot(
    'published_dau',
    'Daily active users as published',
    'Distinct users active on the day.',
    people('daily_active_users'),
  ),
  snapshot(
    'published_wau',
    'Weekly active users as published',
    'Distinct users active in the 7 days that end on the day.',
    people('weekly_active_users'),
  ),
  snapshot(
    'published_mau',
    'Monthly active users as published',
    'Distinct users active in the 30 days that end on the day.',
    people('monthly_active_users'),
  ),
  snapshot(
    'published_client_dau',
    'Daily active users by client as published',
    'Distinct users active on the day with a client. Someone who uses several clients counts once in each.',
    {
      unit: 'users',
      source: clients,
      measure: { column: 'daily_active_users', instead: 'active_users', needs: 'client' },
    },
  ),
  snapshot(
    'published_autonomy_ratio_avg',
    'Average autonomy ratio as published',
    'Average number of tool calls per user turn.',
    autonomy('autonomy_ratio_avg'),
  ),
  snapshot(
    'published_autonomy_ratio_p50',
    'Median autonomy ratio as published',
    'Median number of tool calls per user turn.',
    autonomy('autonomy_ratio_p50'),
  ),
  snapshot(
    'published_autonomy_ratio_p90',
    'High autonomy ratio as published',
    '90th percentile of the number of tool calls per user turn.',
    autonomy('autonomy_ratio_p90'),
  ),
  published(
    'sessions',
    'Sessions as published',
    'Sessions of the organization as the service publishes them.',
  ),
  published(
    'messages',
    'Messages as published',
    'Messages from users and the assistant as the service publishes them.',
  ),
  {
    name: 'published_language_files',
    title: 'Files by language as published',
    unit: 'files',
    doc: 'Files of the organization whose programming language the service names.',
    source: languages,
    measure: { kind: 'term', term: sum('count') },
  },
];

const invocations = (
  name: string,
  title: string,
  doc: string,
  from: { table: AnyTable; by: Dimension; columns: readonly string[]; count: string },
): Metric => ({
  name,
  title,
  unit: 'invocations',
  doc,
  source: source({ table: from.table, stream: 'tools', columns: { [from.by]: from.columns } }),
  measure: { kind: 'term', term: sum(from.count) },
});

const toolMetrics: readonly Metric[] = [
  invocations('tool_invocations', 'Tool invocations', 'Invocations of tools.', {
    table: tables.toolsDailyByTool,
    by: 'tool',
    columns: ['tool'],
    count: 'invocations',
  }),
  invocations(
    'mcp_invocations',
    'MCP invocations',
    'Invocations of tools of MCP servers. Names of servers are in lower case.',
    { table: tables.toolsDailyByMcpServer, by: 'server', columns: ['server'], count: 'invocations' },
  ),
  invocations('skill_invocations', 'Skill invocations', 'Invocations of skills.', {
    table: tables.toolsDailyBySkill,
    by: 'skill',
    columns: ['name'],
    count: 'count',
  }),
  invocations('slash_command_invocations', 'Slash command invocations', 'Invocations of slash commands.', {
    table: tables.toolsDailyBySlashCommand,
    by: 'slash_command',
    columns: ['name'],
    count: 'count',
  }),
  invocations(
    'hook_invocations',
    'Hook invocations',
    'Invocations of hooks. A hook is named by its event, matcher and command, with " / " between them.',
    {
      table: tables.toolsDailyByHook,
      by: 'hook',
      columns: ['event', 'matcher', 'command'],
      count: 'count',
    },
  ),
];

// The days of these metrics are those of the stream users: a seat is used or not on days that are stored.
const licenses = source({ table: tables.people, stream: 'users', columns: { team: ['team'] } });

const readiness = source({
  table: tables.readinessReports,
  stream: 'readiness',
  columns: { repository: ['repo_url'] },
});

const peopleMetrics: readonly Metric[] = [
  {
    name: 'licensed_users',
    title: 'Licensed users',
    unit: 'users',
    doc: 'People who are listed in `people` on the last day of the period.',
    source: licenses,
    measure: { kind: 'licensed users' },
  },
  {
    name: 'inactive_users',
    title: 'Inactive users',
    unit: 'users',
    doc: 'Licensed users without activity in the period. Someone with several user IDs is inactive only if all of them are.',
    source: licenses,
    alsoReads: [tables.userDaily, tables.userTeams],
    measure: { kind: 'inactive users' },
  },
];

const readinessMetrics: readonly Metric[] = [
  {
    name: 'readiness_score',
    title: 'Readiness score',
    unit: 'ratio',
    doc: 'Mean over repositories of the score of their latest report at the end of the period, 0 to 1.',
    source: readiness,
    measure: { kind: 'readiness score' },
  },
];

export {
  type Additivity,
  additivityOf,
  DIMENSIONS,
  type Dimension,
  dimensionsOf,
  GRAINS,
  type Grain,
  isGrain,
  type Measure,
  type Metric,
  type Source,
  type Term,
} from './define.ts';
export { userRows } from './user-metrics.ts';

/** What a dimension by user calls the group of people for whom pseudonyms stand, because they were erased. */
export const UNNAMED = 'erased';

/** A group of metrics of the dictionary, as documentation shows it. */
interface MetricGroup {
  readonly title: string;
  readonly doc: string;
  readonly metrics: readonly Metric[];
}

/** The dictionary. Every metric is declared once; queries, documentation and dashboards are generated from it. */
export const metricGroups: readonly MetricGroup[] = [
  {
    title: 'Users',
    doc: 'Computed from the rows of `user_daily` and `user_daily_languages`.',
    metrics: userMetrics,
  },
  {
    title: 'Licensed people',
    doc: 'Computed from `people`, see `daywalk people load`.',
    metrics: peopleMetrics,
  },
  {
    title: 'Published by the service',
    doc: 'What the service publishes for the organization as a whole. The numbers can differ from the sums over users.',
    metrics: publishedMetrics,
  },
  { title: 'Tools', doc: 'Computed from the breakdowns of the stream `tools`.', metrics: toolMetrics },
  { title: 'Readiness', doc: 'Computed from the readiness reports.', metrics: readinessMetrics },
  {
    title: 'Users by model',
    doc: 'Computed from `tokens_daily_by_user_model`. The service names no model for some credits of users; these are not in it.',
    metrics: userModelMetrics,
  },
];

/** Every metric that can be asked for, in the order of the documentation. */
export const askableMetrics: readonly Metric[] = metricGroups.flatMap(({ metrics }) => metrics);

/** The metrics that stand for themselves, in the same order: those in files for other tools, and in what is published. */
export const allMetrics: readonly Metric[] = askableMetrics.filter(
  (metric) => !userModelMetrics.includes(metric),
);
