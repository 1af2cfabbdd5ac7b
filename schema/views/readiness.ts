import { count, instant, key, label, metric, orgColumn, ratio, type View } from '../define.ts';
import { type Cast, castInSqlite, plain } from './dialect.ts';

/** The columns of a report with its score. */
const scoreColumns = {
  ...orgColumn,
  repo_url: key('URL of the repository'),
  report_id: key('ID of the report'),
  created_at: instant('when the report was created'),
  branch: label('branch'),
  commit_hash: label('commit'),
  criteria: count('number of criteria in the report'),
  criteria_evaluated: count('number of criteria that were not skipped'),
  criteria_passed: count('number of criteria that all sub-applications pass'),
  score: ratio('mean share of sub-applications that pass, 0 to 1; NULL if nothing was evaluated'),
};

/** Ranks the reports of each repository by age; the newest has recency 1. Its columns are those of {@link reportScores}. */
const RANKED_REPORTS = `ranked AS (
  SELECT org_id, repo_url, report_id, created_at, branch, commit_hash,
    ROW_NUMBER() OVER (PARTITION BY org_id, repo_url ORDER BY created_at DESC, report_id DESC) AS recency
  FROM readiness_reports
)`;

/** Selects {@link scoreColumns} of reports. `where` is a condition on `r`. */
function reportScores(cast: Cast, reports: { readonly from: string; readonly where?: string }): string {
  return `SELECT r.org_id, r.repo_url, r.report_id, r.created_at, r.branch, r.commit_hash,
  ${cast('COUNT(c.criterion_id)', 'INTEGER')} AS criteria,
  ${cast('COUNT(c.numerator)', 'INTEGER')} AS criteria_evaluated,
  ${cast('SUM(CASE WHEN c.numerator >= c.denominator THEN 1 ELSE 0 END)', 'INTEGER')} AS criteria_passed,
  ${cast('AVG(c.numerator * 1.0 / NULLIF(c.denominator, 0))', 'REAL')} AS score
FROM ${reports.from} r
LEFT JOIN readiness_report_criteria c ON c.org_id = r.org_id AND c.report_id = r.report_id
${reports.where === undefined ? '' : `WHERE ${reports.where}\n`}GROUP BY r.org_id, r.repo_url, r.report_id, r.created_at, r.branch, r.commit_hash`;
}

const selectLatest = (cast: Cast) => `
WITH ${RANKED_REPORTS}
${reportScores(cast, { from: 'ranked', where: 'r.recency = 1' })}
`;

export const readinessLatest = {
  name: 'readiness_latest',
  doc: 'The latest report of each repository. Its score is the mean of numerator / denominator over the evaluated criteria.',
  columns: scoreColumns,
  select: { sqlite: selectLatest(castInSqlite), postgres: selectLatest(plain) },
} satisfies View;

const selectHistory = (cast: Cast) => `
WITH scored AS (
${reportScores(cast, { from: 'readiness_reports' })}
), compared AS (
  SELECT scored.*, LAG(score) OVER (PARTITION BY org_id, repo_url ORDER BY created_at, report_id) AS previous_score
  FROM scored
)
SELECT ${Object.keys(scoreColumns).join(', ')},
  ${cast('previous_score', 'REAL')} AS previous_score,
  ${cast('score - previous_score', 'REAL')} AS score_change
FROM compared
`;

export const readinessHistory = {
  name: 'readiness_history',
  doc: 'The score of every report, and its change since the previous report of the repository: one row per report.',
  columns: {
    ...scoreColumns,
    previous_score: ratio(
      'score of the previous report of the repository; NULL for the first one and if nothing was evaluated',
    ),
    score_change: ratio('score minus previous_score; NULL if one of them is NULL'),
  },
  select: { sqlite: selectHistory(castInSqlite), postgres: selectHistory(plain) },
} satisfies View;

const selectFailing = `
WITH ${RANKED_REPORTS}
SELECT r.org_id, r.repo_url, c.criterion_id, c.numerator, c.denominator, c.rationale,
  r.report_id, r.created_at, r.branch
FROM ranked r
JOIN readiness_report_criteria c ON c.org_id = r.org_id AND c.report_id = r.report_id
WHERE r.recency = 1 AND c.numerator < c.denominator
`;

export const failingCriteria = {
  name: 'failing_criteria',
  doc: 'The criteria that the latest report of a repository does not fully pass: one row per repository and criterion. Skipped criteria are not listed.',
  columns: {
    ...orgColumn,
    repo_url: key('URL of the repository'),
    criterion_id: key('ID of the criterion'),
    numerator: metric('number of sub-applications that pass'),
    denominator: metric('number of evaluated sub-applications'),
    rationale: label('explanation of the result'),
    report_id: key('ID of the report'),
    created_at: instant('when the report was created'),
    branch: label('branch'),
  },
  select: { sqlite: selectFailing, postgres: selectFailing },
} satisfies View;
