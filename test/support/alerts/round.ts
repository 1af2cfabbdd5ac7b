import type { RoundListener, RoundReport } from '../../../jobs/round.ts';
import type { ExportRequest } from '../../../jobs/run.ts';
import type { UtcDay } from '../../../src/core/day.ts';
import { STREAMS } from '../../../src/core/stream.ts';
import type { RunEvent } from '../../../src/pipeline/events.ts';
import { notifyListeners } from '../../../src/serve/alerts/alerts.ts';
import { performRound } from '../../../src/serve/perform-round.ts';
import type { Settings } from '../../../src/settings/settings.ts';
import { contextOf, type Rig } from '../rig/rig.ts';

/** A round, what it logged, and how long its listeners delayed it. */
export interface Rounded {
  readonly report: RoundReport;
  readonly events: readonly RunEvent[];
  readonly warnings: readonly string[];
  readonly delayMs: number;
}

/** Its limits add up to less than five seconds; without one of them a round would wait for ten or more. */
export const DELAY_MS_MAX = 8_000;

export interface RoundOptions {
  readonly now?: UtcDay;
  /** The settings of pings and notifications. */
  readonly alerts?: Partial<Settings>;
  readonly settings?: Partial<Settings>;
  readonly request?: Partial<ExportRequest>;
  readonly signal?: AbortSignal;
  /** The listeners of an earlier round, as a service keeps them. @default new ones */
  readonly listeners?: RoundListener[];
}

/** Performs a round with pings and notifications over a rig, at 03:00 UTC. */
export async function round(rig: Rig, options: RoundOptions = {}): Promise<Rounded> {
  const settings = { ...rig.settings, ...options.settings, ...options.alerts };
  const events: RunEvent[] = [];
  const job = contextOf(options.now ?? rig.today, (event) => void events.push(event), options.signal);
  const delay = { ms: 0 };
  const listeners = timed(options.listeners ?? notifyListeners(settings, job), delay);
  const request = { command: 'run', streams: STREAMS, force: false, newestFirst: false, wait: false };
  const report = await performRound(settings, { ...request, ...options.request }, job, listeners);
  const warnings = events.flatMap((event) => (event.type === 'warning' ? [event.message] : []));
  return { report, events, warnings, delayMs: delay.ms };
}

/** Measures how long a round waits for its listeners. */
function timed(listeners: readonly RoundListener[], delay: { ms: number }): RoundListener[] {
  const together: RoundListener = {
    begin: async () => {
      const before = performance.now();
      await Promise.all(listeners.map((listener) => listener.begin?.()));
      delay.ms += performance.now() - before;
    },
    observe: (event) => {
      for (const listener of listeners) listener.observe?.(event);
    },
    end: async (report) => {
      const before = performance.now();
      await Promise.all(listeners.map((listener) => listener.end?.(report)));
      delay.ms += performance.now() - before;
    },
  };
  return [together];
}
