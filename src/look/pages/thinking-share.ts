import type { FigureSpec } from './draw-figure.ts';

/** How much of the credits is of days on which people mostly used a model that thinks. */
export const THINKING_SHARE: FigureSpec = {
  draw: 'lines',
  id: 'thinking-share',
  title: 'Thinking share',
  unit: 'Per cent of credits, on days whose primary model thinks',
  metrics: [{ metric: 'thinking_share', name: 'thinking' }],
  grain: 'week',
  format: 'share',
  percent: true,
  zero: true,
};
