import * as Plot from '@observablehq/plot';
import { type UtcDay, weekdayOf } from '../../core/day.ts';
import type { Chart } from '../page/page.ts';
import { monthName } from '../words/spans.ts';
import { COLORS, HATCHED } from './colors.ts';
import { drawPlot } from './plot.ts';

/** A value of one day. */
export interface DayValue {
  readonly day: UtcDay;
  /** Null for a day that is not stored: the bar is missing, and not 0. */
  readonly value: number | null;
  /** True if the value may still change: the bar is hatched. */
  readonly isOpen: boolean;
}

const WIDTH = 1_072;
const HEIGHT = 220;
const MEAN_DAYS = 7;

/** One bar per day from 0; weekends lighter; with the mean of the last seven days as a line, where all seven are stored. */
export function dayBars(
  values: readonly DayValue[],
  { label, divisor = 1 }: { label: string; divisor?: number },
): Chart {
  const bars = values.map(({ day, value, isOpen }) => ({
    day,
    value: value === null ? null : value / divisor,
    fill: isOpen ? HATCHED.bar : weekdayOf(day) > 5 ? COLORS.barWeekend : COLORS.bar,
  }));
  const means = bars.map(({ day }, index) => ({
    day,
    value: meanOf(bars.slice(Math.max(0, index - MEAN_DAYS + 1), index + 1)),
  }));
  const firsts = values.filter(({ day }) => day.endsWith('-01')).map(({ day }) => day);
  const svg = drawPlot(
    {
      width: WIDTH,
      height: HEIGHT,
      marginLeft: 40,
      marginRight: 90,
      x: {
        type: 'band',
        domain: values.map(({ day }) => day),
        label: null,
        ticks: firsts,
        tickSize: 0,
        tickFormat: shortMonth,
        padding: 0.12,
      },
      y: { label: null, grid: true, ticks: 4, zero: true },
      marks: [
        Plot.barY(bars, { x: 'day', y: 'value', fill: 'fill' }),
        Plot.lineY(means, { x: 'day', y: 'value', stroke: COLORS.accent, strokeWidth: 2 }),
        Plot.ruleY([0], { stroke: COLORS.hairline }),
      ],
      color: { type: 'identity' },
    },
    label,
  );
  return { svg, label };
}

function shortMonth(day: string): string {
  return monthName(day as UtcDay).slice(0, 3);
}

function meanOf(days: readonly { readonly value: number | null }[]): number | null {
  const values = days.flatMap(({ value }) => value ?? []);
  return values.length < MEAN_DAYS ? null : values.reduce((sum, value) => sum + value, 0) / MEAN_DAYS;
}
