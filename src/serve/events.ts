import { adviceOf, messageOf } from '../core/errors.ts';
import type { ExitCode } from '../core/exit-code.ts';
import type { Advice } from '../core/reasons.ts';

/** An event of the service, besides those of its runs. Instants are ISO texts. */
export type ServeEvent =
  | { readonly type: 'serving'; readonly url: string; readonly schedule: string }
  /** Nothing is due before this instant. */
  | { readonly type: 'schedule-waits'; readonly nextRunAt: string }
  /** A round begins. */
  | {
      readonly type: 'tick';
      /** The oldest tick that it is for; null for the first round. */
      readonly tickAt: string | null;
      readonly lateMs: number;
    }
  | ({
      /** No organization could be exported, for example because the warehouse cannot be opened. */
      readonly type: 'round-failed';
      readonly exitCode: ExitCode;
      readonly error: string;
    } & Advice)
  | { readonly type: 'round-ended'; readonly exitCode: ExitCode; readonly durationMs: number }
  /** Something failed that no run reports. The service goes on. */
  | ({ readonly type: 'serve-failed'; readonly doing: string; readonly error: string } & Advice);

/** A failure that no run reports, as an event. */
export function failureOf(doing: string, error: unknown): ServeEvent {
  return { type: 'serve-failed', doing, error: messageOf(error), ...adviceOf(error) };
}
