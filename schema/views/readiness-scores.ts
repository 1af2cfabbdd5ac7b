import { count, instant, key, label, orgColumn, ratio } from '../define.ts';
import type { Cast } from './cast.ts';

/** The columns of a report with its score. */
export const scoreColumns = {
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
export const RANKED_REPORTS = `ranked AS (
  SELECT org_id, repo_url, report_id, created_at, branch, commit_hash,
    ROW_NUMBER() OVER (PARTITION BY org_id, repo_url ORDER BY created_at DESC, report_id DESC) AS recency
  FROM readiness_reports
)`;

/** Selects {@link scoreColumns} of reports. `where` is a condition on `r`. */
export function reportScores(
  cast: Cast,
  reports: { readonly from: string; readonly where?: string },
): string {
  return `SELECT r.org_id, r.repo_url, r.report_id, r.created_at, r.branch, r.commit_hash,
  ${cast('COUNT(c.criterion_id)', 'INTEGER')} AS criteria,
  ${cast('COUNT(c.numerator)', 'INTEGER')} AS criteria_evaluated,
  ${cast('SUM(CASE WHEN c.numerator >= c.denominator THEN 1 ELSE 0 END)', 'INTEGER')} AS criteria_passed,
  ${cast('AVG(c.numerator * 1.0 / NULLIF(c.denominator, 0))', 'REAL')} AS score
FROM ${reports.from} r
LEFT JOIN readiness_report_criteria c ON c.org_id = r.org_id AND c.report_id = r.report_id
${reports.where === undefined ? '' : `WHERE ${reports.where}\n`}GROUP BY r.org_id, r.repo_url, r.report_id, r.created_at, r.branch, r.commit_hash`;
}
