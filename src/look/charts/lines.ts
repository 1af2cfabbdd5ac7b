import * as Plot from '@observablehq/plot';
import type { Chart } from '../page/page.ts';
import { formatNumber } from '../words/numbers.ts';
import { categoryColor, categoryPlaces } from './colors.ts';
import { endLabels, labelWidth } from './end-labels.ts';
import { drawTimePlot } from './plot.ts';
import { bucketWords, plotWidth } from './sizes.ts';
import { labelOf } from './svg-text.ts';
import { scaleOf } from './ticks.ts';

/** A line, with its name at the end. */
export interface Series {
  readonly name: string;
  /** In order. A value of null is a gap. */
  readonly points: readonly SeriesPoint[];
}

export interface SeriesPoint {
  readonly bucket: string;
  readonly value: number | null;
  /** True if the value may still change: the line is dotted. */
  readonly isOpen: boolean;
}

const HEIGHT = 190;
const STEP_MAX = 48;

/**
 * Lines for means and ratios, up to four and others, named at their ends unless `named` is false. `percent` draws ratios as per cent, `zero` makes the
 * axis start at 0. `wide` drawings take the width of the page, others half of it.
 */
export function lines(
  series: readonly Series[],
  {
    label,
    percent = false,
    zero = false,
    others = 'others',
    wide = false,
    named = true,
  }: {
    label: string;
    percent?: boolean;
    zero?: boolean;
    others?: string;
    wide?: boolean;
    named?: boolean;
  },
): Chart {
  const buckets = [...new Set(series.flatMap(({ points }) => points.map(({ bucket }) => bucket)))].sort();
  const places = categoryPlaces(
    series.map(({ name }) => name),
    others,
  );
  const drawn = series.map(({ name, points }, index) => ({
    name,
    color: categoryColor(places[index] ?? index),
    points: points.map((point) => ({
      ...point,
      shown: point.value === null ? null : point.value * (percent ? 100 : 1),
      title: titleOf(name, point, percent),
    })),
  }));
  const scale = scaleOf(
    drawn.flatMap(({ points }) => points.flatMap(({ shown }) => shown ?? [])),
    { zero },
  );
  const right = labelWidth(named ? series.map(({ name }) => name) : []);
  const labels = drawn.flatMap(({ name, color, points }) => {
    const value = points.findLast(({ shown }) => shown !== null)?.shown ?? null;
    return value === null || !named ? [] : [{ name, color, value }];
  });
  return drawTimePlot({
    label,
    buckets,
    scale,
    width: plotWidth(buckets.length, { wide, margins: scale.width + right, stepMax: STEP_MAX }),
    height: HEIGHT,
    right,
    marks: [...drawn.flatMap(lineMarks), ...endLabels(labels, scale, HEIGHT)],
  });
}

interface DrawnPoint extends SeriesPoint {
  readonly shown: number | null;
  readonly title: string;
}

/** What is settled as a line, what is not as dots; a value between two gaps as a point. */
function lineMarks({ color, points }: { color: string; points: readonly DrawnPoint[] }): Plot.Markish[] {
  const settled = points.map((point) => ({ ...point, shown: point.isOpen ? null : point.shown }));
  // The dotted part begins where the line ends.
  const open = points.map((point, index) => ({
    ...point,
    shown: point.isOpen || points[index + 1]?.isOpen ? point.shown : null,
  }));
  const alone = points.filter(
    ({ shown }, index) =>
      shown !== null &&
      (points[index - 1]?.shown ?? null) === null &&
      (points[index + 1]?.shown ?? null) === null,
  );
  const style = {
    x: 'bucket',
    y: 'shown',
    stroke: color,
    strokeWidth: 2,
    strokeLinejoin: 'round',
    strokeLinecap: 'round',
  } as const;
  return [
    Plot.lineY(settled, style),
    ...(points.some(({ isOpen }) => isOpen) ? [Plot.lineY(open, { ...style, strokeDasharray: '1 5' })] : []),
    Plot.dot(alone, { x: 'bucket', y: 'shown', r: 2.5, fill: color }),
    // Nothing is drawn; the circles are where the pointer finds a value.
    Plot.dot(
      points.filter(({ shown }) => shown !== null),
      { x: 'bucket', y: 'shown', r: 7, fill: 'transparent', title: 'title' },
    ),
  ];
}

function titleOf(name: string, { bucket, value, isOpen }: SeriesPoint, percent: boolean): string {
  const number =
    value === null
      ? 'not stored'
      : formatNumber(value, percent ? 'share' : Math.abs(value) < 1_000 ? 'decimal' : 'compact');
  return `${bucketWords(bucket)}, ${labelOf(name, 60)}: ${number}${isOpen ? ', not settled' : ''}`;
}
