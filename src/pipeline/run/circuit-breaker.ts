import { BadRequestError } from '../../api/errors.ts';
import { DefectError } from '../../core/errors.ts';
import type { Stream } from '../../core/stream.ts';

/** After this many consecutive failures, each after all its attempts, the run gives up a stream. */
const STREAM_FAILURES_MAX = 5;
/** After this many consecutive failures over all streams, the service counts as down. */
const RUN_FAILURES_MAX = 8;

/** Stops requests to a stream, or to the whole service, that keeps failing. */
export interface CircuitBreaker {
  /** True if the units of the stream must be left out. */
  isOpen(stream: Stream): boolean;
  recordSuccess(stream: Stream): void;
  recordFailure(stream: Stream, error: unknown): void;
}

/**
 * A breaker that counts failures of the service. A 400 and a defect of this program do not count: they say nothing
 * about the next unit.
 */
export function createCircuitBreaker(): CircuitBreaker {
  const inRow = new Map<Stream, number>();
  let allInRow = 0;
  return {
    isOpen: (stream) => allInRow >= RUN_FAILURES_MAX || (inRow.get(stream) ?? 0) >= STREAM_FAILURES_MAX,
    recordSuccess: (stream) => {
      inRow.set(stream, 0);
      allInRow = 0;
    },
    recordFailure: (stream, error) => {
      if (error instanceof BadRequestError || error instanceof DefectError) return;
      inRow.set(stream, (inRow.get(stream) ?? 0) + 1);
      allInRow += 1;
    },
  };
}
