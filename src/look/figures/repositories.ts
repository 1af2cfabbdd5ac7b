import { sql } from '../../../schema/query.ts';
import type { PageReader } from '../data/reader.ts';
import { readinessReports } from '../data/readiness.ts';
import type { Figure } from '../page/page.ts';
import { repositoryName } from '../words/repositories.ts';
import { dayName } from '../words/spans.ts';
import { factColumn, factOf, instantColumn, type ListedColumn, listing, textColumn } from './listing.ts';

/** A page has several lists; the largest organizations have hundreds of repositories. */
const REPOSITORIES_MAX = 25;
const REPORTS_MAX = 12;
const NO_REPORT = 'No report of a repository is stored up to this day.';
const NOT_EVALUATED = { format: 'share', why: 'no criterion was evaluated' } as const;
const NOTHING_BEFORE = { why: 'the report is the first of its repository, or one of them evaluated nothing' };

const SCORE_BAR: ListedColumn = {
  title: '',
  isSpare: true,
  cell: (result, row) => ({ kind: 'bar', value: factOf(result, row, 'score').value, max: 1 }),
};

const REPOSITORY = textColumn('repository', { title: 'Repository' }, repositoryName);

/** The repositories by the score of their latest report. */
export function repositories(reader: PageReader): Promise<Figure> {
  const { until } = reader.filters;
  return listing(reader, {
    id: 'repositories',
    title: 'Repositories',
    subtitle: `Latest report of each up to ${dayName(until)}; the change is against the report before it`,
    query: sql`
  ${readinessReports(reader)}
  SELECT repository, score, score_change, criteria_passed, criteria_evaluated, reports, created_at, repository_number,
    CASE WHEN score IS NULL THEN 1 ELSE 0 END AS unscored
  FROM latest`,
    order: sql`unscored, score DESC, repository_number`,
    columns: [
      REPOSITORY,
      factColumn('score', 'Score', NOT_EVALUATED),
      SCORE_BAR,
      factColumn('score_change', 'Change', { format: 'points', ...NOTHING_BEFORE }),
      factColumn('criteria_passed', 'Passed', { why: NOT_EVALUATED.why }),
      factColumn('criteria_evaluated', 'Evaluated'),
      factColumn('reports', 'Reports'),
      instantColumn('created_at', { title: 'Last report' }),
    ],
    most: REPOSITORIES_MAX,
    empty: NO_REPORT,
    streams: ['readiness'],
    until,
  });
}

/** Every report with its score, newest first. */
export function readinessHistory(reader: PageReader): Promise<Figure> {
  const isPublic = reader.viewer.audience === 'public';
  const { until } = reader.filters;
  return listing(reader, {
    id: 'readiness-history',
    title: 'History',
    subtitle: 'One row per report, newest first',
    query: sql`
  ${readinessReports(reader)}
  SELECT created_at, repository, ${isPublic ? sql`` : sql`branch, `}score, previous_score, score_change, criteria_passed,
    criteria_evaluated, report_id
  FROM reports`,
    order: sql`created_at DESC, report_id`,
    columns: [
      instantColumn('created_at', { title: 'Report' }),
      REPOSITORY,
      ...(isPublic ? [] : [textColumn('branch', { title: 'Branch', isSpare: true })]),
      factColumn('previous_score', 'Before', { format: 'share', ...NOTHING_BEFORE }),
      factColumn('score', 'Score', NOT_EVALUATED),
      factColumn('score_change', 'Change', { format: 'points', ...NOTHING_BEFORE }),
      factColumn('criteria_passed', 'Passed', { why: NOT_EVALUATED.why }),
      factColumn('criteria_evaluated', 'Evaluated'),
    ],
    most: REPORTS_MAX,
    empty: NO_REPORT,
    streams: ['readiness'],
    until,
  });
}
