import { type SQL, sql } from '../../../schema/query.ts';
import { FIRST_DAY } from '../../core/day.ts';
import { PHRASES } from '../../metrics/query/select.ts';
import type { PageReader } from './reader.ts';
import type { Result } from './result.ts';

/**
 * Named queries over the reports up to the last day of the filters: `reports`, each with its score, that of the report before
 * it, its `recency` (1 is the latest of its repository) and the number of reports of the repository; and `latest`. The
 * column `repository` is the URL, or a number for the public: repositories are numbered by their first report, so that a
 * new one changes no number.
 */
export function readinessReports({ warehouse, filters, viewer }: PageReader): SQL {
  const { dayOf, sortable, day } = PHRASES[warehouse.dialect];
  const name = viewer.audience === 'public' ? sql`'Repository ' || n.repository_number` : sql`h.repo_url`;
  return sql`WITH numbered AS (
    SELECT repo_url, ROW_NUMBER() OVER (ORDER BY MIN(created_at), ${sortable(sql`repo_url`)}) AS repository_number
    FROM readiness_reports WHERE org_id = ${filters.orgId} GROUP BY repo_url
  ), reports AS (
    SELECT h.*, n.repository_number, ${name} AS repository,
      ROW_NUMBER() OVER (PARTITION BY h.repo_url ORDER BY h.created_at DESC, h.report_id DESC) AS recency,
      COUNT(*) OVER (PARTITION BY h.repo_url) AS reports
    FROM readiness_history h JOIN numbered n ON n.repo_url = h.repo_url
    WHERE h.org_id = ${filters.orgId} AND ${dayOf(sql`h.created_at`)} <= ${day(filters.until)}
  ), latest AS (
    SELECT * FROM reports WHERE recency = 1
  )`;
}

/** One row: the number of repositories and reports, and of criteria that are evaluated and that fail somewhere. */
export function readinessTotals(reader: PageReader): Promise<Result> {
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
export interface ReadinessWalk {
  /** Instant of the last complete walk over the reports; null if there was none. */
  readonly at: string | null;
  readonly state: string;
}

/** Reads when all readiness reports were read last. Null if they were never pulled. */
export async function lastReadinessWalk(reader: PageReader): Promise<ReadinessWalk | null> {
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
