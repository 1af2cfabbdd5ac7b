import * as Plot from '@observablehq/plot';
import { type UtcDay, weekdayOf } from '../../core/day.ts';
import type { Chart } from '../page/page.ts';
import { formatNumber } from '../words/numbers.ts';
import { shortDay } from '../words/spans.ts';
import { COLORS, HATCHED } from './colors.ts';
import { labelWidth, spread } from './end-labels.ts';
import { drawTimePlot } from './plot.ts';
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
const LINE_PIXELS = 16;
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
  const bars = values.map(({ day, value, isOpen }) => ({
    day,
    value: value === null ? null : value / divisor,
    fill: isOpen ? HATCHED.bar : weekdayOf(day) > 5 ? COLORS.barWeekend : COLORS.bar,
    stroke: isOpen ? COLORS.hatch : 'none',
    title: titleOf(day, value, isOpen),
  }));
  const means = meansOf(bars);
  const names = [...(means.length > 1 ? [MEAN] : []), ...(values.some(isShownOpen) ? [OPEN] : [])];
  const scale = scaleOf(
    bars.flatMap(({ value }) => value ?? []),
    { zero: true },
  );
  const right = labelWidth(names);
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
    marks: [
      Plot.barY(
        bars.filter(({ value }) => value !== null),
        {
          x: 'day',
          y: 'value',
          fill: 'fill',
          stroke: 'stroke',
          title: 'title',
          insetLeft: inset,
          insetRight: inset,
        },
      ),
      Plot.ruleY(storedSpans(bars), { x1: 'from', x2: 'until', y: 0, stroke: COLORS.ink3 }),
      Plot.lineY(means, {
        x: 'day',
        y: 'value',
        z: 'run',
        stroke: COLORS.accent,
        strokeWidth: 2,
        strokeLinejoin: 'round',
      }),
      ...nameMarks(names, means.at(-1)?.value ?? 0, ((scale.high - scale.low) / HEIGHT) * LINE_PIXELS),
    ],
  });
}

function isShownOpen({ value, isOpen }: DayValue): boolean {
  return isOpen && value !== null;
}

function titleOf(day: UtcDay, value: number | null, isOpen: boolean): string {
  const number = value === null ? 'not stored' : formatNumber(value, 'compact');
  return `${shortDay(day)}: ${number}${isOpen ? ', not settled' : ''}`;
}

function widthOf(days: number, most: number): number {
  return Math.max(Math.min(most, Math.max(LEAST, days * (BAR_MAX + 4))), days * BAR_MIN);
}

/** The means of seven stored days in a row. Lines on either side of a hole have different values of `run`. */
function meansOf(bars: readonly { readonly day: UtcDay; readonly value: number | null }[]) {
  let run = 0;
  return bars.flatMap(({ day }, index) => {
    const values = bars
      .slice(Math.max(0, index - MEAN_DAYS + 1), index + 1)
      .flatMap(({ value }) => value ?? []);
    if (values.length < MEAN_DAYS) {
      run += 1;
      return [];
    }
    return [{ day, run, value: values.reduce((sum, value) => sum + value, 0) / MEAN_DAYS }];
  });
}

/** Spans of stored days, from one hole to the next. */
function storedSpans(bars: readonly { readonly day: UtcDay; readonly value: number | null }[]) {
  const spans: { from: UtcDay; until: UtcDay }[] = [];
  for (const [index, { day, value }] of bars.entries()) {
    if (value === null) continue;
    const last = spans.at(-1);
    if (last !== undefined && (bars[index - 1]?.value ?? null) !== null) last.until = day;
    else spans.push({ from: day, until: day });
  }
  return spans;
}

/** The names of the line and of the hatching at the right end, in ink, each with its swatch. */
function nameMarks(names: readonly string[], mean: number, gap: number): Plot.Markish[] {
  const labels = spread(
    names.map((name) => ({ name, value: name === MEAN ? mean : 0 })),
    { gap, low: 0, high: Number.POSITIVE_INFINITY },
  );
  const swatch = { frameAnchor: 'right', y: 'value', dx: 9 } as const;
  return [
    Plot.dot(
      labels.filter(({ name }) => name === OPEN),
      { ...swatch, symbol: 'square', r: 4.5, fill: HATCHED.bar, stroke: COLORS.hatch, strokeWidth: 1 },
    ),
    Plot.text(
      labels.filter(({ name }) => name === MEAN),
      { ...swatch, text: () => '—', fill: COLORS.accent, fontWeight: 700 },
    ),
    Plot.text(labels, {
      frameAnchor: 'right',
      y: 'value',
      dx: 18,
      textAnchor: 'start',
      text: 'name',
      fill: COLORS.ink,
    }),
  ];
}
