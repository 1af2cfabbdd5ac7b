import { type SQL, sql } from '../../../schema/query.ts';
import { FIRST_DAY } from '../../core/day.ts';
import { PHRASES } from '../../metrics/index.ts';
import { headline } from '../figures/headline.ts';
import {
  factColumn,
  factOf,
  instantColumn,
  type ListedColumn,
  listing,
  textColumn,
  withResult,
} from '../figures/listing.ts';
import { drawFigure, type FigureSpec } from '../figures/over-time.ts';
import { type Result, shareOf } from '../numbers.ts';
import { emptyFigure, type Figure, type Headline, orNotKept, type Page, type Phrase } from '../page.ts';
import type { PageReader } from '../reader.ts';
import { dayName, instantSentence, nounFor } from '../words.ts';
import type { PageKind } from './page-kind.ts';

const NAME = 'Readiness';
const METRIC = { metric: 'readiness_score', title: 'Mean score' } as const;

const SCORE: FigureSpec = {
  draw: 'lines',
  id: 'readiness-score',
  title: 'Score per week',
  unit: 'Per cent, mean of the latest reports at the end of each week',
  metrics: [{ metric: METRIC.metric, name: METRIC.title }],
  grain: 'week',
  weeks: 26,
  format: 'share',
  percent: true,
};

/** How ready the repositories are for agents, and what they lack. */
export const readiness: PageKind = {
  path: '/readiness',
  name: NAME,
  async build(reader) {
    const { until } = reader.filters;
    const walk = await lastReadinessWalk(reader);
    const totals = await readinessTotals(reader);
    const heading = `${NAME} on ${dayName(until)} ${until.slice(0, 4)}`;
    if (walk === null || walk.at === null || factOf(totals, 0, 'reports').value === 0) {
      return { name: NAME, heading, ...nothingYet(walk, totals) };
    }
    const score = await headline(reader, { ...METRIC, format: 'share' });
    return {
      name: NAME,
      heading,
      sentence: [...sentenceOf(score, totals), ...asOf(walk), ...teamOf(reader)],
      sections: [
        { kind: 'headlines', headlines: [score] },
        { kind: 'pair', figures: [await drawFigure(reader, SCORE), await failingCriteria(reader)] },
        withResult(await repositories(reader), totals),
        await failureReasons(reader),
        await readinessHistory(reader),
      ],
      basis: totals.basis,
    } satisfies Page;
  },
};

function nothingYet(walk: ReadinessWalk | null, totals: Result): Pick<Page, 'sentence' | 'sections'> {
  if (walk !== null && walk.at !== null)
    return { sentence: ['No report was created up to this day.', ...asOf(walk)], sections: [] };
  const figure = { id: 'repositories', title: 'Repositories', unit: 'Latest report of each' };
  const never = 'The reports were never pulled completely: `daywalk run --streams readiness`';
  return {
    sentence: ['No readiness reports are stored yet.'],
    sections: [emptyFigure(figure, orNotKept(totals, never))],
  };
}

function sentenceOf({ number }: Headline, totals: Result): Phrase {
  const count = (column: string) => factOf(totals, 0, column);
  const [repos, failing] = [count('repositories'), count('failing')];
  return [
    { kind: 'strong', parts: [number] },
    ' is the mean score of ',
    { kind: 'strong', parts: [repos, nounFor(repos, ' repository', ' repositories')] },
    '. ',
    failing,
    ' of ',
    count('criteria'),
    nounFor(failing, ' criteria fails', ' criteria fail'),
    ' in at least one repository.',
  ];
}

function asOf({ at, state }: ReadinessWalk): Phrase {
  if (at === null) return [];
  const walked = ` The last complete walk of the reports was on ${instantSentence(at)}.`;
  if (state === 'failed' || state === 'pending') return [walked, ' The newest walk did not reach the end.'];
  return state === 'doubted'
    ? [walked, ' It lacked reports that are stored; they are kept until that is confirmed.']
    : [walked];
}

function teamOf({ filters }: PageReader): Phrase {
  return filters.team === undefined
    ? []
    : [' Reports are about repositories, so this page is for the whole organization.'];
}

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
function repositories(reader: PageReader): Promise<Figure> {
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
function readinessHistory(reader: PageReader): Promise<Figure> {
  const { until } = reader.filters;
  return listing(reader, {
    id: 'readiness-history',
    title: 'History',
    subtitle: 'One row per report, newest first',
    query: sql`
  ${readinessReports(reader)}
  SELECT created_at, repository, branch, score, previous_score, score_change, criteria_passed,
    criteria_evaluated, report_id
  FROM reports`,
    order: sql`created_at DESC, report_id`,
    columns: [
      instantColumn('created_at', { title: 'Report' }),
      REPOSITORY,
      textColumn('branch', { title: 'Branch', isSpare: true }),
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

/** A page has several lists of criteria. */
const CRITERIA_MAX = 12;
const NOTHING_FAILS = 'The latest reports pass every criterion that they evaluate.';

const FAILING_SHARE: ListedColumn = {
  title: 'Share',
  align: 'end',
  cell: (result, row) => shareOf(factOf(result, row, 'failing'), factOf(result, row, 'evaluated')),
};

/** The criteria that the latest reports do not fully pass, by the number of their repositories. */
function failingCriteria(reader: PageReader): Promise<Figure> {
  const { until } = reader.filters;
  return listing(reader, {
    id: 'failing-criteria',
    title: 'Failing criteria',
    subtitle: `Repositories whose latest report up to ${dayName(until)} does not fully pass the criterion`,
    query: sql`
  ${readinessReports(reader)}
  SELECT c.criterion_id, SUM(CASE WHEN c.numerator < c.denominator THEN 1 ELSE 0 END) AS failing,
    COUNT(c.numerator) AS evaluated
  FROM latest l JOIN readiness_report_criteria c ON c.org_id = l.org_id AND c.report_id = l.report_id
  GROUP BY c.criterion_id
  HAVING SUM(CASE WHEN c.numerator < c.denominator THEN 1 ELSE 0 END) > 0`,
    order: sql`failing DESC, evaluated, criterion_id`,
    columns: [
      textColumn('criterion_id', { title: 'Criterion' }),
      factColumn('failing', 'Fail it'),
      factColumn('evaluated', 'Evaluate it'),
      FAILING_SHARE,
    ],
    most: CRITERIA_MAX,
    empty: NOTHING_FAILS,
    streams: ['readiness'],
    until,
  });
}

/** Why criteria fail, in the words of the reports. Not for the public. */
function failureReasons(reader: PageReader): Promise<Figure> {
  const { until } = reader.filters;
  return listing(reader, {
    id: 'failure-reasons',
    title: 'Why criteria fail',
    subtitle: 'In the words of the latest reports; the newest reports first',
    query: sql`
  ${readinessReports(reader)}
  SELECT l.repository, c.criterion_id, c.numerator, c.denominator, c.rationale, l.created_at, l.repository_number
  FROM latest l JOIN readiness_report_criteria c ON c.org_id = l.org_id AND c.report_id = l.report_id
  WHERE c.numerator < c.denominator`,
    order: sql`created_at DESC, repository_number, criterion_id`,
    columns: [
      textColumn('repository', { title: 'Repository' }, repositoryName),
      textColumn('criterion_id', { title: 'Criterion' }),
      factColumn('numerator', 'Pass'),
      factColumn('denominator', 'Of'),
      textColumn('rationale', { title: 'Reason' }),
    ],
    most: CRITERIA_MAX,
    empty: NOTHING_FAILS,
    streams: ['readiness'],
    until,
  });
}

/**
 * Named queries over the reports up to the last day of the filters: `reports`, each with its score, that of the report before
 * it, its `recency` (1 is the latest of its repository) and the number of reports of the repository; and `latest`.
 * Repositories are numbered by their first report.
 */
function readinessReports({ warehouse, filters }: PageReader): SQL {
  const { dayOf, sortable, day } = PHRASES[warehouse.dialect];
  return sql`WITH numbered AS (
    SELECT repo_url, ROW_NUMBER() OVER (ORDER BY MIN(created_at), ${sortable(sql`repo_url`)}) AS repository_number
    FROM readiness_reports WHERE org_id = ${filters.orgId} GROUP BY repo_url
  ), reports AS (
    SELECT h.*, n.repository_number, h.repo_url AS repository,
      ROW_NUMBER() OVER (PARTITION BY h.repo_url ORDER BY h.created_at DESC, h.report_id DESC) AS recency,
      COUNT(*) OVER (PARTITION BY h.repo_url) AS reports
    FROM readiness_history h JOIN numbered n ON n.repo_url = h.repo_url
    WHERE h.org_id = ${filters.orgId} AND ${dayOf(sql`h.created_at`)} <= ${day(filters.until)}
  ), latest AS (
    SELECT * FROM reports WHERE recency = 1
  )`;
}

/** One row: the number of repositories and reports, and of criteria that are evaluated and that fail somewhere. */
function readinessTotals(reader: PageReader): Promise<Result> {
  return reader.select({
    title: 'Repositories, reports and criteria',
    query: sql`${readinessReports(reader)}, criteria AS (
    SELECT c.criterion_id, MAX(CASE WHEN c.numerator < c.denominator THEN 1 ELSE 0 END) AS fails
    FROM latest l JOIN readiness_report_criteria c ON c.org_id = l.org_id AND c.report_id = l.report_id
    WHERE c.numerator IS NOT NULL GROUP BY c.criterion_id
  )
SELECT (SELECT COUNT(*) FROM latest) AS repositories, (SELECT COUNT(*) FROM reports) AS reports,
  (SELECT COUNT(*) FROM criteria) AS criteria, (SELECT COUNT(*) FROM criteria WHERE fails = 1) AS failing`,
    streams: ['readiness'],
    from: FIRST_DAY,
  });
}

/** What the reports rest on. */
interface ReadinessWalk {
  /** Instant of the last complete walk over the reports; null if there was none. */
  readonly at: string | null;
  readonly state: string;
}

/** Reads when all readiness reports were read last. Null if they were never pulled. */
async function lastReadinessWalk(reader: PageReader): Promise<ReadinessWalk | null> {
  const { rows } = await reader.select({
    title: 'Last walk over the readiness reports',
    query: sql`
SELECT state, CASE WHEN state IN ('failed', 'pending') THEN COALESCE(changed_at, first_loaded_at)
    ELSE last_pulled_at END AS walked_at
FROM export_units WHERE org_id = ${reader.filters.orgId} AND stream = 'readiness'`,
    streams: ['readiness'],
    from: FIRST_DAY,
  });
  const [row] = rows;
  if (row === undefined) return null;
  const { state, walked_at: at } = row;
  return { state: String(state), at: typeof at === 'string' ? at : null };
}

/**
 * The URL of a repository for people: without https, credentials, query and fragment. It is shown as text and never as a link,
 * because whoever creates a report chooses it.
 */
function repositoryName(url: string): string {
  return url.replace(USER_INFO, '//').replace(SHORT_PASSWORD, '').replace(AFTER_PATH, '').replace(SECURE, '');
}

// A password may hold any character, also a slash or an @ that should have been encoded: remove up to the last @.
const USER_INFO = /\/\/\S*@/g;
/** As in `user:password@host:path`; `git@host:path` has no secret. */
const SHORT_PASSWORD = /^[^\s/@]*:\S*@/;
const SECURE = /^https:\/\//;
const AFTER_PATH = /[?#][\s\S]*$/;
