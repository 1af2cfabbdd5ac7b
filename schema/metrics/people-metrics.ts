import { tables } from '../tables.ts';
import { type Metric, source } from './define.ts';

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
