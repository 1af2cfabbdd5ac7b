import { writeCsv } from '../../../metrics/csv/write-csv.ts';
import { UNASSIGNED } from '../../../metrics/find-filters.ts';
import type { Dimension, MetricAnswer } from '../../../metrics/question.ts';

/** An answer as CSV: the dimensions and `value`. Numbers have all their digits; one that is not known is empty. */
export function metricCsv(by: readonly Dimension[], { rows }: MetricAnswer): string {
  const named = rows.map((row) =>
    'team' in row && row['team'] === null ? { ...row, team: UNASSIGNED } : row,
  );
  return writeCsv<string>([...by, 'value'], named);
}
