import type { CohortAnswer } from '../../../jobs/metric.ts';
import { type Dimension, isGrain } from '../../../schema/metrics/dictionary.ts';
import type { CausesAnswer, CombinedValue, ComparedAnswer, RankedAnswer } from '../../comparison/index.ts';
import { writeCsv } from '../../csv-files/index.ts';
import type { MetricAnswer, MetricRow } from '../../metrics/index.ts';
import { UNASSIGNED } from '../../rollups/index.ts';
import type { ScreenFrame } from '../output/output.ts';
import { formatMeasured, formatNumber } from './numbers.ts';
import { renderProvenance, unsettledWords } from './provenance.ts';
import { type Cell, renderTable, right, shrinking } from './table.ts';

/** One metric over one span, or over two; or the largest rows of either. */
export type Answer = MetricAnswer | ComparedAnswer | RankedAnswer;

/** The longest table. JSON and CSV have every row. */
const ROWS_SHOWN_MAX = 1_000;
/** Dimensions whose values are short and would be useless if they were cut. */
const FIXED: readonly Dimension[] = ['date', 'week', 'month'];

/** Draws an answer: a table, and what it rests on. */
export function renderAnswer(by: readonly Dimension[], answer: Answer, frame: ScreenFrame): string[] {
  const { metric, unit, rows } = answer;
  const isCompared = 'compared' in answer;
  const columns = [
    ...by.map((name) => (FIXED.includes(name) ? name : shrinking(name))),
    right(unit === metric ? metric : `${metric} (${unit})`),
    ...(isCompared ? [right('before'), right('change')] : []),
  ];
  const shown = [...rows.slice(0, ROWS_SHOWN_MAX), ...combinedRows(by, answer)];
  const cells = cellsOf(by, shown, isCompared ? ['value', 'before'] : ['value'], frame);
  if (isCompared)
    for (const [index, row] of cells.entries()) row.push(changeWords(shown[index]?.['change'], unit));
  const more = rows.length - ROWS_SHOWN_MAX;
  const { dim, yellow } = frame.style;
  // A number over a hole must not look complete.
  const paint = answer.days.missing.length > 0 ? yellow : dim;
  return [
    ...(shown.length === 0 ? ['nothing occurred in this period'] : renderTable(columns, cells, frame)),
    ...(more > 0 ? [dim(`and ${formatNumber(more)} more rows; --csv and --json have them all`)] : []),
    ...noteLines(answer).map(yellow),
    '',
    ...renderProvenance(answer, frame, isCompared ? [comparedWords(answer.compared)] : []).map(paint),
  ];
}

/** The others, what no row has, and the total, as rows; none for an answer that is not ranked, or has one row anyway. */
function combinedRows(by: readonly Dimension[], answer: Answer): MetricRow[] {
  const [first, ...rest] = by;
  if (!('total' in answer) || first === undefined) return [];
  const parts = by.filter((name) => !isGrain(name));
  const { others, unnamed, total } = answer;
  const line = (label: string, { value, before = null, change = null }: CombinedValue): MetricRow => ({
    ...Object.fromEntries(rest.map((name) => [name, ''])),
    ...{ [first]: label, value, before, change },
  });
  return [
    ...(others === null ? [] : [line(`others (${others.count})`, others)]),
    ...(unnamed === null ? [] : [line(`without a ${parts.join(' or ')}`, unnamed)]),
    line('total', total),
  ];
}

/** Why the others or the total have no number. */
function noteLines(answer: Answer): string[] {
  if (!('total' in answer)) return [];
  const { others_note, total_note } = answer;
  return [
    ...(total_note === null ? [] : [`no total: ${total_note}`]),
    ...(others_note === null || others_note === total_note
      ? []
      : [`no number of the others: ${others_note}`]),
  ];
}

function comparedWords({ from, until, days, why_not }: ComparedAnswer['compared']): string {
  const span = from === until ? from : `${from} to ${until}`;
  if (from === null) return `not compared: ${why_not}`;
  const open = (days === null ? [] : unsettledWords(days)).map((words) => ` (${words})`);
  return why_not === null ? `compared with ${span}${open.join('')}` : `not compared with ${span}: ${why_not}`;
}

/** `+3.1 %`; the difference of two shares in percentage points. */
function changeWords(change: unknown, unit: string): string | null {
  if (typeof change !== 'number') return null;
  const percent = (100 * change).toFixed(1);
  return `${change > 0 ? '+' : ''}${percent === '-0.0' ? '0.0' : percent} ${unit === 'ratio' ? 'points' : '%'}`;
}

function cellsOf(
  by: readonly Dimension[],
  rows: readonly MetricRow[],
  measured: readonly string[],
  { redact }: ScreenFrame,
): Cell[][] {
  const known = rows
    .flatMap((row) => measured.map((name) => row[name]))
    .filter((value) => typeof value === 'number');
  const numbers = formatMeasured(known).values();
  return rows.map((row) => [
    ...by.map((name) => partOf(name, row[name] ?? null, redact)),
    ...measured.map((name) => (typeof row[name] === 'number' ? (numbers.next().value ?? null) : null)),
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

/**
 * An answer as CSV: the dimensions and `value`; of two spans, also `before` and `change`. A ranked one ends with others and total. Numbers have all their digits; one
 * that is not known is empty.
 */
export function metricCsv(by: readonly Dimension[], answer: Answer): string {
  const named = answer.rows.map((row) =>
    'team' in row && row['team'] === null ? { ...row, team: UNASSIGNED } : row,
  );
  const rows = [...named, ...combinedRows(by, answer)];
  return writeCsv<string>([...by, 'value', ...('compared' in answer ? ['before', 'change'] : [])], rows);
}

/** Draws causes: what each has added to the cost, and what it was before and is now. */
export function renderCauses(answer: CausesAnswer, frame: ScreenFrame): string[] {
  const { rows, unit, change } = answer;
  const values = rows.flatMap(({ value }) => value ?? []);
  const numbers = formatMeasured(change === null ? values : [...values, change]).values();
  const cellOf = (value: number | null) => (value === null ? null : (numbers.next().value ?? null));
  const factorOf = (factor: number | null) =>
    factor === null ? null : (formatMeasured([Number(factor.toPrecision(FACTOR_DIGITS))])[0] ?? null);
  const cells = [
    ...rows.map(({ cause, value, factor, factor_before }) => [
      cause,
      cellOf(value),
      factorOf(factor_before),
      factorOf(factor),
    ]),
    ['change', cellOf(change), null, null],
  ];
  return [
    ...renderTable(['cause', right(`change (${unit})`), right('from'), right('to')], cells, frame),
    '',
    ...renderProvenance(answer, frame, [comparedWords(answer.compared)]).map(frame.style.dim),
  ];
}

/** More digits of a mean do not help. */
const FACTOR_DIGITS = 4;

/** Draws cohorts: how many of those who began in a month were active in it and in each month after. */
export function renderCohorts(answer: CohortAnswer, frame: ScreenFrame): string[] {
  const { rows, days } = answer;
  const cells = rows.map(({ cohort, month, value, size }) => [cohort, month, value, size]);
  const paint = days.missing.length > 0 ? frame.style.yellow : frame.style.dim;
  return [
    ...(rows.length === 0
      ? ['nobody began in this period']
      : renderTable(['cohort', 'month', right('active users'), right('of')], cells, frame)),
    '',
    ...renderProvenance(answer, frame).map(paint),
  ];
}
