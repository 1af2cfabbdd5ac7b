import { tables } from '../tables.ts';
import { distinctUsers, type Metric, type Source, source, sum, type Term } from './define.ts';

/** One row per user and day. Everything about users comes from here, so that no two metrics disagree. */
export const userRows = source({
  table: tables.userDaily,
  stream: 'users',
  columns: { delegation_level: ['delegation_level'] },
  hasUsers: true,
  rollups: { weekly: tables.userWeekly, monthly: tables.userMonthly, teams: tables.teamDaily },
});

const languageRows = source({
  table: tables.userDailyLanguages,
  stream: 'users',
  columns: { language: ['language'] },
  hasUsers: true,
  rollups: { monthly: tables.userMonthlyLanguages },
});

/** The rows come with the stream `tokens`, and are kept as long as those of `users`. */
const userModelRows = source({
  table: tables.tokensDailyByUserModel,
  stream: 'users',
  streams: ['users', 'tokens'],
  columns: { model: ['model_id'], tier: ['model_tier'] },
  hasUsers: true,
  rollups: { teams: tables.teamModelDaily },
});

type SumColumn = keyof typeof tables.userDaily.columns;

const total = (name: SumColumn, title: string, unit: string, doc: string): Metric => ({
  name,
  title,
  unit,
  doc,
  source: userRows,
  measure: { kind: 'term', term: sum(name) },
});

const ratio = (
  name: string,
  { title, unit, doc, of, to }: { title: string; unit: string; doc: string; of: Term; to: Term },
): Metric => ({
  name,
  title,
  unit,
  doc,
  source: userRows,
  measure: { kind: 'ratio', numerator: of, denominator: to },
});

const people = (
  name: string,
  title: string,
  doc: string,
  part: { source: Source; measure: Metric['measure'] },
) => ({
  name,
  title,
  unit: 'users',
  doc,
  ...part,
});

export const userMetrics: readonly Metric[] = [
  people('active_users', 'Active users', 'Distinct users with activity.', {
    source: userRows,
    measure: { kind: 'term', term: distinctUsers },
  }),
  people('new_users', 'New users', 'Users whose first activity ever is in the period.', {
    source: userRows,
    measure: { kind: 'new users' },
  }),
  people(
    'language_users',
    'Users by language',
    'Distinct users who worked in at least one programming language.',
    {
      source: languageRows,
      measure: { kind: 'term', term: distinctUsers },
    },
  ),
  total('billable_tokens', 'Credits', 'credits', 'Credits that users consumed.'),
  total('sessions', 'Sessions', 'sessions', 'Sessions that users started.'),
  total('messages', 'Messages', 'messages', 'Messages from users and the assistant.'),
  total('user_messages', 'User messages', 'messages', 'Messages from users.'),
  total('assistant_messages', 'Assistant messages', 'messages', 'Messages from the assistant.'),
  total('tool_calls', 'Tool calls', 'calls', 'Calls of tools by the assistant.'),
  total('mcp_calls', 'MCP calls', 'calls', 'Calls of tools of MCP servers.'),
  total('skill_calls', 'Skill calls', 'calls', 'Calls of skills.'),
  total('slash_commands', 'Slash commands', 'commands', 'Slash commands that users entered.'),
  total('hooks', 'Hooks', 'invocations', 'Invocations of hooks in sessions of users.'),
  total('files_created', 'Files created', 'files', 'New files that sessions wrote.'),
  total('files_edited', 'Files edited', 'files', 'Existing files that sessions changed.'),
  total('git_commits', 'Commits', 'commits', 'Git commits made in sessions.'),
  total('git_prs_created', 'Pull requests', 'pull requests', 'Pull requests created in sessions.'),
  ratio('sessions_per_active_user', {
    title: 'Sessions per active user',
    unit: 'sessions per user',
    doc: 'Sessions divided by active users.',
    of: sum('sessions'),
    to: distinctUsers,
  }),
  ratio('tokens_per_commit', {
    title: 'Credits per commit',
    unit: 'credits per commit',
    doc: 'Credits divided by git commits. All credits count, including those of users without a commit.',
    of: sum('billable_tokens'),
    to: sum('git_commits'),
  }),
  ratio('tokens_per_pr', {
    title: 'Credits per pull request',
    unit: 'credits per pull request',
    doc: 'Credits divided by pull requests. All credits count, including those of users without a pull request.',
    of: sum('billable_tokens'),
    to: sum('git_prs_created'),
  }),
  ratio('tool_calls_per_user_message', {
    title: 'Tool calls per user message',
    unit: 'calls per message',
    doc: "Tool calls divided by messages from users. The service's autonomy ratio is its own number and is not recomputed.",
    of: sum('tool_calls'),
    to: sum('user_messages'),
  }),
  ratio('files_per_session', {
    title: 'Files per session',
    unit: 'files per session',
    doc: 'Files created and edited, divided by sessions.',
    of: sum('files_created', 'files_edited'),
    to: sum('sessions'),
  }),
  ratio('thinking_share', {
    title: 'Thinking share',
    unit: 'ratio',
    doc: 'Credits of the days on which the primary model of the user had the tier thinking, divided by all credits, 0 to 1.',
    of: {
      kind: 'sum',
      columns: ['billable_tokens'],
      where: { column: 'primary_model_tier', equals: 'thinking', rollupColumn: 'thinking_tokens' },
    },
    to: sum('billable_tokens'),
  }),
  {
    name: 'cost',
    title: 'Cost',
    unit: 'currency',
    doc: 'Credits of each day, in millions, times the price of that day. NULL if a day with credits has no price.',
    source: userRows,
    alsoReads: [tables.prices],
    measure: { kind: 'term', term: { kind: 'cost' } },
  },
  {
    name: 'cost_per_active_user',
    title: 'Cost per active user',
    unit: 'currency',
    doc: 'Cost divided by active users.',
    source: userRows,
    alsoReads: [tables.prices],
    measure: { kind: 'ratio', numerator: { kind: 'cost' }, denominator: distinctUsers },
  },
];

/**
 * The parts of users by model. The service names no model for some rows, so that these numbers do not replace the others: pages open
 * them from those, and say what is without a model. Files for other tools leave them out.
 */
export const userModelMetrics: readonly Metric[] = [
  {
    name: 'user_model_billable_tokens',
    title: 'Credits of users by model',
    unit: 'credits',
    doc: 'Credits that users consumed, where the service names the model.',
    source: userModelRows,
    measure: { kind: 'term', term: sum('billable_tokens') },
  },
  {
    name: 'user_model_cost',
    title: 'Cost of users by model',
    unit: 'currency',
    doc: 'These credits in millions, times the price of their day. NULL if a day with credits has no price.',
    source: userModelRows,
    alsoReads: [tables.prices],
    measure: { kind: 'term', term: { kind: 'cost' } },
  },
  {
    name: 'user_model_active_users',
    title: 'Users of models',
    unit: 'users',
    doc: 'Distinct users with credits of a model.',
    source: userModelRows,
    measure: { kind: 'term', term: distinctUsers },
  },
];
