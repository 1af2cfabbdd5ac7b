import type { RoundListener } from '../../jobs/round.ts';
import { commonFailure, type RoundReport, runRound } from '../../jobs/round.ts';
import type { ExportRequest } from '../../jobs/run.ts';
import type { JobContext } from '../core/clock.ts';
import { adviceOf, messageOf, StoppedError } from '../core/errors.ts';
import { EXIT, type ExitCode } from '../core/exit-code.ts';
import type { RunEvent } from '../pipeline/index.ts';
import type { Settings } from '../settings/index.ts';
import type { Action, Schedule } from './schedule.ts';
import { failureOf, type ServeEvent, type ServiceRecord } from './service-state.ts';

/** Performs a round, and informs the listeners of its beginning, its events and its end. */
export async function performRound(
  settings: Settings,
  request: ExportRequest,
  context: JobContext<RunEvent>,
  listeners: readonly RoundListener[],
): Promise<RoundReport> {
  await Promise.all(listeners.map((listener) => listener.begin?.()));
  const observe = (event: RunEvent) => {
    for (const listener of listeners) listener.observe?.(event);
    context.observe(event);
  };
  const report = await runRound(settings, request, { ...context, observe });
  await Promise.all(listeners.map((listener) => listener.end?.(report)));
  return report;
}

/**
 * The round of the service: what `daywalk run` does. It waits for the run of another program, up to a day, so that no tick
 * is lost to a backfill.
 */
const REQUEST = { command: 'run', force: false, newestFirst: false, wait: true } as const;

/** What a round of the service needs. */
export interface TickParts {
  readonly context: JobContext<RunEvent | ServeEvent>;
  readonly state: ServiceRecord;
  readonly schedule: Schedule;
  readonly listeners: readonly RoundListener[];
  /** The settings at the start. */
  readonly settings: Settings;
  /** Reads the settings again; is called before each round, so that a new key needs no restart. */
  readonly readSettings: () => Settings;
  /** How old the last complete export may become before the next one. */
  readonly maxAgeSeconds: number;
}

/** Creates the function that performs the round of a tick. It never throws: what went wrong is reported. */
export function createTickWork(parts: TickParts) {
  const { context, state, schedule, listeners, settings: first } = parts;
  const { clock, observe, signal } = context;
  let settings = first;
  const request = { ...REQUEST, memory: state.memory, maxAgeSeconds: parts.maxAgeSeconds };
  const refreshed = (): Settings => {
    try {
      settings = parts.readSettings();
    } catch (error) {
      // A key file may be replaced at this moment. The round shows whether the former key still works.
      observe(failureOf('read the settings again', error));
    }
    return settings;
  };
  const perform = (): Promise<RoundReport> => {
    const moved = (event: RunEvent) => {
      state.moved();
      observe(event);
    };
    // A round that still waits at the next tick would take its time.
    const waitUntil = schedule.next(clock.now());
    return performRound(refreshed(), { ...request, waitUntil }, { clock, signal, observe: moved }, listeners);
  };
  return async ({ tick }: Action & { readonly kind: 'run' }): Promise<void> => {
    const lateMs = tick === null ? 0 : clock.now().getTime() - tick.getTime();
    observe({ type: 'tick', tickAt: tick?.toISOString() ?? null, lateMs });
    const sinceMs = clock.monotonicMs();
    let exitCode: ExitCode = EXIT.defect;
    try {
      const report = await perform();
      state.ended(report);
      reportFailure(report, observe);
      exitCode = report.exitCode;
    } catch (error) {
      state.broke();
      observe(failureOf('perform the round', error));
    }
    observe({ type: 'round-ended', exitCode, durationMs: clock.monotonicMs() - sinceMs });
  };
}

/** A round of which a part began reports its problems itself. */
function reportFailure(report: RoundReport, observe: (event: ServeEvent) => void): void {
  const failure = commonFailure(report);
  if (failure === null || failure.error instanceof StoppedError) return;
  const { error } = failure;
  observe({ type: 'round-failed', exitCode: report.exitCode, error: messageOf(error), ...adviceOf(error) });
}
