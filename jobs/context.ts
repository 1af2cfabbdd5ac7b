import type { Clock } from '../src/core/clock.ts';
import type { RunObserver } from '../src/pipeline/events.ts';

/** What an entry point hands to a job besides the settings. */
export interface JobContext {
  readonly clock: Clock;
  /** Receives what the job reports while it works. */
  readonly observe: RunObserver;
  /** Aborted with a `StoppedError` when the process was asked to stop. */
  readonly signal: AbortSignal;
}
