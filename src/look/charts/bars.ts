import { html } from 'hono/html';
import { type UtcDay, weekdayOf } from '../../core/day.ts';
import { formatNumber } from '../numbers.ts';
import type { Chart } from '../page.ts';
import { shortDay } from '../words.ts';
import type { DrawnEvent } from './events.ts';
import { COLORS, categoryColor, categoryPlaces, HATCHED, labelOf, pixels } from './ink.ts';
import {
  type Bar,
  BRACKETS,
  barMark,
  bucketWords,
  drawTimePlot,
  type EndLabel,
  endLabels,
  labelWidth,
  linePath,
  type Mark,
  type Places,
  plotWidth,
  scaleOf,
} from './plot.ts';

/** A value of one day. */
interface DayValue {
  readonly day: UtcDay;
  /** Null for a day that is not stored, or has no price: the bar is missing, and not 0. */
  readonly value: number | null;
  /** Why there is no value. @default it is not stored */
  readonly why?: string | undefined;
  /** True if the value may still change: the bar is hatched. */
  readonly isOpen: boolean;
}

/** Width of the content of a page. */
const WIDTH = 1_072;
const DAY_HEIGHT = 190;
const LEAST = 180;
const BAR_MAX = 32;
const BAR_MIN = 2;
const MEAN_DAYS = 7;
const MEAN = '7-day mean';
const OPEN = 'not settled';

/**
 * One bar per day from 0; weekends lighter; with the mean of the last seven days as a line, where all seven are stored. The
 * base line is broken where a day is not stored. Wider than a page for more than about 450 days.
 */
export function dayBars(
  values: readonly DayValue[],
  {
    label,
    divisor = 1,
    spans = [],
    events = [],
  }: {
    label: string;
    divisor?: number;
    spans?: readonly DaySpanDrawn[];
    events?: readonly DrawnEvent[];
  },
): Chart {
  const before = spans.filter(({ isBefore }) => isBefore);
  const bars = values.flatMap(({ day, value, isOpen }) =>
    value === null
      ? []
      : [
          {
            bucket: day,
            base: 0,
            top: value / divisor,
            ...inkOf(day, { isOpen, isGrey: spans.length > 0 && !isIn(day, spans), before }),
            title: dayTitle(day, value, isOpen),
          },
        ],
  );
  const means = spans.length > 0 ? values.map(() => null) : meansOf(values, divisor);
  const names = namesBeside(
    means,
    values.some(({ value, isOpen }) => isOpen && value !== null),
  );
  const scale = scaleOf(
    bars.map(({ top }) => top),
    { zero: true },
  );
  const right = labelWidth(names.map(({ name }) => name));
  const width = widthOf(values.length, WIDTH - scale.width - right);
  const step = width / Math.max(1, values.length);
  const inset = Math.max(step < 5 ? 0 : step * 0.07, (step - BAR_MAX) / 2);
  return drawTimePlot({
    label,
    buckets: values.map(({ day }) => day),
    scale,
    width,
    height: DAY_HEIGHT,
    right,
    below: spans.length > 0 ? BRACKETS : 0,
    events,
    marks: (places) => {
      const { x, y } = places;
      const missing = values.filter(({ value }) => value === null);
      const base = storedSpans(values).map(
        ([from, until]) => `M${pixels(x(from))} ${pixels(y(0))}H${pixels(x(until) + step)}`,
      );
      const line = values.map(({ day }, index) => {
        const mean = means[index] ?? null;
        return mean === null ? null : ([x(day) + step / 2, y(mean)] as const);
      });
      return [
        ...bars.map((bar) => barMark(bar, places, inset)),
        ...missing.map(
          ({ day, why = 'not stored' }) =>
            html`<rect x="${pixels(x(day) + inset)}" y="${pixels(y(0) - MISSING_HEIGHT)}" width="${pixels(step - 2 * inset)}" height="${MISSING_HEIGHT}" fill="none" stroke="${COLORS.ink3}" stroke-dasharray="2 2"><title>${shortDay(day)}: ${why}</title></rect>`,
        ),
        ...spans.flatMap((span) => bracketMarks(span, { values, divisor, places, floor: y(0) })),
        html`<path d="${base.join('')}" stroke="${COLORS.ink3}"/>`,
        html`<path d="${linePath(line)}" fill="none" stroke="${COLORS.accent}" stroke-width="2" stroke-linejoin="round"/>`,
        ...endLabels(names, scale, places),
      ];
    },
  });
}

/** A span that a bracket names, with the mean of its weekdays as a line. */
export interface DaySpanDrawn {
  readonly from: UtcDay;
  readonly until: UtcDay;
  readonly words: string;
  /** True for the span that the period is compared with, which is grey. */
  readonly isBefore: boolean;
}

/** Of the dashed box of a day that is not stored. */
const MISSING_HEIGHT = 9;

function isIn(day: UtcDay, spans: readonly Pick<DaySpanDrawn, 'from' | 'until'>[]): boolean {
  return spans.some(({ from, until }) => day >= from && day <= until);
}

/** The bracket below a span, its words, and the mean of its stored weekdays. */
function bracketMarks(
  { from, until, words, isBefore }: DaySpanDrawn,
  {
    values,
    divisor,
    places: { x, y, step, width },
    floor,
  }: { values: readonly DayValue[]; divisor: number; places: Places; floor: number },
): Mark[] {
  const own = values.filter(({ day }) => day >= from && day <= until);
  const [first, last] = [own[0]?.day, own.at(-1)?.day];
  if (first === undefined || last === undefined) return [];
  const weekdays = own.flatMap(({ day, value }) => (value === null || weekdayOf(day) > 5 ? [] : value));
  const mean = weekdays.reduce((sum, value) => sum + value, 0) / Math.max(1, weekdays.length);
  const [left, right] = [x(first), x(last) + step];
  const color = isBefore ? COLORS.ink2 : COLORS.accent;
  const line =
    weekdays.length < 2
      ? ''
      : html`<path d="M${pixels(left)} ${pixels(y(mean / divisor))}H${pixels(right)}" stroke="${color}" stroke-width="2"><title>mean of weekdays, ${words}: ${formatNumber(mean, 'compact')}</title></path>`;
  const bracket = html`<path d="M${pixels(left)} ${floor + 28}v4H${pixels(right)}v-4" fill="none" stroke="${color}"/>`;
  // A short span stands at the edge, so its words begin or end there.
  const isRight = right > width - 60;
  const place = isRight ? right : Math.max(left, 0);
  const label = html`<text x="${pixels(place)}" y="${floor + 46}" text-anchor="${isRight ? 'end' : 'start'}" fill="${COLORS.ink}">${words}</text>`;
  return [html`${line}`, bracket, label];
}

function inkOf(
  day: UtcDay,
  { isOpen, isGrey, before }: { isOpen: boolean; isGrey: boolean; before: readonly DaySpanDrawn[] },
): { readonly fill: string; readonly stroke: string } {
  const isWeekend = weekdayOf(day) > 5;
  if (isIn(day, before)) return { fill: isWeekend ? COLORS.beforeWeekend : COLORS.before, stroke: 'none' };
  if (isGrey) return { fill: COLORS.beforeWeekend, stroke: 'none' };
  if (isOpen) return { fill: HATCHED.bar, stroke: COLORS.hatch };
  return { fill: isWeekend ? COLORS.barWeekend : COLORS.bar, stroke: 'none' };
}

function dayTitle(day: UtcDay, value: number, isOpen: boolean): string {
  return `${shortDay(day)}: ${formatNumber(value, 'compact')}${isOpen ? ', not settled' : ''}`;
}

function widthOf(days: number, most: number): number {
  return Math.max(Math.min(most, Math.max(LEAST, days * (BAR_MAX + 4))), days * BAR_MIN);
}

/** For each day, the mean of the seven days that end with it; null where one of them is not stored. */
function meansOf(values: readonly DayValue[], divisor: number): (number | null)[] {
  return values.map((_, index) => {
    const week = values
      .slice(Math.max(0, index - MEAN_DAYS + 1), index + 1)
      .flatMap(({ value }) => value ?? []);
    return week.length < MEAN_DAYS ? null : week.reduce((sum, value) => sum + value, 0) / MEAN_DAYS / divisor;
  });
}

/** First and last day of each span of stored days, from one hole to the next. */
function storedSpans(values: readonly DayValue[]): (readonly [from: UtcDay, until: UtcDay])[] {
  const isHole = (index: number) => (values[index]?.value ?? null) === null;
  const firsts = values.filter((_, index) => !isHole(index) && isHole(index - 1));
  const lasts = values.filter((_, index) => !isHole(index) && isHole(index + 1));
  return firsts.map(({ day }, index) => [day, lasts[index]?.day ?? day]);
}

/** The names of the line and of the hatching. */
function namesBeside(means: readonly (number | null)[], hasOpen: boolean): EndLabel[] {
  const drawn = means.flatMap((mean) => mean ?? []);
  return [
    ...(drawn.length > 1
      ? [{ name: MEAN, value: drawn.at(-1) ?? 0, color: COLORS.accent, isLine: true }]
      : []),
    ...(hasOpen ? [{ name: OPEN, value: 0, color: HATCHED.bar, stroke: COLORS.hatch }] : []),
  ];
}

/** One part of one bar. */
interface StackPart {
  /** First day of the week, or the month. */
  readonly bucket: string;
  readonly group: string;
  /** Null if it is not stored; a bar without any value is missing. */
  readonly value: number | null;
  /** True if the value may still change: the part is hatched. */
  readonly isOpen: boolean;
}

const STACK_HEIGHT = 200;
const STACK_WIDTH_MAX = 44;
const WIDE_STACK_WIDTH_MAX = 64;
/** Between the parts of a bar, in pixels. */
const PART_GAP = 2;

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
    events = [],
  }: {
    label: string;
    groups: readonly string[];
    divisor?: number;
    others?: string;
    wide?: boolean;
    named?: boolean;
    events?: readonly DrawnEvent[];
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
  const barMax = wide ? WIDE_STACK_WIDTH_MAX : STACK_WIDTH_MAX;
  const width = plotWidth(buckets.length, { wide, margins: scale.width + right, stepMax: barMax + 16 });
  const step = width / Math.max(1, buckets.length);
  const inset = Math.max(step * 0.09, (step - barMax) / 2);
  return drawTimePlot({
    label,
    buckets,
    scale,
    width,
    height: STACK_HEIGHT,
    right,
    events,
    marks: (at) => [
      ...boxes.map((box) => barMark(box, at, inset, gapOf(boxes, at.unit))),
      html`<path d="M0 ${pixels(at.y(0))}H${pixels(width)}" stroke="${COLORS.ink3}"/>`,
      ...endLabels(groupsBeside(boxes, names, places), scale, at),
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
  const smallest = Math.min(...boxes.map(({ base, top }) => (top - base) * unit), STACK_HEIGHT);
  return smallest > PART_GAP + 1 ? PART_GAP : 1;
}

/** Each group's name at the middle of its part of the last bar, or above what lies below it if it has none there. */
function groupsBeside(boxes: readonly Box[], groups: readonly string[], places: readonly number[]) {
  const last = boxes.at(-1)?.bucket;
  let top = 0;
  return groups.map((name, index) => {
    const box = boxes.find(({ bucket, group }) => bucket === last && group === name);
    const value = box === undefined ? top : (box.base + box.top) / 2;
    top = box?.top ?? top;
    return { name, value, color: categoryColor(places[index] ?? index) };
  });
}
