import type { Writable } from 'node:stream';
import { createStyle, type Style } from '../text/style.ts';

/** Cells per line where nothing says how many there are. */
export const COLUMNS_DEFAULT = 80;
const COLUMNS_MIN = 20;

/** A stream that may be a terminal. */
export type OutputStream = Writable & { readonly isTTY?: boolean; readonly columns?: number };

/** What an output stream can show. */
export interface Terminal {
  /** True when a person looks at it. */
  readonly isTerminal: boolean;
  /** True when a line may be drawn again in place. */
  readonly isLive: boolean;
  readonly style: Style;
  /** Cells per line now; 80 on a terminal that does not say. Infinity where no person looks, so that nothing is cut. */
  columns(): number;
}

/**
 * What a stream can show. `NO_COLOR` and `TERM=dumb` turn off every control code, colours and live lines alike;
 * `FORCE_COLOR` turns colours on where the stream is no terminal.
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
