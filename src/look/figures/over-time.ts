import type { Dimension } from '../../../schema/metrics/dictionary.ts';
import { monthOf, parseDay, shiftDay, weekdayOf } from '../../core/day.ts';
import { spanStart } from '../../expected/index.ts';
import type { Period } from '../../metrics/index.ts';
import { type DaySpanDrawn, dayBars, stacks } from '../charts/bars.ts';
import { lines } from '../charts/lines.ts';
import { cellOf, type MetricResult, type NumberFormat, type ShownNumber } from '../numbers.ts';
import type { Pair } from '../page.ts';
import { type Chart, emptinessOf, emptyFigure, type Figure, type FigureName, type Phrase } from '../page.ts';
import { type Filters, type PageReader, scopeOf, tryAsk } from '../reader.ts';
import {
  bucketOpenness,
  bucketsOf,
  bucketWords,
  completeWeeks,
  monthsUntil,
  noWeek,
  periodBefore,
  WEEKS,
  whyNoValue,
} from '../time-spans.ts';
import { lastDrawn } from '../trust.ts';
import { asSentence, lengthOf, periodWords } from '../words.ts';
import { bucketOfDay, readEvents } from './events.ts';
import { distinctGroups, groupsOf, type Ranking, ranking } from './groups.ts';
import { type Drawn, type Series, tableOf } from './time-table.ts';

interface Named {
  readonly metric: string;
  readonly name: string;
}

interface Days {
  readonly grain: 'date';
  readonly days: number;
}

/** Complete weeks, a quarter by default; or months, of which the last may be cut. */
type Weeks = { readonly grain: 'week'; readonly weeks?: number };
type Months = { readonly grain: 'month'; readonly months: number };

/** Metrics of one unit; or one metric, cut by a dimension. */
type Metrics = { readonly metrics: readonly Named[]; readonly by?: undefined };
type Groups = { readonly metric: string; readonly by: Dimension };

/** Bars for what adds up: bars per day have no parts, those of weeks and months may have. Lines for means, ratios and people. */
type Drawing =
  | ({ readonly draw: 'bars' } & Days & { readonly metrics: readonly [Named]; readonly by?: undefined })
  | ({ readonly draw: 'bars' } & (Weeks | Months) & (Metrics | Groups))
  | ({ readonly draw: 'lines' } & (Days | Weeks | Months) & (Metrics | Groups));

/** A figure over time, whatever period is chosen: it ends with the last day of the period. */
export type OverTime = FigureName &
  Drawing & {
    /** What is drawn whatever the grain is. @default as much as the grain shows, and at least the chosen period */
    readonly period?: Period;
    /** Spans that bars per day name with brackets. */
    readonly spans?: readonly DaySpanDrawn[];
    readonly format: NumberFormat;
    /** Of the axis of bars. */
    readonly divisor?: number;
    /** True for ratios that the axis of lines shows in per cent. */
    readonly percent?: boolean;
    /** True if the axis of lines starts at 0. */
    readonly zero?: boolean;
    /** True if the drawing takes the width of the page. */
    readonly wide?: boolean;
    readonly notes?: readonly Phrase[];
    /** What to say if nothing occurs. */
    readonly empty?: string;
  };

/** Lines that can be told apart; the table has more groups. */
const LINES_MAX = 4;
const COLUMNS_MAX = 12;

/** Reads and draws a figure over time, with a row per day, week or month. Where nothing is stored, it has a gap. */
export async function overTime(reader: PageReader, asked: OverTime): Promise<Figure> {
  const spec = coarser(asked, reader.filters);
  const { id, title, unit, grain, draw, by } = spec;
  const period = periodOf(spec, reader.filters);
  if (period === null) return emptyFigure(spec, noWeek(reader.filters));
  const { results, words, refusal } = await askAll(reader, spec, period);
  const [first] = results;
  if (refusal !== undefined || first === undefined)
    return emptyFigure(spec, refusal ?? noWeek(reader.filters), results);
  const { series, leftOut } = seriesOf(spec, results);
  if (series.every(({ numbers }) => [...numbers.values()].every(({ value }) => value === null))) {
    return emptyFigure(spec, emptinessOf(first, spec.empty), results);
  }
  const buckets = bucketsOf(first, grain);
  const others = series.some(({ isOthers }) => isOthers) ? '; the others together' : '';
  const marks =
    draw === 'bars' && grain === 'date' ? '; weekends lighter, what is not settled is hatched' : '';
  const withPrices = spec.format === 'money';
  const { events, results: found } =
    draw === 'bars' && by === undefined
      ? await readEvents(reader, period, { withPrices })
      : { events: [], results: [] };
  return {
    kind: 'figure',
    id,
    title,
    subtitle: `${unit}, ${bucketWords(grain, period, buckets.length)}${words}${others}${marks}`,
    chart: chartOf(draw === 'lines' && by !== undefined ? series.slice(0, LINES_MAX) : series, {
      buckets,
      spec,
      events,
    }),
    table: tableOf(series, { buckets, spec, events }),
    isTableFolded: true,
    results: [...results, ...found],
    notes: [...(spec.notes ?? []), ...leftOut],
  };
}

/** A longer period is drawn per week, and one of more than two years per month. */
const DAYS_MAX = 92;
const WEEK_DAYS_MAX = 731;

/** The figure in the grain that its period has room for. */
function coarser(spec: OverTime, filters: Filters): OverTime {
  const days = spec.period === undefined ? lengthOf(filters) : 0;
  if (days > WEEK_DAYS_MAX && spec.grain !== 'month')
    return { ...spec, grain: 'month', months: 1 } as OverTime;
  if (days > DAYS_MAX && spec.grain === 'date')
    return { ...spec, grain: 'week', weeks: 1, spans: [] } as OverTime;
  return spec;
}

/** What the grain shows, and at least the chosen period. */
function periodOf(span: (Days | Weeks | Months) & Pick<OverTime, 'period'>, filters: Filters): Period | null {
  if (span.period !== undefined && span.grain === 'date') return span.period;
  const { from, until } = filters;
  const least = grainPeriod(span, filters);
  const first = span.grain === 'month' ? monthOf(from) : shiftDay(from, 1 - weekdayOf(from));
  if (least === null || first >= least.from || lengthOf(filters) <= DAYS_MAX) return least;
  return { from: spanStart(first, until, filters), until: least.until };
}

function grainPeriod(span: Days | Weeks | Months, filters: Filters): Period | null {
  if (span.grain === 'week') return completeWeeks(filters, span.weeks ?? WEEKS);
  if (span.grain === 'month') return monthsUntil(filters, span.months);
  const { until } = filters;
  return { from: spanStart(shiftDay(until, 1 - span.days), until, filters), until };
}

/** The answers, and what the subtitle says of the team; or why one of the metrics refuses the question. */
async function askAll(
  reader: PageReader,
  spec: OverTime,
  period: Period,
): Promise<{ results: readonly MetricResult[]; words: string; refusal?: string }> {
  const { grain, title } = spec;
  const questions =
    spec.by === undefined
      ? spec.metrics.map(({ metric, name }) => ({ metric, title: name, by: [grain] }))
      : [{ metric: spec.metric, title, by: [grain, spec.by] }];
  const results: MetricResult[] = [];
  let words = '';
  for (const question of questions) {
    const { words: own, ...scope } = scopeOf(reader.filters, question.metric);
    const asked = await tryAsk(reader, { ...question, ...period, ...scope });
    if (asked.kind === 'refusal') return { results, words, refusal: asSentence(asked.why) };
    results.push(asked.result);
    words = own;
  }
  return { results, words };
}

/** Each metric; or the four largest groups and the others; or, of people, who are never added, the groups alone. */
function seriesOf(
  spec: OverTime,
  results: readonly MetricResult[],
): { series: readonly (Series & { readonly isOthers?: boolean })[]; leftOut: readonly Phrase[] } {
  const { grain, format } = spec;
  if (spec.by === undefined) {
    const series = spec.metrics.map(({ name }, index) => ({
      name,
      numbers: numbersOf(results[index], spec),
    }));
    return { series, leftOut: [] };
  }
  const [result] = results;
  if (result === undefined) return { series: [], leftOut: [] };
  const cut = { group: spec.by, bucket: grain, format };
  if (spec.draw === 'bars') return { series: groupsOf(result, cut), leftOut: [] };
  const shown = distinctGroups(result, cut);
  const series = shown.slice(0, COLUMNS_MAX);
  const missing = shown.length - series.length;
  return {
    series,
    leftOut: [
      ...(series.length > LINES_MAX ? [['The chart has the largest groups only; the table has all.']] : []),
      ...(missing > 0 ? [[`${missing} ${missing === 1 ? 'group is' : 'groups are'} not shown.`]] : []),
    ],
  };
}

function numbersOf(result: MetricResult | undefined, { grain, format }: OverTime): Map<string, ShownNumber> {
  return new Map(
    result?.rows.map((row, index) => {
      const bucket = String(row[grain]);
      const [open, why] = [bucketOpenness(result, grain, bucket), whyNoValue(result, grain, bucket)];
      return [bucket, cellOf(result, index, format, { open, why })];
    }),
  );
}

function chartOf(
  series: readonly Series[],
  { buckets, spec, events }: Drawn & { readonly spec: OverTime },
): Chart {
  const { draw, title, grain, by, divisor = 1, percent = false, zero = false, wide = false } = spec;
  const named = by !== undefined || series.length > 1;
  const points = ({ numbers }: Series) =>
    buckets.map((bucket) => {
      const { value = null, open, why } = numbers.get(bucket) ?? {};
      return { bucket, value, why, isOpen: open !== undefined };
    });
  if (draw === 'lines') {
    const label = `${title}, ${series.length === 1 ? 'one line' : 'lines'} over time`;
    const drawn = series.map((own) => ({ name: own.name, points: points(own) }));
    return lines(drawn, { label, percent, zero, wide, named });
  }
  if (grain === 'date') {
    const days = series.flatMap(points).map(({ bucket, ...own }) => ({ ...own, day: parseDay(bucket) }));
    return dayBars(days, {
      label: `${title}, one bar per day`,
      divisor,
      spans: spec.spans ?? [],
      events: events.map(({ day, text }) => ({ bucket: day, text })),
    });
  }
  const label = by === undefined ? `${title}, one bar per ${grain}` : `${title}, stacked bars`;
  const parts = series.flatMap((own) => points(own).map((point) => ({ ...point, group: own.name })));
  return stacks(parts, {
    ...{ label, groups: series.map(({ name }) => name), divisor, wide, named },
    events: events.map(({ day, text }) => ({ bucket: bucketOfDay(day, grain), text })),
  });
}

/**
 * A metric over the period and the span that it is compared with, one bar per day; a long period has longer bars. Where both have no
 * answer together, such as a cost in two currencies, the period alone.
 */
export async function overPeriod(
  reader: PageReader,
  spec: FigureName & Pick<OverTime, 'format' | 'divisor'> & { readonly metric: string },
  before = periodBefore(reader.filters),
): Promise<Figure> {
  const { filters } = reader;
  const isNear = before !== null && lengthOf({ from: before.from, until: filters.until }) <= 2 * DAYS_MAX;
  const from = isNear ? before.from : filters.from;
  const spans = [filters, ...(isNear ? [before] : [])].map((span) => ({
    ...{ from: span.from, until: span.until, isBefore: span === before },
    words: periodWords(span, filters.until),
  }));
  const { metric, ...named } = spec;
  const figure = await overTime(reader, {
    ...named,
    ...{ draw: 'bars', grain: 'date', days: 1, wide: true, spans },
    metrics: [{ metric, name: spec.title }],
    ...(lengthOf(filters) <= DAYS_MAX && { period: { from, until: lastDrawn(filters, filters.today) } }),
  });
  return figure.empty === undefined || before === null ? figure : overPeriod(reader, spec, null);
}

/** Credits of the last 88 days, one bar per day. */
export function recentCredits(reader: PageReader): Promise<Figure> {
  const title = 'Credits per day';
  return overTime(reader, {
    ...{ draw: 'bars', unit: 'Million', format: 'compact', divisor: 1e6, wide: true },
    ...{ id: 'credits-per-day', title, grain: 'date', days: 88 },
    metrics: [{ metric: 'billable_tokens', name: title }],
  });
}

/** A figure of a page as data. A ranking is about the chosen period. */
export type FigureSpec = OverTime | ({ readonly draw: 'ranking' } & Ranking);

/** Reads and draws a figure. */
export function drawFigure(reader: PageReader, spec: FigureSpec): Promise<Figure> {
  return spec.draw === 'ranking' ? ranking(reader, spec) : overTime(reader, spec);
}

/** Two figures side by side. */
export async function drawPair(reader: PageReader, first: FigureSpec, second: FigureSpec): Promise<Pair> {
  return { kind: 'pair', figures: [await drawFigure(reader, first), await drawFigure(reader, second)] };
}

/** How much of the credits is of days on which people mostly used a model that thinks. */
export const THINKING_SHARE: FigureSpec = {
  ...{ draw: 'lines', id: 'thinking-share', title: 'Thinking share' },
  unit: 'Per cent of credits, on days whose primary model thinks',
  metrics: [{ metric: 'thinking_share', name: 'thinking' }],
  ...{ grain: 'week', format: 'share', percent: true, zero: true },
};
