import type { Writable } from 'node:stream';

/** The final destination of text. */
export interface Sink {
  /** Writes a text; does nothing once the reader has left. Never throws. */
  write(text: string): void;
  /** Resolves when everything written has been sent or is known to be lost. */
  flush(): Promise<void>;
  /** The first error: `EPIPE` when the reader has left, `ENOSPC` when the disk is full. */
  readonly failure: NodeJS.ErrnoException | null;
}

/**
 * Creates a sink over a stream. Lost output never stops a job: with `daywalk run | head -1`, or a full disk for logs, a
 * run stores the same data as otherwise.
 */
export function createSink(stream: Writable): Sink {
  let failure: NodeJS.ErrnoException | null = null;
  const fail = (error: NodeJS.ErrnoException) => {
    failure ??= error;
  };
  stream.on('error', fail);
  return {
    write: (text) => {
      // A reader that has left does not return, but a full disk may have room again for the next line.
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
