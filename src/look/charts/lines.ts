import { html } from 'hono/html';
import type { Chart } from '../page/page.ts';
import { formatNumber } from '../words/numbers.ts';
import { categoryColor, categoryPlaces } from './colors.ts';
import { endLabels, labelWidth } from './end-labels.ts';
import { drawTimePlot, linePath, type Mark, type Places, pixels } from './plot.ts';
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
    marks: (places) => [...drawn.map((line) => lineMark(line, places)), ...endLabels(labels, scale, places)],
  });
}

interface DrawnPoint extends SeriesPoint {
  readonly shown: number | null;
  readonly title: string;
}

/** What is settled as a line, what is not as dots; a value between two gaps as a point. */
function lineMark(
  { color, points }: { color: string; points: readonly DrawnPoint[] },
  { step, x, y }: Places,
): Mark {
  const placed = points.map(({ bucket, shown }) =>
    shown === null ? null : ([x(bucket) + step / 2, y(shown)] as const),
  );
  const isOpen = (index: number) => points[index]?.isOpen === true;
  const settled = linePath(placed.map((place, index) => (isOpen(index) ? null : place)));
  // The dotted part begins where the line ends.
  const open = linePath(placed.map((place, index) => (isOpen(index) || isOpen(index + 1) ? place : null)));
  const isGap = (index: number) => (placed[index] ?? null) === null;
  const dots = placed.map((place, index) => {
    if (place === null) return '';
    const at = html`cx="${pixels(place[0])}" cy="${pixels(place[1])}"`;
    const alone = isGap(index - 1) && isGap(index + 1) ? html`<circle r="2.5" ${at} fill="${color}"/>` : '';
    // Nothing is drawn; the circle is where the pointer finds the value.
    return html`${alone}<circle r="7" ${at} fill="transparent"><title>${points[index]?.title}</title></circle>`;
  });
  return html`<g fill="none" stroke="${color}" stroke-width="2" stroke-linejoin="round" stroke-linecap="round"><path d="${settled}"/>${open === '' ? '' : html`<path d="${open}" stroke-dasharray="1 5"/>`}</g>${dots}`;
}

function titleOf(name: string, { bucket, value, isOpen }: SeriesPoint, percent: boolean): string {
  const number =
    value === null
      ? 'not stored'
      : formatNumber(value, percent ? 'share' : Math.abs(value) < 1_000 ? 'decimal' : 'compact');
  return `${bucketWords(bucket)}, ${labelOf(name, 60)}: ${number}${isOpen ? ', not settled' : ''}`;
}
