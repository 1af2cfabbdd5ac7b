import {
  type Additivity,
  additivityOf,
  type Dimension,
  isGrain,
  type Metric,
} from '../../schema/metrics/dictionary.ts';
import { parseComparison, type RankedAnswer, rankMetric } from '../comparison/index.ts';
import { daysFrom, isDay, monthEndOf, shiftDay, type UtcDay, yesterdayOf } from '../core/day.ts';
import { UsageError } from '../core/errors.ts';
import type { MetricAnswer, MetricQuestion, MetricRow } from '../metrics/index.ts';
import { publicText } from '../privacy/index.ts';
import { dayAsked, metricOf, questionOf } from './question.ts';
import { type QueryAnswer, type QueryArguments, type Reader, ROWS_MAX, type Tool } from './tools.ts';
import { foreignText, preliminaryLine, Refusal, sentence } from './wording.ts';

/** Answers a question as `daywalk metric` does, with the total by the rule of the metric. */
export const queryMetric: Tool<QueryArguments> = async (reader, given) => {
  const question = await questionOf(reader, given);
  const comparison = given.compare === undefined ? undefined : comparisonOf(given.compare);
  if (typeof comparison === 'object') dayAsked('the end of compare', comparison.until, reader.now);
  const ranked = await rankMetric(reader.warehouse, question, { top: given.top, comparison });
  const { until, days } = ranked;
  const later = daysAfter(reader, question, ranked);
  const isCut = given.settled_only === true && until < (given.until ?? yesterdayOf(reader.now));
  const data = answerOf(metricOf(question.metric), ranked, {
    by: question.by,
    later,
    notes: isCut
      ? [`settled_only ends the period on ${until}, because ${shiftDay(until, 1)} can still change`]
      : [],
  });
  return { text: textOf(data, preliminaryLine(days, later)), data };
};

/** Days up to yesterday that a period without a last day would have if they were stored. */
export function daysAfter(
  { now }: Reader,
  asked: MetricQuestion,
  { until, days }: Pick<MetricAnswer, 'until' | 'days'>,
): UtcDay[] {
  // Readiness reports have no days.
  const endsEarly = asked.until === undefined && days.expected > 0 && until < yesterdayOf(now);
  return endsEarly ? daysFrom(shiftDay(until, 1), yesterdayOf(now)) : [];
}

function comparisonOf(text: string) {
  try {
    return parseComparison(text);
  } catch (error) {
    if (!(error instanceof UsageError)) throw error;
    throw new Refusal(
      'compare names no span to compare with',
      'write previous, calendar, or two days: 2026-10-01..2026-10-31',
    );
  }
}

/** What a total is, by the rule of the metric. */
const RULES: Readonly<Record<Additivity, string>> = {
  sum: 'the sum over the period',
  'distinct count': 'each user counts once in the period, so it is not the sum of rows',
  ratio: 'computed for the whole period, so it is neither the sum nor the mean of rows',
  'end of period': 'the state at the end of the period, so it is not the sum of rows',
  'one day only': 'the number of one day, as published',
};

interface Asked {
  readonly by: readonly Dimension[];
  /** Days after the period that are not stored. */
  readonly later: readonly UtcDay[];
  readonly notes: readonly string[];
}

function answerOf(metric: Metric, ranked: RankedAnswer, { by, later, notes }: Asked): QueryAnswer {
  const { from, until, days, run_id, total, total_note, others, unnamed } = ranked;
  const grain = by.find(isGrain);
  const rows = ranked.rows.slice(0, ROWS_MAX).map((row) => shownRow(row, partOf(row, grain, ranked)));
  const omitted = ranked.rows.length - rows.length;
  const partial = rows.filter(({ partial: part }) => part !== undefined).length;
  return {
    ...{ metric: metric.name, unit: foreignText(ranked.unit), combines: additivityOf(metric), from, until },
    final: days.unsettled.length + days.missing.length + later.length === 0,
    total: total.value,
    total_note: total_note === null ? RULES[additivityOf(metric)] : publicText(total_note),
    previous: previousOf(ranked),
    rows,
    others,
    rows_omitted: omitted,
    groups_hidden: 0,
    days: { ...days, unsettled: [...days.unsettled], missing: [...days.missing] },
    run_id,
    warnings: [
      ...notes,
      ...ranked.warnings,
      ...(ranked.others_note === null ? [] : [`the others have no value: ${publicText(ranked.others_note)}`]),
      ...(unnamed === null
        ? []
        : [`the total has ${unnamed.value} more than the rows, which the service does not name`]),
      ...(partial === 0 ? [] : [`${partial} of the rows cover only a part of their ${grain}: see partial`]),
      ...(omitted === 0
        ? []
        : [`${omitted} rows are left out, in the order of names: ask with top for the largest ones`]),
    ],
  };
}

/** The sentences before the data: what may change comes first, and no text that is not ours is among them. */
export function textOf(data: QueryAnswer, preliminary: string | null): string {
  const { metric, from, until, total, total_note, previous, warnings } = data;
  const { unit: own } = metricOf(metric);
  // The only unit that is not ours is the currency of the prices.
  const unit = own === 'currency' ? (/^[A-Z]{3}$/.exec(data.unit)?.[0] ?? '') : own;
  const amount = `${total} ${unit}`.trimEnd();
  return [
    ...(preliminary === null ? [] : [preliminary]),
    `${metric}, ${from} to ${until}: ${total === null ? `no total, because ${total_note}` : `total ${amount}, ${total_note}`}.`,
    ...comparisonWords(previous),
    ...warnings.map((warning) => `Note: ${sentence(warning)}`),
  ].join('\n');
}

/** The change in words: a share that is relative is easily read as percent. */
function comparisonWords(previous: QueryAnswer['previous']): string[] {
  if (previous === null) return [];
  const { from, until, total, change, change_is, why_not } = previous;
  if (typeof why_not === 'string') return [`Not compared: ${sentence(why_not)}`];
  if (typeof change !== 'number') return [];
  const words =
    change_is === 'difference' ? `${change}, a difference` : `${Number((change * 100).toPrecision(3))} %`;
  return [`Before, ${from} to ${until}: ${total}. The change is ${words}.`];
}

/** A row without what a person would not see. */
function shownRow(row: MetricRow, partial: string | null): QueryAnswer['rows'][number] {
  const cells = Object.entries(row).map(([name, cell]) => [
    name,
    typeof cell === 'string' ? foreignText(cell) : cell,
  ]);
  return { ...Object.fromEntries(cells), ...(partial !== null && { partial }) };
}

const WEEK_DAYS = 7;

/** How much of its week or month a row covers: "22 of 30 days"; null if it is all of it. */
function partOf(
  row: MetricRow,
  grain: Dimension | undefined,
  { from, until, days }: RankedAnswer,
): string | null {
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

function previousOf({ compared, total, unit }: RankedAnswer): QueryAnswer['previous'] {
  if (compared === undefined) return null;
  const { from, until, days, why_not } = compared;
  return {
    from,
    until,
    total: total.before ?? null,
    change: total.change ?? null,
    change_is: unit === 'ratio' ? 'difference' : 'relative to before',
    final: days !== null && days.unsettled.length + days.missing.length === 0,
    why_not,
  };
}
