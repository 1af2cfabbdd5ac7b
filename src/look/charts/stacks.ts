import { html } from 'hono/html';
import type { Chart } from '../page/page.ts';
import { formatNumber } from '../words/numbers.ts';
import { COLORS, categoryColor, categoryPlaces, HATCHED } from './colors.ts';
import { endLabels, labelWidth } from './end-labels.ts';
import { type Bar, barMark, drawTimePlot, pixels } from './plot.ts';
import { bucketWords, plotWidth } from './sizes.ts';
import { labelOf } from './svg-text.ts';
import { scaleOf } from './ticks.ts';

/** One part of one bar. */
export interface StackPart {
  /** First day of the week, or the month. */
  readonly bucket: string;
  readonly group: string;
  /** Null if it is not stored; a bar without any value is missing. */
  readonly value: number | null;
  /** True if the value may still change: the part is hatched. */
  readonly isOpen: boolean;
}

const HEIGHT = 200;
const BAR_MAX = 44;
const WIDE_BAR_MAX = 64;
/** Between the parts of a bar, in pixels. */
const GAP = 2;

/**
 * Stacked bars per week or month: `groups` from the bottom up, named beside the last bar. The group `others` has a color of
 * its own. `wide` drawings take the width of the page, others half of it. Bars that are not `named` have one part each, which
 * the title names, and the color of bars per day.
 */
export function stacks(
  parts: readonly StackPart[],
  {
    label,
    groups,
    divisor = 1,
    others = 'others',
    wide = false,
    named = true,
  }: {
    label: string;
    groups: readonly string[];
    divisor?: number;
    others?: string;
    wide?: boolean;
    named?: boolean;
  },
): Chart {
  const buckets = [...new Set(parts.map(({ bucket }) => bucket))].sort();
  const places = categoryPlaces(groups, others);
  const boxes = buckets.flatMap((bucket) => boxesOf(bucket, { parts, groups, places, divisor, named }));
  const scale = scaleOf(
    boxes.map(({ top }) => top),
    { zero: true },
  );
  const names = named ? groups : [];
  const right = labelWidth(names);
  const barMax = wide ? WIDE_BAR_MAX : BAR_MAX;
  const width = plotWidth(buckets.length, { wide, margins: scale.width + right, stepMax: barMax + 16 });
  const step = width / Math.max(1, buckets.length);
  const inset = Math.max(step * 0.09, (step - barMax) / 2);
  return drawTimePlot({
    label,
    buckets,
    scale,
    width,
    height: HEIGHT,
    right,
    marks: (at) => [
      ...boxes.map((box) => barMark(box, at, inset, gapOf(boxes, at.unit))),
      html`<path d="M0 ${pixels(at.y(0))}H${pixels(width)}" stroke="${COLORS.ink3}"/>`,
      ...endLabels(namesBeside(boxes, names, places), scale, at),
    ],
  });
}

interface Box extends Bar {
  readonly group: string;
}

/** Null as the place among the categories is for parts that are whole bars. */
function fillOf(place: number | null, isOpen: boolean): string {
  if (place === null) return isOpen ? HATCHED.bar : COLORS.bar;
  return isOpen ? HATCHED.category(place) : categoryColor(place);
}

/** The parts of one bar, from the bottom up. */
function boxesOf(
  bucket: string,
  {
    parts,
    groups,
    places,
    divisor,
    named,
  }: {
    parts: readonly StackPart[];
    groups: readonly string[];
    places: readonly number[];
    divisor: number;
    named: boolean;
  },
): Box[] {
  const own = new Map(parts.filter((part) => part.bucket === bucket).map((part) => [part.group, part]));
  let base = 0;
  return groups.flatMap((group, index) => {
    const part = own.get(group);
    if (part === undefined || part.value === null || part.value <= 0) return [];
    const top = base + part.value / divisor;
    const place = named ? (places[index] ?? index) : null;
    const box = {
      bucket,
      group,
      base,
      top,
      fill: fillOf(place, part.isOpen),
      stroke: place === null && part.isOpen ? COLORS.hatch : 'none',
      title: `${bucketWords(bucket)}, ${labelOf(group, 60)}: ${formatNumber(part.value, 'compact')}${part.isOpen ? ', not settled' : ''}`,
    };
    base = top;
    return [box];
  });
}

/** The gap between parts; smaller than it, a part would vanish, so that all gaps become thinner. */
function gapOf(boxes: readonly Box[], unit: number): number {
  const smallest = Math.min(...boxes.map(({ base, top }) => (top - base) * unit), HEIGHT);
  return smallest > GAP + 1 ? GAP : 1;
}

/** Each group's name at the middle of its part of the last bar, or above what lies below it if it has none there. */
function namesBeside(boxes: readonly Box[], groups: readonly string[], places: readonly number[]) {
  const last = boxes.at(-1)?.bucket;
  let top = 0;
  return groups.map((name, index) => {
    const box = boxes.find(({ bucket, group }) => bucket === last && group === name);
    const value = box === undefined ? top : (box.base + box.top) / 2;
    top = box?.top ?? top;
    return { name, value, color: categoryColor(places[index] ?? index) };
  });
}
