import { tables } from '../tables.ts';
import { type Metric, source } from './define.ts';
import { publishedMetrics, toolMetrics } from './published-metrics.ts';
import { userMetrics } from './user-metrics.ts';

// The days of these metrics are those of the stream users: a seat is used or not on days that are stored.
const people = source({ table: tables.people, stream: 'users', columns: { team: ['team'] } });

const readiness = source({
  table: tables.readinessReports,
  stream: 'readiness',
  columns: { repository: ['repo_url'] },
});

export const peopleMetrics: readonly Metric[] = [
  {
    name: 'licensed_users',
    title: 'Licensed users',
    unit: 'users',
    doc: 'People who are listed in `people` on the last day of the period.',
    source: people,
    measure: { kind: 'licensed users' },
  },
  {
    name: 'inactive_users',
    title: 'Inactive users',
    unit: 'users',
    doc: 'Licensed users without activity in the period. Someone with several user IDs is inactive only if all of them are.',
    source: people,
    alsoReads: [tables.userDaily, tables.userTeams],
    measure: { kind: 'inactive users' },
  },
];

export const readinessMetrics: readonly Metric[] = [
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
  type Term,
} from './define.ts';

/** A group of metrics of the dictionary, as documentation shows it. */
export interface MetricGroup {
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
];

/** Every metric, in the order of the documentation. */
export const allMetrics: readonly Metric[] = metricGroups.flatMap(({ metrics }) => metrics);
