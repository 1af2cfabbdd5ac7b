import { sql } from '../../../schema/query.ts';
import { freeTextFor } from '../audience/free-text.ts';
import type { PageReader } from '../data/reader.ts';
import { readinessReports } from '../data/readiness.ts';
import { shareOf } from '../page/numbers.ts';
import type { Figure } from '../page/page.ts';
import { repositoryName } from '../words/repositories.ts';
import { dayName } from '../words/spans.ts';
import { factColumn, factOf, type ListedColumn, listing, textColumn } from './listing.ts';

/** A page has several lists of criteria. */
const LISTED_MAX = 12;
const NOTHING_FAILS = 'The latest reports pass every criterion that they evaluate.';

const SHARE: ListedColumn = {
  title: 'Share',
  align: 'end',
  cell: (result, row) => shareOf(factOf(result, row, 'failing'), factOf(result, row, 'evaluated')),
};

/** The criteria that the latest reports do not fully pass, by the number of their repositories. */
export function failingCriteria(reader: PageReader): Promise<Figure> {
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
      SHARE,
    ],
    most: LISTED_MAX,
    empty: NOTHING_FAILS,
    streams: ['readiness'],
    until,
  });
}

/** Why criteria fail, in the words of the reports. Not for the public. */
export function failureReasons(reader: PageReader): Promise<Figure> {
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
      textColumn('rationale', { title: 'Reason' }, freeTextFor(reader.viewer)),
    ],
    most: LISTED_MAX,
    empty: NOTHING_FAILS,
    streams: ['readiness'],
    until,
  });
}
