import * as Plot from '@observablehq/plot';
import type { Chart } from '../page/page.ts';
import { categoryColor } from './colors.ts';
import { drawPlot } from './plot.ts';

/** A line, with its name at the end. */
export interface Series {
  readonly name: string;
  /** In order. A value of null is a gap. */
  readonly points: readonly {
    readonly bucket: string;
    readonly value: number | null;
    readonly isOpen: boolean;
  }[];
}

/** Lines for means and ratios, up to four and others, named at their ends. `zero` makes the axis start at 0. */
export function lines(
  series: readonly Series[],
  { label, percent = false, zero = false }: { label: string; percent?: boolean; zero?: boolean },
): Chart {
  const points = series.flatMap(({ name, points: own }) => own.map((point) => ({ ...point, name })));
  const svg = drawPlot(
    {
      width: 536,
      height: 220,
      marginLeft: 40,
      marginRight: 120,
      x: {
        type: 'point',
        domain: [...new Set(points.map(({ bucket }) => bucket))],
        label: null,
        tickSize: 0,
      },
      y: { label: null, grid: true, ticks: 4, zero, percent },
      color: {
        domain: series.map(({ name }) => name),
        range: series.map((_, index) => categoryColor(index)),
      },
      marks: [Plot.lineY(points, { x: 'bucket', y: 'value', stroke: 'name', strokeWidth: 2 })],
    },
    label,
  );
  return { svg, label };
}
