import * as Plot from '@observablehq/plot';
import { parseHTML } from 'linkedom';
import type { Chart } from '../page/page.ts';
import { COLORS } from './colors.ts';
import { svgText } from './svg-text.ts';
import { type Scale, timeTicks } from './ticks.ts';

const { document } = parseHTML('<html></html>');
const TOP = 10;
const BOTTOM = 28;

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
  readonly marks: readonly Plot.Markish[];
}

/** As much of the document's interface as drawings need; the program is compiled without that of browsers. */
interface Part {
  readonly outerHTML: string;
  querySelectorAll(selector: string): Iterable<Part>;
  getAttribute(name: string): string | null;
  setAttribute(name: string, value: string): void;
  removeAttribute(name: string): void;
  remove(): void;
}

/**
 * Draws a plot as SVG markup. It holds no style, no script, no ID and no color of its own: colors are custom properties of
 * the page, so that one drawing serves light, dark and print. The same data give the same bytes.
 */
export function drawTimePlot({ label, buckets, scale, width, height, right, marks }: TimePlot): Chart {
  const ticks = timeTicks(buckets, width);
  const svg = Plot.plot({
    document,
    figure: false,
    width: scale.width + width + right,
    height: TOP + height + BOTTOM,
    marginLeft: scale.width,
    marginRight: right,
    marginTop: TOP,
    marginBottom: BOTTOM,
    x: { type: 'band', domain: [...buckets], padding: 0, round: false, axis: null },
    y: { domain: [scale.low, scale.high], axis: null },
    color: { type: 'identity' },
    marks: [
      Plot.gridY([...scale.ticks.keys()], { stroke: COLORS.hairline, strokeOpacity: 1 }),
      Plot.axisY([...scale.ticks.keys()], {
        tickSize: 0,
        tickFormat: (tick: number) => scale.ticks.get(tick) ?? '',
        fill: COLORS.ink2,
        label: null,
      }),
      Plot.axisX([...ticks.keys()], {
        tickSize: 0,
        tickPadding: 9,
        tickFormat: (bucket: string) => ticks.get(bucket) ?? '',
        fill: COLORS.ink2,
        label: null,
      }),
      ...marks,
    ],
  });
  return { ...separate(svg, label, scale.width), label };
}

/** The drawing without its vertical axis, and the axis as a drawing of its own, which goes before it. */
function separate(svg: Part, label: string, axisWidth: number): { svg: string; axis: string } {
  for (const style of [...svg.querySelectorAll('style')]) style.remove();
  const ticks = [...svg.querySelectorAll('[aria-label="y-axis tick label"]')];
  const height = Number(svg.getAttribute('height'));
  const width = Number(svg.getAttribute('width')) - axisWidth;
  // The axis ends above the labels of the days, so that it does not cover the first of them.
  const axis = `<svg class="plot axis" width="${axisWidth}" height="${height - BOTTOM + 7}" aria-hidden="true">${withoutLabels(ticks)}</svg>`;
  for (const tick of ticks) tick.remove();
  withoutLabels([...svg.querySelectorAll('[aria-label]')]);
  svg.setAttribute('width', String(width));
  svg.setAttribute('viewBox', `${axisWidth} 0 ${width} ${height}`);
  svg.removeAttribute('class');
  // Written by hand, because linkedom leaves < and & in attributes as they are.
  const markup = svg.outerHTML.replace(
    /^<svg/,
    () => `<svg class="plot" role="img" aria-label="${svgText(label)}"`,
  );
  return { svg: markup, axis };
}

/** A label on a group without a role says nothing to a screen reader; the whole drawing has one. */
function withoutLabels(parts: readonly Part[]): string {
  for (const part of parts) part.removeAttribute('aria-label');
  return parts.map((part) => part.outerHTML).join('');
}
