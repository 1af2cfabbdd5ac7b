import { BadRequestError } from '../../api/errors.ts';
import { DefectError } from '../../core/errors.ts';
import type { Stream } from '../../core/stream.ts';

/** Failures in a row, each after all its attempts, after which a stream is given up for this run. */
const STREAM_FAILURES_MAX = 5;
/** Failures in a row over all streams after which the service is taken to be down. */
const RUN_FAILURES_MAX = 8;

/** Notices when it makes no sense to go on, so that a service that is down is not asked for every day of the year. */
export interface CircuitBreaker {
  /** True when the units of a stream are to be left out. */
  isOpen(stream: Stream): boolean;
  succeeded(stream: Stream): void;
  failed(stream: Stream, error: unknown): void;
}

/** A breaker that counts failures of the service; a 400 or a defect of ours says nothing about the next unit. */
export function createCircuitBreaker(): CircuitBreaker {
  const inRow = new Map<Stream, number>();
  let allInRow = 0;
  return {
    isOpen: (stream) => allInRow >= RUN_FAILURES_MAX || (inRow.get(stream) ?? 0) >= STREAM_FAILURES_MAX,
    succeeded: (stream) => {
      inRow.set(stream, 0);
      allInRow = 0;
    },
    failed: (stream, error) => {
      if (error instanceof BadRequestError || error instanceof DefectError) return;
      inRow.set(stream, (inRow.get(stream) ?? 0) + 1);
      allInRow += 1;
    },
  };
}
