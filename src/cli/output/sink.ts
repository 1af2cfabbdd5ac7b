import type { Writable } from 'node:stream';

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
