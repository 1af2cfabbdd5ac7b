import { isDay, type UtcDay } from '../../core/day.ts';
import { axisNumbers } from '../numbers.ts';
import { shortDay, shortMonth } from '../words.ts';

/** The vertical axis of a drawing. */
export interface Scale {
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
