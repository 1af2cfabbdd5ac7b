import { counted, formatDuration, formatNumber } from '../text/quantity.ts';
import type { Style } from '../text/style.ts';
import { truncateTo, widthOf } from '../text/width.ts';
import { type ProgressState, requestRate, timeLeftMs, unitsEnded } from './progress-state.ts';

const BAR_MIN = 10;
const BAR_MAX = 40;
const GAP = '  ';

export interface ProgressFrame {
  readonly atMs: number;
  /** The maximum width in cells. A longer line would wrap. */
  readonly width: number;
  readonly style: Style;
}

/** Draws the progress as one line: a bar, then as many of the numbers as fit. */
export function renderProgress(state: ProgressState, frame: ProgressFrame): string {
  const parts = partsOf(state, frame.atMs);
  if (state.unitsPlanned === null) return truncateTo(state.preparing, frame.width);
  const text = fittingPrefix(parts, frame.width - BAR_MIN - GAP.length);
  const room = frame.width - widthOf(text) - GAP.length;
  if (room < BAR_MIN) return truncateTo(text, frame.width);
  return `${bar(state, Math.min(BAR_MAX, room), frame.style)}${GAP}${text}`;
}

/** Describes the progress in words, without a bar. */
export function describeProgress(state: ProgressState, atMs: number): string {
  return partsOf(state, atMs).join(', ');
}

function partsOf(state: ProgressState, atMs: number): string[] {
  const ended = unitsEnded(state);
  const rate = requestRate(state, atMs);
  const leftMs = timeLeftMs(state, atMs);
  return [
    `${formatNumber(ended)}/${formatNumber(state.unitsPlanned ?? 0)} units`,
    ...(leftMs === null ? [] : [`${formatDuration(leftMs)} left`]),
    counted(state.rowsWritten, 'row'),
    ...(state.unitsFailed === 0 ? [] : [`${formatNumber(state.unitsFailed)} failed`]),
    ...(rate === null || state.requests === 0 ? [] : [`${formatNumber(Math.round(rate))} requests/s`]),
    ...(state.retries === 0 ? [] : [counted(state.retries, 'retry', 'retries')]),
    ...(state.current === '' ? [] : [state.current]),
    ...(state.organization === '' ? [] : [state.organization]),
  ];
}

function fittingPrefix(parts: readonly string[], width: number): string {
  let text = parts[0] ?? '';
  for (const part of parts.slice(1)) {
    const longer = text + GAP + part;
    if (widthOf(longer) > width) break;
    text = longer;
  }
  return text;
}

function bar(state: ProgressState, width: number, style: Style): string {
  const planned = Math.max(1, state.unitsPlanned ?? 0);
  const filled = Math.min(width, Math.floor((unitsEnded(state) / planned) * width));
  return style.green('━'.repeat(filled)) + style.dim('─'.repeat(width - filled));
}
