import type { Chart } from '../page/page.ts';
import { COLORS } from './colors.ts';
import { svgText } from './svg-text.ts';

const WIDTH = 120;
const HEIGHT = 28;
const MARGIN = 3;

/**
 * A small line without axes, with a dot at its last value. A missing value is a gap. It is written by hand, because a page
 * has many, and Plot takes a hundred times as long. Undefined if there are fewer than two values.
 */
export function sparkline(values: readonly (number | null)[], label: string): Chart | undefined {
  const known = values.flatMap((value) => value ?? []);
  if (known.length < 2) return undefined;
  const low = Math.min(...known);
  const range = Math.max(...known) - low;
  const points = values.map((value, index) =>
    value === null
      ? null
      : ([
          rounded(MARGIN + (index * (WIDTH - 2 * MARGIN)) / (values.length - 1)),
          rounded(
            range === 0 ? HEIGHT / 2 : HEIGHT - MARGIN - ((value - low) / range) * (HEIGHT - 2 * MARGIN),
          ),
        ] as const),
  );
  const path = points.map((point, index) =>
    point === null ? '' : `${(points[index - 1] ?? null) === null ? 'M' : 'L'}${point[0]} ${point[1]}`,
  );
  const end = points.findLast((point) => point !== null);
  const dot =
    end === undefined || end === null
      ? ''
      : `<circle cx="${end[0]}" cy="${end[1]}" r="2.5" fill="${COLORS.accent}"/>`;
  const svg = `<svg class="sparkline" width="${WIDTH}" height="${HEIGHT}" viewBox="0 0 ${WIDTH} ${HEIGHT}" role="img" aria-label="${svgText(label)}"><path d="${path.join('')}" fill="none" stroke="${COLORS.accent}" stroke-width="1.5" stroke-linejoin="round" stroke-linecap="round"/>${dot}</svg>`;
  return { svg, label };
}

function rounded(pixels: number): number {
  return Math.round(pixels * 10) / 10;
}
