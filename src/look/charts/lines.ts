import { html } from 'hono/html';
import { formatNumber } from '../numbers.ts';
import type { Chart } from '../page.ts';
import { COLORS, categoryColor, categoryPlaces, labelOf, pixels, plainText } from './ink.ts';
import {
  bucketWords,
  drawTimePlot,
  endLabels,
  labelWidth,
  linePath,
  type Mark,
  type Places,
  plotWidth,
  scaleOf,
} from './plot.ts';

/** A line, with its name at the end. */
interface Series {
  readonly name: string;
  /** In order. A value of null is a gap. */
  readonly points: readonly SeriesPoint[];
}

interface SeriesPoint {
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

const SPARKLINE_WIDTH = 120;
const SPARKLINE_HEIGHT = 28;
const SPARKLINE_MARGIN = 3;

/** A small line without axes, with a dot at its last value. A missing value is a gap. Undefined if there are fewer than two values. */
export function sparkline(values: readonly (number | null)[], label: string): Chart | undefined {
  const known = values.flatMap((value) => value ?? []);
  if (known.length < 2) return undefined;
  const low = Math.min(...known);
  const range = Math.max(...known) - low;
  const points = values.map((value, index) =>
    value === null
      ? null
      : ([
          SPARKLINE_MARGIN + (index * (SPARKLINE_WIDTH - 2 * SPARKLINE_MARGIN)) / (values.length - 1),
          range === 0
            ? SPARKLINE_HEIGHT / 2
            : SPARKLINE_HEIGHT -
              SPARKLINE_MARGIN -
              ((value - low) / range) * (SPARKLINE_HEIGHT - 2 * SPARKLINE_MARGIN),
        ] as const),
  );
  const [x = 0, y = 0] = points.findLast((point) => point !== null) ?? [];
  const svg = html`<svg class="sparkline" width="${SPARKLINE_WIDTH}" height="${SPARKLINE_HEIGHT}" viewBox="0 0 ${SPARKLINE_WIDTH} ${SPARKLINE_HEIGHT}" role="img" aria-label="${plainText(label)}"><path d="${linePath(points)}" fill="none" stroke="${COLORS.accent}" stroke-width="1.5" stroke-linejoin="round" stroke-linecap="round"/><circle cx="${pixels(x)}" cy="${pixels(y)}" r="2.5" fill="${COLORS.accent}"/></svg>`;
  return { svg: String(svg), label };
}
