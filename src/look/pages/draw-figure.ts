import type { PageReader } from '../data/reader.ts';
import { type OverTime, overTime } from '../figures/over-time.ts';
import { type Ranking, ranking } from '../figures/ranking.ts';
import type { Figure, Pair } from '../page/page.ts';

/** A figure of a page as data. A ranking is about the chosen period. */
export type FigureSpec = OverTime | ({ readonly draw: 'ranking' } & Ranking);

/** Reads and draws a figure. */
export function drawFigure(reader: PageReader, spec: FigureSpec): Promise<Figure> {
  return spec.draw === 'ranking' ? ranking(reader, spec) : overTime(reader, spec);
}

/** Two figures side by side. */
export async function drawPair(reader: PageReader, first: FigureSpec, second: FigureSpec): Promise<Pair> {
  return { kind: 'pair', figures: [await drawFigure(reader, first), await drawFigure(reader, second)] };
}
