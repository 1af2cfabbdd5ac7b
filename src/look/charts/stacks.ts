import * as Plot from '@observablehq/plot';
import type { Chart } from '../page/page.ts';
import { categoryColor } from './colors.ts';
import { drawPlot } from './plot.ts';

/** One part of one bar. */
export interface StackPart {
  /** First day of the week or month. */
  readonly bucket: string;
  readonly group: string;
  readonly value: number | null;
  readonly isOpen: boolean;
}

/** Stacked bars per week or month: `groups` from the bottom up, named beside the last bar. */
export function stacks(
  parts: readonly StackPart[],
  { label, groups, divisor = 1 }: { label: string; groups: readonly string[]; divisor?: number },
): Chart {
  const buckets = [...new Set(parts.map(({ bucket }) => bucket))];
  const rows = parts.map(({ bucket, group, value }) => ({ bucket, group, value: (value ?? 0) / divisor }));
  const svg = drawPlot(
    {
      width: 536,
      height: 240,
      marginLeft: 40,
      marginRight: 120,
      x: { type: 'band', domain: buckets, label: null, tickSize: 0, padding: 0.15 },
      y: { label: null, grid: true, ticks: 4, zero: true },
      color: { domain: [...groups], range: groups.map((_, index) => categoryColor(index)) },
      marks: [Plot.barY(rows, { x: 'bucket', y: 'value', fill: 'group', order: [...groups] })],
    },
    label,
  );
  return { svg, label };
}
