import { additivityOf, type Additivity, type Dimension, isGrain } from '../../schema/metrics/dictionary.ts';
import { type ComparedAnswer, compareMetric, parseComparison } from '../comparison/index.ts';
import { daysFrom, isDay, monthEndOf, shiftDay, type UtcDay } from '../core/day.ts';
import { UsageError } from '../core/errors.ts';
import { answerMetric, type MetricAnswer, type MetricQuestion, type MetricRow } from '../metrics/index.ts';
import { publicText } from '../privacy/index.ts';
import { metricOf, questionOf } from './reader.ts';
import { type QueryAnswer, type QueryArguments, ROWS_MAX, type Tool, type ToolAnswer } from './tools.ts';
import { foreignText, preliminaryLine, sentence } from './wording.ts';

type Answer = MetricAnswer | ComparedAnswer;

/** Answers a question as `daywalk metric` does, with the total by the rule of the metric. */
export const queryMetric: Tool<QueryArguments> = async (reader, given) => {
  const question = await questionOf(reader, given);
  const comparison = given.compare === undefined ? undefined : parseComparison(given.compare);
  const ask = (asked: MetricQuestion): Promise<Answer> =>
    comparison === undefined
      ? answerMetric(reader.warehouse, asked)
      : compareMetric(reader.warehouse, asked, comparison);
  const answer = await ask(question);
  const { from, until } = answer;
  return answered(answer, question.by, await totalOf(answer, question.by, () => ask({ ...question, by: [], from, until })));
};

/** The total of an answer, and why it is what it is. */
interface Total {
  readonly value: number | null;
  readonly note: string;
  /** The total as an answer of its own; null if the metric refuses it. */
  readonly answer: Answer | null;
}

/** What a total is, by the rule of the metric. */
const RULES: Readonly<Record<Additivity, string>> = {
  sum: 'the sum over the period',
  'distinct count': 'each user counts once in the period, so it is not the sum of rows',
  ratio: 'computed for the whole period, so it is neither the sum nor the mean of rows',
  'end of period': 'the state at the end of the period, so it is not the sum of rows',
  'one day only': 'the number of one day, as published',
};

async function totalOf(answer: Answer, by: readonly Dimension[], ask: () => Promise<Answer>): Promise<Total> {
  try {
    const whole = by.length === 0 ? answer : await ask();
    const value = whole.rows[0]?.value ?? null;
    return { value, note: value === null ? whyNone(whole) : ruleOf(answer), answer: whole };
  } catch (error) {
    if (!(error instanceof UsageError)) throw error;
    return { value: null, note: publicText([error.message, error.hint].join('; ')), answer: null };
  }
}

function ruleOf({ metric }: Answer): string {
  return RULES[additivityOf(metricOf(metric))];
}

function whyNone({ days, warnings, metric }: Answer): string {
  const [warning] = warnings;
  if (warning !== undefined) return warning;
  if (days.expected > 0 && days.missing.length === days.expected) return 'no day of the period is stored';
  return additivityOf(metricOf(metric)) === 'ratio'
    ? 'what it would be divided by is 0 or not known'
    : 'nothing that it could be computed from is stored';
}

function answered(answer: Answer, by: readonly Dimension[], total: Total): ToolAnswer<QueryAnswer> {
  const { metric, from, until, days, run_id } = answer;
  const grain = by.find(isGrain);
  const rows = answer.rows.slice(0, ROWS_MAX).map((row) => shownRow(row, partOf(row, grain, answer)));
  const omitted = answer.rows.length - rows.length;
  const partial = rows.filter(({ partial: part }) => part !== undefined).length;
  const data: QueryAnswer = {
    ...{ metric, unit: foreignText(answer.unit), combines: additivityOf(metricOf(metric)), from, until },
    final: days.unsettled.length + days.missing.length === 0,
    total: total.value,
    total_note: total.note,
    previous: previousOf(total.answer ?? answer),
    rows,
    rows_omitted: omitted,
    groups_hidden: 0,
    days: { ...days, unsettled: [...days.unsettled], missing: [...days.missing] },
    run_id,
    warnings: [
      ...answer.warnings,
      ...(partial === 0 ? [] : [`${partial} of the rows cover a part of their ${grain} only: see partial`]),
      ...(omitted === 0 ? [] : [`${omitted} rows are left out, and those shown are in the order of names: ask with top for the largest`]),
    ],
  };
  return { text: textOf(data, preliminaryLine(days)), data };
}

/** The sentences before the data: what may change comes first, and no text that is not ours is among them. */
export function textOf(data: QueryAnswer, preliminary: string | null): string {
  const { metric, from, until, total, total_note, warnings } = data;
  const unit = metricOf(metric).unit;
  const amount = unit === 'currency' ? `${total}` : `${total} ${unit}`;
  return [
    ...(preliminary === null ? [] : [preliminary]),
    `${metric}, ${from} to ${until}: ${total === null ? `no total: ${total_note}` : `total ${amount} (${total_note})`}.`,
    ...warnings.map((warning) => `Note: ${sentence(warning)}`),
  ].join('\n');
}

/** A row without what a person would not see. */
export function shownRow(row: MetricRow, partial: string | null): Record<string, string | number | null> {
  const cells = Object.entries(row).map(([name, cell]) => [name, typeof cell === 'string' ? foreignText(cell) : cell]);
  return { ...Object.fromEntries(cells), ...(partial !== null && { partial }) };
}

const WEEK_DAYS = 7;

/** How much of its week or month a row covers: "22 of 30 days"; null if it is all of it. */
function partOf(row: MetricRow, grain: Dimension | undefined, { from, until, days }: Answer): string | null {
  if ((grain !== 'week' && grain !== 'month') || days.expected === 0) return null;
  const name = row[grain];
  const first = grain === 'month' ? `${name}-01` : name;
  if (!isDay(first)) return null;
  const last = grain === 'month' ? monthEndOf(first) : shiftDay(first, WEEK_DAYS - 1);
  const missing = new Set<UtcDay>(days.missing);
  const all = daysFrom(first, last);
  const covered = all.filter((day) => day >= from && day <= until && !missing.has(day));
  return covered.length === all.length ? null : `${covered.length} of ${all.length} days`;
}

function previousOf(answer: Answer): QueryAnswer['previous'] {
  if (!('compared' in answer)) return null;
  const { from, until, days, why_not } = answer.compared;
  const [row] = answer.rows;
  const isWhole = answer.rows.length === 1 && row !== undefined && Object.keys(row).length <= 3;
  return {
    from,
    until,
    total: isWhole ? (row['before'] ?? null) : null,
    change: isWhole ? (row['change'] ?? null) : null,
    change_is: answer.unit === 'ratio' ? 'difference' : 'relative to before',
    final: days !== null && days.unsettled.length + days.missing.length === 0,
    why_not,
  };
}
