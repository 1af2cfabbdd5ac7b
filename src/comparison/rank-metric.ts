import { additivityOf, isGrain, type Metric } from '../../schema/metrics/dictionary.ts';
import { UsageError } from '../core/errors.ts';
import {
  answerMetric,
  findMetric,
  type MetricAnswer,
  type MetricQuestion,
  type MetricRow,
  type Period,
} from '../metrics/index.ts';
import { frozen, type Warehouse } from '../port/index.ts';
import { type ComparedAnswer, changeFrom, compareIn } from './compare-metric.ts';
import type { Comparison } from './span.ts';

/** By which number rows are ordered, the largest first: their value, or the amount by which it has changed, whatever its sign. */
export type RankOrder = (typeof RANK_ORDERS)[number];

export const RANK_ORDERS = ['value', 'change'] as const;

/** Which rows of an answer are wanted, and in which order. */
export interface Ranking {
  /** So many of the largest rows; the rows after them are the others. @default all */
  readonly top?: number | undefined;
  /** Rows without the number come last, equal ones in the order of their dimensions. @default that of the answer; by value with `top` */
  readonly order?: RankOrder | undefined;
  /** Compares with another span: how it is found, or the span itself. @default no comparison */
  readonly comparison?: Comparison | Period | undefined;
}

/** A number of several rows together; with `before` and `change` in a comparison, as rows have them. */
export interface CombinedValue {
  readonly value: number | null;
  readonly before?: number | null;
  readonly change?: number | null;
}

/** The wanted rows of an answer, the others and all of them together, as `daywalk metric --top --json` prints it. */
export interface RankedAnswer extends MetricAnswer {
  readonly compared?: ComparedAnswer['compared'];
  /** The rows that are not shown, together; null if all are. */
  readonly others: (CombinedValue & { readonly count: number }) | null;
  /** Why the value of the others is null; null if it is not, or if there are none. */
  readonly others_note: string | null;
  /** What the total has and no row, because the service does not name the dimension for it; null if there is nothing. */
  readonly unnamed: CombinedValue | null;
  /** The metric of the whole period, with the filters of the question. */
  readonly total: CombinedValue;
  /** Why the value of the total is null; null if it is not. */
  readonly total_note: string | null;
}

/**
 * Answers a question with the largest rows, the others together, and the total. Both are computed by the rule of the metric: sums
 * are added; ratios, and counts of people, are computed again; what has no such number is null, with the reason. All of it comes
 * from one snapshot of the warehouse. Do not call it inside another one.
 * @throws {UsageError} as `compareMetric` does, and for an order by change without a comparison.
 */
export function rankMetric(
  warehouse: Warehouse,
  question: MetricQuestion,
  ranking: Ranking,
): Promise<RankedAnswer> {
  if (ranking.order === 'change' && ranking.comparison === undefined) {
    throw new UsageError('rows are ordered by change only in a comparison', {
      hint: 'compare with another span, or order by value',
    });
  }
  return warehouse.inSnapshot(() => rankIn(frozen(warehouse), question, ranking));
}

async function rankIn(
  warehouse: Warehouse,
  question: MetricQuestion,
  { top, order, comparison }: Ranking,
): Promise<RankedAnswer> {
  const ask = (asked: MetricQuestion): Promise<MetricAnswer | ComparedAnswer> =>
    comparison === undefined ? answerMetric(warehouse, asked) : compareIn(warehouse, asked, comparison);
  const answer = await ask(question);
  const sorted =
    top === undefined && order === undefined ? answer.rows : sortRows(answer.rows, order ?? 'value');
  const rows = sorted.slice(0, top);
  const rest = sorted.slice(rows.length);
  const metric = findMetric(question.metric);
  const whole = { ...question, from: answer.from, until: answer.until, by: [] };
  const nothing = comparison === undefined ? { value: null } : { value: null, before: null, change: null };
  const combine = (asked: MetricQuestion) => combinedFrom(() => ask(asked), nothing);
  const total = await combine(whole);
  const others =
    rest.length === 0
      ? null
      : await othersOf({ metric, question, whole, rows, rest, total, unit: answer.unit, nothing, combine });
  return {
    ...answer,
    rows,
    others: others === null ? null : { count: rest.length, ...others.combined },
    others_note: others?.note ?? null,
    unnamed: unnamedIn(metric, question, sorted, total.combined, answer.unit),
    total: total.combined,
    total_note: total.note,
  };
}

/** A combined value, and why it is null. */
interface Noted {
  readonly combined: CombinedValue;
  readonly note: string | null;
}

/** The value of a question without dimensions; null with the reason if the metric refuses it. */
async function combinedFrom(ask: () => Promise<MetricAnswer>, nothing: CombinedValue): Promise<Noted> {
  try {
    const answer = await ask();
    const { value = null, before, change }: Partial<MetricRow> = answer.rows[0] ?? {};
    const combined = {
      value,
      ...(before === undefined ? {} : { before: numberOf(before), change: numberOf(change) }),
    };
    return { combined, note: value === null ? whyNull(answer) : null };
  } catch (error) {
    if (!(error instanceof UsageError) || !isRefusal(error)) throw error;
    const { message, hint } = error;
    return { combined: nothing, note: hint === undefined ? message : `${message}; ${hint}` };
  }
}

function isRefusal({ reason }: UsageError): boolean {
  return reason === 'metric-not-additive' || reason === 'metric-needs-dimension';
}

function whyNull({ metric, warnings, days }: MetricAnswer): string {
  const [first] = warnings;
  if (first !== undefined) return first;
  if (days.expected > 0 && days.missing.length === days.expected) return 'no day of the period is stored';
  return additivityOf(findMetric(metric)) === 'ratio'
    ? 'there is nothing to divide by'
    : 'the service sent no value';
}

/** What the rest of an answer is computed from. */
interface Rest {
  readonly metric: Metric;
  readonly question: MetricQuestion;
  /** The question without its dimensions, about the period of the answer. */
  readonly whole: MetricQuestion;
  readonly rows: readonly MetricRow[];
  readonly rest: readonly MetricRow[];
  readonly total: Noted;
  readonly unit: string;
  /** What a refused value is. */
  readonly nothing: CombinedValue;
  combine(question: MetricQuestion): Promise<Noted>;
}

async function othersOf({
  metric,
  question,
  whole,
  rows,
  rest,
  total,
  unit,
  nothing,
  combine,
}: Rest): Promise<Noted> {
  const { by } = question;
  if (rest.every(({ value }) => value === null)) {
    return { combined: nothing, note: total.note ?? 'none of them has a value' };
  }
  switch (additivityOf(metric)) {
    case 'sum':
      // A row may have no number because there is nothing to add, or because a price is missing: only the database can tell.
      if (rest.every((row) => row.value !== null && row['before'] !== null)) return addUp(rest, unit);
      break;
    case 'one day only':
      return total;
    case 'end of period': {
      const grain = by.find(isGrain);
      if (grain === undefined) break;
      const note = `${metric.name} is the state at the end of each ${grain}, and several of them have no number together`;
      return { combined: nothing, note };
    }
    default:
  }
  const groups = rows.map((row) =>
    Object.fromEntries(by.map((dimension) => [dimension, textOf(row[dimension])])),
  );
  return combine({ ...whole, except: { by, groups } });
}

function textOf(value: string | number | null | undefined): string | null {
  return value === null || value === undefined ? null : String(value);
}

/** The sum of rows that all have a number. */
function addUp(rows: readonly MetricRow[], unit: string): Noted {
  const sumOf = (name: 'value' | 'before') => rows.reduce((sum, row) => sum + (numberOf(row[name]) ?? 0), 0);
  const isCompared = rows.some(({ before }) => before !== undefined);
  return { combined: withBefore(sumOf('value'), isCompared ? sumOf('before') : undefined, unit), note: null };
}

function withBefore(value: number | null, before: number | null | undefined, unit: string): CombinedValue {
  return before === undefined ? { value } : { value, before, change: changeFrom(before, value, unit) };
}

/** Sums that differ by less, relative to the larger one, are equal: fractions were added in another order. */
const ROUNDING = 1e-9;

/** What the parts of a total leave, see {@link RankedAnswer.unnamed}. Only numbers that the service publishes in parts have it. */
function unnamedIn(
  { breakdown }: Metric,
  { by, where = {} }: MetricQuestion,
  rows: readonly MetricRow[],
  total: CombinedValue,
  unit: string,
): CombinedValue | null {
  const own = breakdown === undefined ? [] : Object.keys(breakdown.columns);
  if (!by.some((dimension) => own.includes(dimension))) return null;
  if (own.some((dimension) => Object.keys(where).includes(dimension))) return null;
  const left = (name: 'value' | 'before') => {
    const whole = numberOf(total[name]);
    if (whole === null) return null;
    const sum = rows.reduce((part, row) => part + (numberOf(row[name]) ?? 0), 0);
    return Math.abs(whole - sum) <= ROUNDING * Math.max(Math.abs(whole), Math.abs(sum)) ? 0 : whole - sum;
  };
  const value = left('value');
  const before = total.before === undefined ? undefined : left('before');
  return (value ?? 0) === 0 && (before ?? 0) === 0 ? null : withBefore(value, before, unit);
}

function sortRows(rows: readonly MetricRow[], order: RankOrder): readonly MetricRow[] {
  const keyed = rows.map((row) => ({ row, key: order === 'value' ? row.value : amountOfChange(row) }));
  const sorted = keyed.toSorted((a, b) => {
    if (a.key === null || b.key === null) return Number(a.key === null) - Number(b.key === null);
    return b.key - a.key;
  });
  return sorted.map(({ row }) => row);
}

function amountOfChange({ value, before }: MetricRow): number | null {
  return value === null || typeof before !== 'number' ? null : Math.abs(value - before);
}

function numberOf(value: string | number | null | undefined): number | null {
  return typeof value === 'number' ? value : null;
}
