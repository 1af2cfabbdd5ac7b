import * as Plot from '@observablehq/plot';
import { parseHTML } from 'linkedom';

const { document } = parseHTML('<html></html>');

/**
 * Draws a plot as SVG markup. It holds no style, no script and no color of its own: colors are custom properties of the
 * page, so that one drawing serves light, dark and print. The same data give the same bytes.
 */
export function drawPlot(options: Plot.PlotOptions, label: string): string {
  const svg = Plot.plot({ ...options, document, figure: false });
  for (const style of [...svg.querySelectorAll('style')]) style.remove();
  // A label on a group without a role says nothing to a screen reader; the whole drawing has one.
  for (const part of [...svg.querySelectorAll('[aria-label]')]) part.removeAttribute('aria-label');
  svg.setAttribute('role', 'img');
  svg.setAttribute('aria-label', label);
  svg.setAttribute('class', 'plot');
  return svg.outerHTML;
}
