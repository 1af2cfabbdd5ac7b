import * as Plot from '@observablehq/plot';
import { daysBetween, type UtcDay, weekdayOf } from '../../core/day.ts';
import type { Chart, MarkState } from '../page/page.ts';
import { COLORS, HATCHED } from './colors.ts';
import { drawPlot } from './plot.ts';

/** A square of the calendar. */
export interface CalendarDay {
  readonly day: UtcDay;
  readonly state: MarkState;
}

const CELL = 14;

/** One square per UTC day, a column per week from Monday down. Each state has a mark of its own, see {@link MarkState}. */
export function calendar(days: readonly CalendarDay[], label: string): Chart {
  const [first] = days;
  const squares = days.map(({ day, state }) => ({
    day,
    state,
    week: first === undefined ? 0 : Math.floor((daysBetween(first.day, day) + weekdayOf(first.day) - 1) / 7),
    weekday: weekdayOf(day),
  }));
  const weeks = (squares.at(-1)?.week ?? 0) + 1;
  const svg = drawPlot(
    {
      width: 60 + weeks * CELL,
      height: 20 + 7 * CELL,
      marginLeft: 40,
      marginTop: 18,
      marginBottom: 2,
      x: { type: 'band', axis: null, padding: 0.15 },
      y: { type: 'band', label: null, tickSize: 0, domain: [1, 2, 3, 4, 5, 6, 7], padding: 0.15 },
      marks: [
        Plot.cell(squares, {
          x: 'week',
          y: 'weekday',
          rx: 2,
          fill: ({ state }: CalendarDay) =>
            state === 'loaded' ? COLORS.bar : state === 'open' ? HATCHED.bar : 'none',
          title: ({ day, state }: CalendarDay) => `${day}: ${state}`,
        }),
      ],
      color: { type: 'identity' },
    },
    label,
  );
  return { svg, label };
}
