import type { Dimension, MetricAnswer, MetricRow } from '../../../metrics/question.ts';
import { UNASSIGNED } from '../../../metrics/question.ts';
import type { ScreenFrame } from '../../output/output.ts';
import { renderProvenance } from '../../screens/provenance.ts';
import { formatMeasured } from '../../text/measured.ts';
import { formatNumber } from '../../text/quantity.ts';
import { type Cell, renderTable, right, shrinking } from '../../text/table.ts';

/** The longest table. JSON and CSV have every row. */
const ROWS_SHOWN_MAX = 1_000;
/** Dimensions whose values are short and would be useless if they were cut. */
const FIXED: readonly Dimension[] = ['date', 'week', 'month'];

/** Draws an answer: a table, and what it rests on. */
export function renderAnswer(by: readonly Dimension[], answer: MetricAnswer, frame: ScreenFrame): string[] {
  const { metric, unit, rows } = answer;
  const columns = [
    ...by.map((name) => (FIXED.includes(name) ? name : shrinking(name))),
    right(headerOf(metric, unit)),
  ];
  const cells = cellsOf(by, rows.slice(0, ROWS_SHOWN_MAX), frame);
  const more = rows.length - ROWS_SHOWN_MAX;
  const { dim, yellow } = frame.style;
  // A number over a hole must not look complete.
  const paint = answer.days.missing.length > 0 ? yellow : dim;
  return [
    ...(rows.length === 0 ? ['nothing occurred in this period'] : renderTable(columns, cells, frame)),
    ...(more > 0 ? [dim(`and ${formatNumber(more)} more rows; --csv and --json have them all`)] : []),
    '',
    ...renderProvenance(answer, frame).map(paint),
  ];
}

function headerOf(metric: string, unit: string): string {
  return unit === metric ? metric : `${metric} (${unit})`;
}

function cellsOf(by: readonly Dimension[], rows: readonly MetricRow[], { redact }: ScreenFrame): Cell[][] {
  const numbers = formatMeasured(rows.flatMap(({ value }) => value ?? [])).values();
  return rows.map((row) => [
    ...by.map((name) => partOf(name, row[name] ?? null, redact)),
    row.value === null ? null : (numbers.next().value ?? null),
  ]);
}

function partOf(
  name: Dimension,
  value: string | number | null,
  redact: (text: string) => string,
): string | null {
  if (value === null) return name === 'team' ? UNASSIGNED : null;
  return redact(String(value));
}
