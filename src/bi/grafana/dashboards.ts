import { healthChecks, overBudget } from './checks.ts';
import { type Band, band } from './layout.ts';
import { byMonth, byPart, line, total } from './metric-panels.ts';
import type { ThresholdStep } from './panel.ts';
import {
  checkPanel,
  failingCriteria,
  forecast,
  lastRuns,
  latestReports,
  openDays,
  restatedNumbers,
  unitStates,
} from './view-panels.ts';

/** What a dashboard shows. */
export interface DashboardPlan {
  /** The name of its file, and a part of its uid. */
  readonly name: string;
  readonly title: string;
  readonly description: string;
  readonly bands: readonly Band[];
}

/** Colours for a readiness score. */
const READINESS: readonly ThresholdStep[] = [
  { color: 'red', value: null },
  { color: 'yellow', value: 0.5 },
  { color: 'green', value: 0.8 },
];

const STAT = 4;
const CHART = 8;

const overview: DashboardPlan = {
  name: 'overview',
  title: 'Daywalk: overview',
  description: 'What the organization uses. A gap in a line is a day that is not stored.',
  bands: [
    band(
      STAT,
      ...['billable_tokens', 'active_users', 'sessions', 'messages', 'tool_calls', 'mcp_calls'].map((name) =>
        total(name),
      ),
    ),
    band(
      STAT,
      ...[
        'skill_calls',
        'slash_commands',
        'files_created',
        'files_edited',
        'git_commits',
        'git_prs_created',
      ].map((name) => total(name)),
    ),
    band(CHART, line('billable_tokens', 'date'), line('active_users', 'date')),
    band(CHART, line('sessions', 'week'), line('git_commits', 'week')),
    band(CHART, byPart('tool_invocations', 'tool'), byPart('mcp_invocations', 'server')),
  ],
};

const adoption: DashboardPlan = {
  name: 'adoption',
  title: 'Daywalk: adoption',
  description:
    'Who uses it. People count once in each week, month, team or language, so do not add these numbers up.',
  bands: [
    band(
      STAT,
      total('licensed_users'),
      total('inactive_users'),
      total('new_users'),
      total('sessions_per_active_user'),
    ),
    band(CHART, line('active_users', 'week'), byMonth('active_users')),
    band(CHART, line('new_users', 'week'), byMonth('inactive_users')),
    band(CHART, line('sessions_per_active_user', 'week'), line('published_mau', 'date')),
    band(
      CHART,
      byPart('active_users', 'team'),
      byPart('language_users', 'language'),
      line('published_client_dau', 'date', 'client'),
    ),
  ],
};

const cost: DashboardPlan = {
  name: 'cost',
  title: 'Daywalk: cost',
  description:
    'Credits times the price of their day. A cost is empty if a day with credits has no price. The first and the last month have only the chosen days.',
  bands: [
    band(
      STAT,
      total('cost'),
      total('cost_per_active_user'),
      total('published_billable_tokens'),
      total('cache_share'),
      total('thinking_share'),
      checkPanel(overBudget),
    ),
    band(CHART, byMonth('cost'), byPart('cost', 'team')),
    band(CHART, forecast),
    band(CHART, byMonth('cost_per_active_user'), byPart('published_billable_tokens', 'model')),
    band(CHART, line('published_billable_tokens', 'date', 'model'), byMonth('tokens_per_commit')),
    band(CHART, line('cache_share', 'week'), line('thinking_share', 'week')),
  ],
};

const readiness: DashboardPlan = {
  name: 'readiness',
  title: 'Daywalk: readiness',
  description: 'How ready the repositories are for agents: the latest report of each counts.',
  bands: [
    band(CHART, total('readiness_score', READINESS), byMonth('readiness_score', READINESS)),
    band(10, byPart('readiness_score', 'repository', READINESS), failingCriteria),
    band(10, latestReports),
  ],
};

const health: DashboardPlan = {
  name: 'health',
  title: 'Daywalk: data health',
  description: 'Whether the numbers are complete. A green number needs nobody.',
  bands: [
    band(STAT, ...healthChecks.map(checkPanel)),
    band(CHART, unitStates),
    band(CHART, openDays, lastRuns),
    band(CHART, restatedNumbers),
  ],
};

/** The dashboards, in the order of their files. */
export const dashboardPlans: readonly DashboardPlan[] = [overview, adoption, cost, readiness, health];
