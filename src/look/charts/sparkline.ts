import * as Plot from '@observablehq/plot';
import type { Chart } from '../page/page.ts';
import { COLORS } from './colors.ts';
import { drawPlot } from './plot.ts';

/** A small line without axes, with a dot at its end. Undefined if there are fewer than two values. */
export function sparkline(values: readonly (number | null)[], label: string): Chart | undefined {
  if (values.filter((value) => value !== null).length < 2) return undefined;
  const points = values.map((value, index) => ({ index, value }));
  const svg = drawPlot(
    {
      width: 120,
      height: 28,
      margin: 3,
      axis: null,
      marks: [
        Plot.lineY(points, { x: 'index', y: 'value', stroke: COLORS.accent, strokeWidth: 1.5 }),
        Plot.dot(points.slice(-1), { x: 'index', y: 'value', r: 2.5, fill: COLORS.accent }),
      ],
    },
    label,
  );
  return { svg, label };
}
