import { html } from 'hono/html';
import { type UtcDay, weekdayOf } from '../../core/day.ts';
import type { Chart } from '../page/page.ts';
import { formatNumber } from '../words/numbers.ts';
import { shortDay } from '../words/spans.ts';
import { COLORS, HATCHED } from './colors.ts';
import { type EndLabel, endLabels, labelWidth } from './end-labels.ts';
import { barMark, drawTimePlot, linePath, pixels } from './plot.ts';
import { scaleOf } from './ticks.ts';

/** A value of one day. */
export interface DayValue {
  readonly day: UtcDay;
  /** Null for a day that is not stored: the bar is missing, and not 0. */
  readonly value: number | null;
  /** True if the value may still change: the bar is hatched. */
  readonly isOpen: boolean;
}

/** Width of the content of a page. */
const WIDTH = 1_072;
const HEIGHT = 190;
const LEAST = 180;
const BAR_MAX = 32;
const BAR_MIN = 2;
const MEAN_DAYS = 7;
const MEAN = '7-day mean';
const OPEN = 'not settled';

/**
 * One bar per day from 0; weekends lighter; with the mean of the last seven days as a line, where all seven are stored. The
 * base line is broken where a day is not stored. Wider than a page for more than about 450 days.
 */
export function dayBars(
  values: readonly DayValue[],
  { label, divisor = 1 }: { label: string; divisor?: number },
): Chart {
  const bars = values.flatMap(({ day, value, isOpen }) =>
    value === null
      ? []
      : [
          {
            bucket: day,
            base: 0,
            top: value / divisor,
            ...inkOf(day, isOpen),
            title: titleOf(day, value, isOpen),
          },
        ],
  );
  const means = meansOf(values, divisor);
  const names = namesBeside(
    means,
    values.some(({ value, isOpen }) => isOpen && value !== null),
  );
  const scale = scaleOf(
    bars.map(({ top }) => top),
    { zero: true },
  );
  const right = labelWidth(names.map(({ name }) => name));
  const width = widthOf(values.length, WIDTH - scale.width - right);
  const step = width / Math.max(1, values.length);
  const inset = Math.max(step < 5 ? 0 : step * 0.07, (step - BAR_MAX) / 2);
  return drawTimePlot({
    label,
    buckets: values.map(({ day }) => day),
    scale,
    width,
    height: HEIGHT,
    right,
    marks: (places) => {
      const { x, y } = places;
      const base = storedSpans(values).map(
        ([from, until]) => `M${pixels(x(from))} ${pixels(y(0))}H${pixels(x(until) + step)}`,
      );
      const line = values.map(({ day }, index) => {
        const mean = means[index] ?? null;
        return mean === null ? null : ([x(day) + step / 2, y(mean)] as const);
      });
      return [
        ...bars.map((bar) => barMark(bar, places, inset)),
        html`<path d="${base.join('')}" stroke="${COLORS.ink3}"/>`,
        html`<path d="${linePath(line)}" fill="none" stroke="${COLORS.accent}" stroke-width="2" stroke-linejoin="round"/>`,
        ...endLabels(names, scale, places),
      ];
    },
  });
}

function inkOf(day: UtcDay, isOpen: boolean): { readonly fill: string; readonly stroke: string } {
  if (isOpen) return { fill: HATCHED.bar, stroke: COLORS.hatch };
  return { fill: weekdayOf(day) > 5 ? COLORS.barWeekend : COLORS.bar, stroke: 'none' };
}

function titleOf(day: UtcDay, value: number, isOpen: boolean): string {
  return `${shortDay(day)}: ${formatNumber(value, 'compact')}${isOpen ? ', not settled' : ''}`;
}

function widthOf(days: number, most: number): number {
  return Math.max(Math.min(most, Math.max(LEAST, days * (BAR_MAX + 4))), days * BAR_MIN);
}

/** For each day, the mean of the seven days that end with it; null where one of them is not stored. */
function meansOf(values: readonly DayValue[], divisor: number): (number | null)[] {
  return values.map((_, index) => {
    const week = values
      .slice(Math.max(0, index - MEAN_DAYS + 1), index + 1)
      .flatMap(({ value }) => value ?? []);
    return week.length < MEAN_DAYS ? null : week.reduce((sum, value) => sum + value, 0) / MEAN_DAYS / divisor;
  });
}

/** First and last day of each span of stored days, from one hole to the next. */
function storedSpans(values: readonly DayValue[]): (readonly [from: UtcDay, until: UtcDay])[] {
  const isHole = (index: number) => (values[index]?.value ?? null) === null;
  const firsts = values.filter((_, index) => !isHole(index) && isHole(index - 1));
  const lasts = values.filter((_, index) => !isHole(index) && isHole(index + 1));
  return firsts.map(({ day }, index) => [day, lasts[index]?.day ?? day]);
}

/** The names of the line and of the hatching. */
function namesBeside(means: readonly (number | null)[], hasOpen: boolean): EndLabel[] {
  const drawn = means.flatMap((mean) => mean ?? []);
  return [
    ...(drawn.length > 1
      ? [{ name: MEAN, value: drawn.at(-1) ?? 0, color: COLORS.accent, isLine: true }]
      : []),
    ...(hasOpen ? [{ name: OPEN, value: 0, color: HATCHED.bar, stroke: COLORS.hatch }] : []),
  ];
}
