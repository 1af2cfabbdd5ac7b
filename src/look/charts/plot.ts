import { html } from 'hono/html';
import type { Chart } from '../page/page.ts';
import { COLORS } from './colors.ts';
import { plainText } from './svg-text.ts';
import { type Scale, timeTicks } from './ticks.ts';

/** Markup of a part of a drawing: the template escapes every value. */
export type Mark = ReturnType<typeof html>;

const TOP = 10;
const BOTTOM = 28;
/** Between the drawing and the labels of an axis. */
const LABEL_PAD = 9;

/** A drawing over time. */
export interface TimePlot {
  readonly label: string;
  /** Days, weeks or months from left to right. */
  readonly buckets: readonly string[];
  readonly scale: Scale;
  /** Width and height in pixels without the margins. */
  readonly width: number;
  readonly height: number;
  /** Room at the right for names, in pixels. */
  readonly right: number;
  marks(places: Places): readonly Mark[];
}

/** Where buckets and values are in a drawing, in pixels. */
export interface Places {
  /** Width of a bucket. */
  readonly step: number;
  /** Width of all buckets. */
  readonly width: number;
  /** Height of one unit of the vertical axis. */
  readonly unit: number;
  /** The left end of a bucket. */
  x(bucket: string): number;
  y(value: number): number;
}

/**
 * Draws a plot as SVG markup. It holds no style, no script, no ID and no color of its own: colors are custom properties of
 * the page, so that one drawing serves light, dark and print. The same data give the same bytes.
 */
export function drawTimePlot({ label, buckets, scale, width, height, right, marks }: TimePlot): Chart {
  const step = width / Math.max(1, buckets.length);
  const unit = height / (scale.high - scale.low);
  const places: Places = {
    step,
    width,
    unit,
    x: (bucket) => buckets.indexOf(bucket) * step,
    y: (value) => TOP + (scale.high - value) * unit,
  };
  const days = [...timeTicks(buckets, width)].map(
    ([bucket, text]) =>
      html`<text x="${pixels(places.x(bucket) + step / 2)}" y="${TOP + height + LABEL_PAD}" dy="0.71em">${text}</text>`,
  );
  const values = [...scale.ticks].map(
    ([tick, text]) =>
      html`<text x="${scale.width - LABEL_PAD}" y="${pixels(places.y(tick))}" dy="0.32em">${text}</text>`,
  );
  const grid = [...scale.ticks.keys()].map((tick) => `M0 ${pixels(places.y(tick))}H${pixels(width)}`);
  const [fullWidth, fullHeight] = [pixels(width + right), TOP + height + BOTTOM];
  const svg = html`<svg class="plot" role="img" aria-label="${plainText(label)}" width="${fullWidth}" height="${fullHeight}" viewBox="0 0 ${fullWidth} ${fullHeight}" text-anchor="middle"><path d="${grid.join('')}" stroke="${COLORS.hairline}"/>${days}${marks(places)}</svg>`;
  // The axis ends above the labels of the days, so that it does not cover the first of them.
  const axis = html`<svg class="plot axis" width="${scale.width}" height="${TOP + height + 7}" text-anchor="end" aria-hidden="true">${values}</svg>`;
  return { svg: String(svg), axis: String(axis), label };
}

/** A part of a bar from `base` to `top`, which the pointer explains by its title. */
export interface Bar {
  readonly bucket: string;
  readonly base: number;
  readonly top: number;
  readonly fill: string;
  readonly stroke: string;
  readonly title: string;
}

/** @param inset left out of the bucket at either side; `gap`: left out at the top; in pixels */
export function barMark(
  { bucket, base, top, fill, stroke, title }: Bar,
  { step, x, y }: Places,
  inset: number,
  gap = 0,
): Mark {
  const upper = y(Math.max(base, top)) + gap;
  const height = Math.max(0, y(Math.min(base, top)) - upper);
  return html`<rect x="${pixels(x(bucket) + inset)}" y="${pixels(upper)}" width="${pixels(step - 2 * inset)}" height="${pixels(height)}" fill="${fill}" stroke="${stroke}"><title>${title}</title></rect>`;
}

/** A line through points in pixels. It is interrupted where one is null, and a point between two gaps is a dot. */
export function linePath(points: readonly (readonly [x: number, y: number] | null)[]): string {
  const isGap = (index: number) => (points[index] ?? null) === null;
  return points
    .map((point, index) =>
      point === null
        ? ''
        : `${isGap(index - 1) ? 'M' : 'L'}${pixels(point[0])} ${pixels(point[1])}${isGap(index - 1) && isGap(index + 1) ? 'Z' : ''}`,
    )
    .join('');
}

/** A hundredth of a pixel is not seen, and the digits after it take more room than the drawing. */
export function pixels(value: number): number {
  return Math.round(value * 100) / 100;
}
