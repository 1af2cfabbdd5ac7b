import type { Writable } from 'node:stream';
import { styleText } from 'node:util';

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

const COLOURS = ['bold', 'dim', 'red', 'green', 'yellow', 'cyan', 'magenta'] as const;

/** Adds a colour or weight to a text. */
export type Paint = (text: string) => string;

/** The colours and weights in use. A screen must be understandable without them. */
export type Style = Readonly<Record<(typeof COLOURS)[number], Paint>>;

const unchanged: Paint = (text) => text;

/** Creates the style of an output. Without `color`, no function changes its text. */
export function createStyle(color: boolean): Style {
  const paint = (name: (typeof COLOURS)[number]): Paint =>
    color ? (text) => (text === '' ? '' : styleText(name, text, { validateStream: false })) : unchanged;
  return {
    bold: paint('bold'),
    dim: paint('dim'),
    red: paint('red'),
    green: paint('green'),
    yellow: paint('yellow'),
    cyan: paint('cyan'),
    magenta: paint('magenta'),
  };
}

/** Writes text to a stream of the process. */
export interface Sink {
  /** Writes a text; does nothing once the reader has left. Never throws. */
  write(text: string): void;
  /** Resolves when everything written has been sent or is known to be lost. */
  flush(): Promise<void>;
  /** The first error: `EPIPE` when the reader has left, `ENOSPC` when the disk is full. */
  readonly failure: NodeJS.ErrnoException | null;
}

/**
 * Creates a sink over a stream. Lost output never stops a job: a run stores the same data with `daywalk run | head -1`, or
 * with a full disk for its log.
 */
export function createSink(stream: Writable): Sink {
  let failure: NodeJS.ErrnoException | null = null;
  const fail = (error: NodeJS.ErrnoException) => {
    failure ??= error;
  };
  stream.on('error', fail);
  return {
    write: (text) => {
      // Gives up only if the reader has left, because a full disk may have room for the next line.
      if (failure?.code === 'EPIPE' || text === '') return;
      try {
        stream.write(text);
      } catch (error) {
        fail(error instanceof Error ? error : new Error(String(error)));
      }
    },
    flush: () => new Promise((resolve) => stream.write('', () => resolve())),
    get failure() {
      return failure;
    },
  };
}
