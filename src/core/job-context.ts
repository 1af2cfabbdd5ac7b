import type { RunEvent } from '../pipeline/events.ts';
import type { Clock } from './clock.ts';

/** What an entry point hands to a job besides the settings. */
export interface JobContext<Event = RunEvent> {
  readonly clock: Clock;
  /** Receives what the job reports while it works. */
  readonly observe: (event: Event) => void;
  /** Aborted with a `StoppedError` when the process was asked to stop. */
  readonly signal: AbortSignal;
}
