import { sql } from '../../../schema/query.ts';
import type { Facts } from './facts.ts';
import { groupsOf, type Plan, VALUE } from './plan.ts';
import { selectSql } from './select.ts';

/** The mean score of the reports that are the latest of their repository at the end of each bucket. */
export function readinessFacts(plan: Plan): Facts {
  const { phrases, orgId, grain } = plan;
  const createdOn = phrases.dayOf(sql`created_at`);
  const reports = selectSql(
    {
      columns: [
        sql`report_id`,
        sql`repo_url AS repository`,
        sql`${createdOn} AS created_on`,
        sql`LEAD(${createdOn}) OVER (PARTITION BY repo_url ORDER BY created_at, report_id) AS replaced_on`,
      ],
      from: [sql`readiness_reports`],
      where: [sql`org_id = ${orgId}`],
    },
    '  ',
  );
  const scores = selectSql(
    {
      columns: [sql`report_id`, sql`AVG(numerator * 1.0 / NULLIF(denominator, 0)) AS score`],
      from: [sql`readiness_report_criteria`],
      where: [sql`org_id = ${orgId}`],
      groupBy: [sql`report_id`],
    },
    '  ',
  );
  const bucket = grain === undefined ? [] : [sql.raw(`b.${grain}`)];
  const groups = [...bucket, ...groupsOf(plan).map((dimension) => sql.raw(`r.${dimension}`))];
  const facts = selectSql(
    {
      columns: [...groups, sql`COUNT(*) AS row_count`, sql`AVG(s.score) AS value`],
      from: [
        sql`buckets b`,
        sql`JOIN reports r ON r.created_on <= b.last_day
    AND (r.replaced_on IS NULL OR r.replaced_on > b.last_day)`,
        sql`LEFT JOIN scores s ON s.report_id = r.report_id`,
      ],
      groupBy: groups,
    },
    '  ',
  );
  return {
    named: [
      { name: 'reports', body: reports },
      { name: 'scores', body: scores },
      { name: 'facts', body: facts },
    ],
    values: [{ column: VALUE, nothing: 'null' }],
    isByDay: false,
  };
}
