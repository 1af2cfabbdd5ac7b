import { chosenSource, type DataSource } from './data-source.ts';
import type { Panel, PanelMaker } from './panel.ts';

/** Panels side by side, all of the same width and height. */
export interface Band {
  /** In units of 30 pixels. */
  readonly height: number;
  readonly panels: readonly PanelMaker[];
}

/** The columns of Grafana's grid. */
export const COLUMNS = 24;

/** Panels side by side. Their number divides {@link COLUMNS}. */
export function band(height: number, ...panels: readonly PanelMaker[]): Band {
  return { height, panels };
}

/** Places the panels of bands below each other, and numbers them. */
export function placed(source: DataSource, bands: readonly Band[]): readonly Panel[] {
  const panels: Panel[] = [];
  let y = 0;
  for (const { height, panels: makers } of bands) {
    const width = COLUMNS / makers.length;
    for (const [index, make] of makers.entries()) {
      panels.push({
        id: panels.length + 1,
        gridPos: { x: index * width, y, w: width, h: height },
        datasource: chosenSource(source),
        ...make(source),
      });
    }
    y += height;
  }
  return panels;
}
