import type { Dimension, MetricAnswer } from '../../../metrics/question.ts';
import { UNASSIGNED } from '../../../metrics/question.ts';
import { writeCsv } from '../../../metrics/write-csv.ts';

/** An answer as CSV: the dimensions and `value`. Numbers have all their digits; one that is not known is empty. */
export function metricCsv(by: readonly Dimension[], { rows }: MetricAnswer): string {
  const named = rows.map((row) =>
    'team' in row && row['team'] === null ? { ...row, team: UNASSIGNED } : row,
  );
  return writeCsv<string>([...by, 'value'], named);
}
