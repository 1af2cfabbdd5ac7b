import { instant, key, label, metric, orgColumn, type View } from '../define.ts';
import { RANKED_REPORTS } from './readiness-scores.ts';

const select = `
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
  select: { sqlite: select, postgres: select },
} satisfies View;
