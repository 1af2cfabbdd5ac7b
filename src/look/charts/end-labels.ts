import * as Plot from '@observablehq/plot';
import { COLORS } from './colors.ts';
import { labelOf } from './svg-text.ts';
import type { Scale } from './ticks.ts';

/** A name at the right end of a drawing. */
export interface EndLabel {
  readonly name: string;
  /** Where it belongs, in units of the vertical axis. */
  readonly value: number;
  readonly color: string;
}

/** Lines of text closer than this overlap. */
const LINE_PIXELS = 16;
const CHARACTER_PIXELS = 7.2;
const CHARACTERS_MAX = 20;
const SWATCH_PIXELS = 18;

/** Room for the names at the right of a drawing, in pixels. */
export function labelWidth(names: readonly string[]): number {
  const longest = Math.max(0, ...names.map((name) => labelOf(name, CHARACTERS_MAX).length));
  return longest === 0 ? 8 : Math.ceil(SWATCH_PIXELS + longest * CHARACTER_PIXELS);
}

/** The names in ink, each with a swatch of its color, moved apart where they would overlap. */
export function endLabels(labels: readonly EndLabel[], scale: Scale, pixels: number): Plot.Markish[] {
  const perPixel = (scale.high - scale.low) / pixels;
  const placed = spread(
    labels.map((label) => ({ ...label, text: labelOf(label.name, CHARACTERS_MAX) })),
    { gap: LINE_PIXELS * perPixel, low: scale.low, high: scale.high },
  );
  return [
    Plot.dot(placed, { frameAnchor: 'right', y: 'value', dx: 9, r: 4.5, symbol: 'square', fill: 'color' }),
    Plot.text(placed, {
      frameAnchor: 'right',
      y: 'value',
      dx: SWATCH_PIXELS,
      textAnchor: 'start',
      text: 'text',
      fill: COLORS.ink,
    }),
  ];
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
