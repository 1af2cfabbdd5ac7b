import { html } from 'hono/html';
import { COLORS } from './colors.ts';
import { type Mark, type Places, pixels } from './plot.ts';
import { labelOf } from './svg-text.ts';
import type { Scale } from './ticks.ts';

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
