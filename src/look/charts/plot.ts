import { html } from 'hono/html';
import { isDay, type UtcDay } from '../../core/day.ts';
import { axisNumbers } from '../numbers.ts';
import type { Chart } from '../page.ts';
import { monthName, shortDay, shortMonth } from '../words.ts';
import { type DrawnEvent, eventMark, placedEvents } from './events.ts';
import { CHARACTER_PIXELS, COLORS, LINE_PIXELS, labelOf, pixels, plainText } from './ink.ts';

/** Markup of a part of a drawing: the template escapes every value. */
export type Mark = ReturnType<typeof html>;

const TOP = 10;
const BOTTOM = 28;
/** Room for the brackets below the days. */
export const BRACKETS = 26;
/** Between the drawing and the labels of an axis. */
const LABEL_PAD = 9;

/** A drawing over time. */
interface TimePlot {
  readonly label: string;
  /** Days, weeks or months from left to right. */
  readonly buckets: readonly string[];
  readonly scale: Scale;
  /** Width and height in pixels without the margins. */
  readonly width: number;
  readonly height: number;
  /** Room at the right for names, in pixels. */
  readonly right: number;
  /** Room below the labels of the days, in pixels. @default none */
  readonly below?: number;
  /** What happened, as dotted lines. @default none */
  readonly events?: readonly DrawnEvent[];
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
export function drawTimePlot({
  label,
  buckets,
  scale,
  width,
  height,
  right,
  below = 0,
  events = [],
  marks,
}: TimePlot): Chart {
  const step = width / Math.max(1, buckets.length);
  const unit = height / (scale.high - scale.low);
  const labels = placedEvents(events, { buckets, step, width: width + right });
  const top = TOP + LINE_PIXELS * Math.max(0, ...labels.map(({ row }) => row + 1));
  const places: Places = {
    step,
    width,
    unit,
    x: (bucket) => buckets.indexOf(bucket) * step,
    y: (value) => top + (scale.high - value) * unit,
  };
  const days = [...timeTicks(buckets, width)].map(
    ([bucket, text]) =>
      html`<text x="${pixels(places.x(bucket) + step / 2)}" y="${top + height + LABEL_PAD}" dy="0.71em">${text}</text>`,
  );
  const values = [...scale.ticks].map(
    ([tick, text]) =>
      html`<text x="${scale.width - LABEL_PAD}" y="${pixels(places.y(tick))}" dy="0.32em">${text}</text>`,
  );
  const grid = [...scale.ticks.keys()].map((tick) => `M0 ${pixels(places.y(tick))}H${pixels(width)}`);
  const [fullWidth, fullHeight] = [pixels(width + right), top + height + BOTTOM + below];
  const svg = html`<svg class="plot" role="img" aria-label="${plainText(label)}" width="${fullWidth}" height="${fullHeight}" viewBox="0 0 ${fullWidth} ${fullHeight}" text-anchor="middle"><path d="${grid.join('')}" stroke="${COLORS.hairline}"/>${days}${marks(places)}${labels.map((label) => eventMark(label, { top: TOP, floor: places.y(scale.low) }))}</svg>`;
  // The axis ends above the labels of the days, so that it does not cover the first of them.
  const axis = html`<svg class="plot axis" width="${scale.width}" height="${top + height + 7}" text-anchor="end" aria-hidden="true">${values}</svg>`;
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

/** A name at the right end of a drawing. */
export interface EndLabel {
  readonly name: string;
  /** Where it belongs, in units of the vertical axis. */
  readonly value: number;
  readonly color: string;
  /** The edge of its swatch. */
  readonly stroke?: string;
  /** True if its swatch is a piece of a line instead of a square. */
  readonly isLine?: boolean;
}

const CHARACTERS_MAX = 20;
const SWATCH_PIXELS = 18;

/** Room for the names at the right of a drawing, in pixels. */
export function labelWidth(names: readonly string[]): number {
  const longest = Math.max(0, ...names.map((name) => labelOf(name, CHARACTERS_MAX).length));
  return longest === 0 ? 8 : Math.ceil(SWATCH_PIXELS + longest * CHARACTER_PIXELS);
}

/** The names in ink, each with a swatch of its color, moved apart where they would overlap. */
export function endLabels(
  labels: readonly EndLabel[],
  { low, high }: Scale,
  { width, unit, y }: Places,
): Mark[] {
  return spread(labels, { gap: LINE_PIXELS / unit, low, high }).map(
    ({ name, value, color, stroke = 'none', isLine = false }) => {
      const swatch = isLine
        ? html`<path d="M${pixels(width + 4)} ${pixels(y(value))}h10" stroke="${color}" stroke-width="2"/>`
        : html`<path d="M${pixels(width + 5)} ${pixels(y(value) - 4)}h8v8h-8z" fill="${color}" stroke="${stroke}"/>`;
      return html`${swatch}<text x="${pixels(width + SWATCH_PIXELS)}" y="${pixels(y(value))}" dy="0.32em" text-anchor="start" fill="${COLORS.ink}">${labelOf(name, CHARACTERS_MAX)}</text>`;
    },
  );
}

/** Moves values apart until no two are closer than the gap; inside the limits if there is room. Order is kept. */
export function spread<Item extends { readonly value: number }>(
  items: readonly Item[],
  { gap, low, high }: { gap: number; low: number; high: number },
): Item[] {
  const sorted = items.toSorted((a, b) => a.value - b.value);
  let floor = low;
  const raised = sorted.map((item) => {
    const value = Math.max(item.value, floor);
    floor = value + gap;
    return { ...item, value };
  });
  let ceiling = high;
  return raised
    .toReversed()
    .map((item) => {
      const value = Math.min(item.value, ceiling);
      ceiling = value - gap;
      return { ...item, value };
    })
    .toReversed();
}

/** Widths of the content of a page, and of a figure beside another one, in pixels. */
const WIDE = 1_072;
const HALF = 516;
const LEAST = 280;

/** The width of a drawing without its margins: few buckets do not fill the page. */
export function plotWidth(
  buckets: number,
  { wide, margins, stepMax }: { wide: boolean; margins: number; stepMax: number },
): number {
  const most = (wide ? WIDE : HALF) - margins;
  return Math.max(LEAST, Math.min(most, Math.max(LEAST, buckets * stepMax)));
}

/** A bucket in the tooltip of a drawing: `week of 9 Nov`, `November`. */
export function bucketWords(bucket: string): string {
  const day = `${bucket}-01`;
  if (isDay(bucket)) return `from ${shortDay(bucket)}`;
  return isDay(day) ? monthName(day) : bucket;
}

/** The vertical axis of a drawing. */
interface Scale {
  readonly low: number;
  readonly high: number;
  /** Where labels stand, and their texts. */
  readonly ticks: ReadonlyMap<number, string>;
  /** Width of the longest label in pixels, with room around it. */
  readonly width: number;
}

/** The axis has at most so many steps. */
const STEPS_MAX = 5;
const LABEL_PIXELS = 7.5;
/** Names of months closer than this are thinned out. */
const MONTH_PIXELS = 44;
const DAY_PIXELS = 64;

/** Up to six round numbers from the lowest to the highest value, or from 0. Whole where all values are. */
export function scaleOf(values: readonly number[], { zero }: { zero: boolean }): Scale {
  const low = Math.min(...(zero ? [0] : []), ...(values.length === 0 ? [0] : values));
  const high = Math.max(...(zero ? [0] : []), ...(values.length === 0 ? [0] : values));
  const isWhole = zero && values.every((value) => Number.isInteger(value));
  const step = stepOf((high - low || Math.abs(high) || 1) / STEPS_MAX, isWhole);
  const first = Math.floor(low / step + 1e-9);
  const last = Math.max(first + 1, Math.ceil(high / step - 1e-9));
  // Multiplied, because a sum of steps gathers errors.
  const ticks = Array.from({ length: last - first + 1 }, (_, index) => round((first + index) * step));
  const texts = axisNumbers(ticks);
  const longest = Math.max(...texts.map((text) => text.length));
  return {
    low: round(first * step),
    high: round(last * step),
    ticks: new Map(ticks.map((tick, index) => [tick, texts[index] ?? ''])),
    width: Math.max(28, Math.ceil(longest * LABEL_PIXELS) + 10),
  };
}

function stepOf(rough: number, isWhole: boolean): number {
  const power = 10 ** Math.floor(Math.log10(rough));
  const step =
    [1, 2, 5, 10].map((factor) => factor * power).find((candidate) => candidate >= rough * 0.999) ??
    10 * power;
  return isWhole ? Math.max(1, step) : step;
}

function round(value: number): number {
  return Number(value.toPrecision(12));
}

/**
 * The labels below days, weeks or months (`2026-11-19`, `2026-11`): months where they begin, years where they change; and
 * days, where the drawing is shorter than two months. Thin enough for the width.
 */
export function timeTicks(buckets: readonly string[], pixels: number): ReadonlyMap<string, string> {
  const days = buckets.map(firstDayOf);
  const step = pixels / Math.max(1, buckets.length);
  const isMonthly = buckets.every((bucket) => bucket.length === 7);
  const starts = days.flatMap((day, index) =>
    (index === 0 ? isMonthly || day.endsWith('-01') : days[index - 1]?.slice(0, 7) !== day.slice(0, 7))
      ? [index]
      : [],
  );
  const shown =
    starts.length < 2 && !isMonthly
      ? everyNth(days, Math.ceil(DAY_PIXELS / step))
      : thinned(days, starts, step);
  return new Map(shown.map(([index, text]) => [buckets[index] ?? '', text]));
}

function everyNth(days: readonly UtcDay[], nth: number): [number, string][] {
  return days.flatMap((day, index) => (index % nth === 0 ? [[index, shortDay(day)]] : []));
}

/** Every month, every quarter or every year, whichever has room first. */
function thinned(days: readonly UtcDay[], starts: readonly number[], step: number): [number, string][] {
  const monthsApart = [1, 3, 12].find((months) => months * monthPixels(starts, step) >= MONTH_PIXELS) ?? 12;
  return starts.flatMap((index) => {
    const day = days[index];
    const isNewYear = index > 0 || monthsApart === 12;
    if (day === undefined || (Number(day.slice(5, 7)) - 1) % monthsApart !== 0) return [];
    return [[index, isNewYear && day.slice(5, 7) === '01' ? day.slice(0, 4) : shortMonth(day)]];
  });
}

function monthPixels(starts: readonly number[], step: number): number {
  const gaps = starts.slice(1).map((start, index) => (start - (starts[index] ?? 0)) * step);
  return gaps.length === 0 ? MONTH_PIXELS : Math.min(...gaps);
}

function firstDayOf(bucket: string): UtcDay {
  const day = bucket.length === 7 ? `${bucket}-01` : bucket;
  if (isDay(day)) return day;
  throw new TypeError(`draw a time axis: "${bucket}" is neither a day nor a month`);
}
