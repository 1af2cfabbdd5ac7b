import { barChart, type Chart, lineChart } from './charts.ts';
import { PARAMETERS } from './parameters.ts';

/** A page of charts. */
export interface Dashboard {
  readonly title: string;
  readonly description: string;
  readonly filters: Readonly<Record<string, object>>;
  readonly charts: Readonly<Record<string, Chart>>;
}

const [ORGANIZATION, FIRST_DAY, LAST_DAY] = PARAMETERS;

const FILTERS = {
  [ORGANIZATION]: { name: 'Organization (ID, empty for the only one)', type: 'text', default: '' },
  [FIRST_DAY]: { name: 'First day (empty for all)', type: 'date', default: '' },
  [LAST_DAY]: { name: 'Last day (empty for all)', type: 'date', default: '' },
};

function dashboard(title: string, description: string, charts: Readonly<Record<string, Chart>>): Dashboard {
  return { title, description, filters: FILTERS, charts };
}

/** The dashboards by their names in the address. */
export const dashboards: Readonly<Record<string, Dashboard>> = {
  overview: dashboard(
    'Overview',
    'What the organization uses. A gap in a line is a day that is not stored.',
    {
      credits: lineChart('billable_tokens', 'date'),
      active_users: lineChart('active_users', 'date'),
      sessions: lineChart('sessions', 'week'),
      commits: lineChart('git_commits', 'week'),
    },
  ),
  adoption: dashboard(
    'Adoption',
    'Who uses it. People count once in each week, month, team or language, so do not add these up.',
    {
      active_by_week: lineChart('active_users', 'week'),
      active_by_month: lineChart('active_users', 'month'),
      new_users: lineChart('new_users', 'week'),
      inactive_users: lineChart('inactive_users', 'month'),
      sessions_per_user: lineChart('sessions_per_active_user', 'week'),
      active_by_team: barChart('active_users', 'team'),
      languages: barChart('language_users', 'language'),
      clients: lineChart('published_client_dau', 'date', 'client'),
    },
  ),
  cost: dashboard(
    'Cost',
    'Credits times the price of their day. A month without a price is a gap; the first and the last have only their stored days.',
    {
      cost_by_month: lineChart('cost', 'month'),
      cost_by_team: barChart('cost', 'team'),
      cost_per_user: lineChart('cost_per_active_user', 'month'),
      credits_by_model: barChart('published_billable_tokens', 'model'),
      credits_per_commit: lineChart('tokens_per_commit', 'month'),
      cache_share: lineChart('cache_share', 'week'),
      thinking_share: lineChart('thinking_share', 'week'),
    },
  ),
  tools: dashboard('Tools and readiness', 'Which tools are used, and how ready the repositories are.', {
    tools: barChart('tool_invocations', 'tool'),
    servers: barChart('mcp_invocations', 'server'),
    skills: barChart('skill_invocations', 'skill'),
    commands: barChart('slash_command_invocations', 'slash_command'),
    readiness: lineChart('readiness_score', 'month'),
    repositories: barChart('readiness_score', 'repository'),
  }),
};
