import type { ProxyOptions } from '../../api/http/connections.ts';
import type { Clock } from '../../core/clock.ts';

/** What pings and notifications need of their surroundings. */
export interface NotifyContext {
  readonly clock: Clock;
  readonly proxy: ProxyOptions | null;
  /** Aborted when the process is asked to stop. */
  readonly signal: AbortSignal;
  /** Logs a problem that changes neither the data nor the exit code. */
  warn(message: string, hint: string): void;
}
