import { html } from 'hono/html';
import type { Chart } from '../page/page.ts';
import { COLORS } from './colors.ts';
import { linePath, pixels } from './plot.ts';
import { plainText } from './svg-text.ts';

const WIDTH = 120;
const HEIGHT = 28;
const MARGIN = 3;

/** A small line without axes, with a dot at its last value. A missing value is a gap. Undefined if there are fewer than two values. */
export function sparkline(values: readonly (number | null)[], label: string): Chart | undefined {
  const known = values.flatMap((value) => value ?? []);
  if (known.length < 2) return undefined;
  const low = Math.min(...known);
  const range = Math.max(...known) - low;
  const points = values.map((value, index) =>
    value === null
      ? null
      : ([
          MARGIN + (index * (WIDTH - 2 * MARGIN)) / (values.length - 1),
          range === 0 ? HEIGHT / 2 : HEIGHT - MARGIN - ((value - low) / range) * (HEIGHT - 2 * MARGIN),
        ] as const),
  );
  const [x = 0, y = 0] = points.findLast((point) => point !== null) ?? [];
  const svg = html`<svg class="sparkline" width="${WIDTH}" height="${HEIGHT}" viewBox="0 0 ${WIDTH} ${HEIGHT}" role="img" aria-label="${plainText(label)}"><path d="${linePath(points)}" fill="none" stroke="${COLORS.accent}" stroke-width="1.5" stroke-linejoin="round" stroke-linecap="round"/><circle cx="${pixels(x)}" cy="${pixels(y)}" r="2.5" fill="${COLORS.accent}"/></svg>`;
  return { svg: String(svg), label };
}
