import type { ExportRequest } from '../../jobs/run.ts';
import { type RoundReport, runRound } from '../../jobs/run-round.ts';
import type { JobContext } from '../core/job-context.ts';
import type { RunEvent } from '../pipeline/events.ts';
import type { Settings } from '../settings/settings.ts';

/**
 * Something that is informed of every round: pings, notifications, the metrics file. It must not throw, and it must return
 * within a few seconds, because the round waits for it.
 */
export interface RoundListener {
  /** Is called before the first organization is exported. */
  begin?(): Promise<void>;
  /** Receives each event of the export while it works. Must return at once. */
  observe?(event: RunEvent): void;
  /** Is called with the result of the round, also if it failed. */
  end?(report: RoundReport): Promise<void>;
}

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
