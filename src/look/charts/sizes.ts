import { isDay } from '../../core/day.ts';
import { monthName, shortDay } from '../words/spans.ts';

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
