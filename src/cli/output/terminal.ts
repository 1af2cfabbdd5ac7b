import type { Writable } from 'node:stream';
import { createStyle, type Style } from '../text/style.ts';

/** The width of a line in cells, if the terminal does not report it. */
export const COLUMNS_DEFAULT = 80;
const COLUMNS_MIN = 20;

/** A stream that may be a terminal. */
export type OutputStream = Writable & { readonly isTTY?: boolean; readonly columns?: number };

/** What an output stream can display. */
export interface Terminal {
  /** True when the stream is a terminal. */
  readonly isTerminal: boolean;
  /** True when a line can be redrawn in place. */
  readonly isLive: boolean;
  readonly style: Style;
  /**
   * Returns the current width in cells; 80 if the terminal does not report it. Infinity without a terminal, so that
   * nothing is cut.
   */
  columns(): number;
}

/**
 * Finds out what a stream can display. `NO_COLOR` and `TERM=dumb` turn off all control codes: colours and live lines.
 * `FORCE_COLOR` turns colours on for streams that are not terminals.
 */
export function terminalOf(
  stream: OutputStream,
  env: Readonly<Record<string, string | undefined>>,
): Terminal {
  const isTerminal = stream.isTTY === true;
  const isPlain = (env['NO_COLOR'] ?? '') !== '' || env['TERM'] === 'dumb';
  const isForced = !['', '0', 'false'].includes(env['FORCE_COLOR'] ?? '');
  return {
    isTerminal,
    isLive: isTerminal && !isPlain,
    style: createStyle((isTerminal && !isPlain) || (isForced && !isPlain)),
    columns: () =>
      isTerminal ? Math.max(COLUMNS_MIN, stream.columns || COLUMNS_DEFAULT) : Number.POSITIVE_INFINITY,
  };
}
