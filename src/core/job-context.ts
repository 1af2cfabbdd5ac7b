import type { Clock } from './clock.ts';

/** What an entry point passes to a job besides its settings and its request. */
export interface JobContext<Event = never> {
  readonly clock: Clock;
  /** Receives what the job reports while it works. Must not throw, and should return at once. */
  readonly observe: (event: Event) => void;
  /** Aborted with a `StoppedError` when the process is asked to stop. */
  readonly signal: AbortSignal;
}
