import type { Writable } from 'node:stream';

/** Where text goes for good. */
export interface Sink {
  /** Writes, or does nothing once the reader has left. Never throws. */
  write(text: string): void;
  /** Resolves when everything written has left, or is known to be lost. */
  flush(): Promise<void>;
  /** The first thing that went wrong: a reader that left is `EPIPE`, a full disk `ENOSPC`. */
  readonly failure: NodeJS.ErrnoException | null;
}

/**
 * A sink over a stream that outlives its reader. Output is never a reason to stop a job: `daywalk run | head -1` and a
 * full log disk must leave the data as whole as a run that nobody looks at.
 */
export function createSink(stream: Writable): Sink {
  let failure: NodeJS.ErrnoException | null = null;
  const fail = (error: NodeJS.ErrnoException) => {
    failure ??= error;
  };
  stream.on('error', fail);
  return {
    write: (text) => {
      // A reader that left never comes back; a full disk may have room again for the next line.
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
