import { systemRandom } from '../../core/clock.ts';
import { DaywalkError, UsageError } from '../../core/errors.ts';
import { EXIT } from '../../core/exit-code.ts';
import { createMetrics, createServiceMetrics } from '../../serve/metrics/metrics.ts';
import { notifyListeners } from '../../serve/notify/notify.ts';
import { parseSchedule, type Schedule } from '../../serve/schedule.ts';
import { type ServiceView, serve } from '../../serve/serve.ts';
import { limitHeapGrowth } from '../process/stop-signals.ts';
import type { Action } from '../program/command.ts';

/** Prints the address when the service listens, then serves until a signal. */
export const serveAction: Action = async ({ job, out, log, settings, rereadSettings }) => {
  limitHeapGrowth();
  const { serveJitter: jitterMs, serveListen: listen } = settings;
  const schedule = parseSchedule(settings.serveSchedule);
  refuseLongJitter(schedule, jitterMs);
  if (settings.now !== null) {
    log.write({
      level: 'warn',
      event: 'settings',
      message: `the clock stands still at ${settings.now.toISOString()}: no run follows the first one`,
      hint: 'unset DAYWALK_NOW for a schedule',
    });
  }
  let current = settings;
  const metrics = createMetrics({ clock: job.clock, settings: () => current });
  const serviceText = createServiceMetrics();
  const options = {
    schedule,
    jitterMs,
    listen,
    settings,
    readSettings: () => {
      current = rereadSettings();
      return current;
    },
    listeners: [...notifyListeners(settings, job), metrics.listener],
    metricsText: async ({ warehouse, state }: ServiceView) =>
      `${await metrics.text(warehouse)}\n${await serviceText(state)}`,
    seed: systemRandom(),
  };
  await serve(options, job, (url) => out.show({ url }, () => [url]));
  const reason: unknown = job.signal.reason;
  return reason instanceof DaywalkError ? reason.exitCode : EXIT.ok;
};

/** A longer one would make a tick late for the next one. */
function refuseLongJitter({ text, shortestGapMs }: Schedule, jitterMs: number): void {
  if (jitterMs < shortestGapMs) return;
  throw new UsageError(`the jitter is as long as the shortest gap of the schedule "${text}", or longer`, {
    hint: `choose a shorter --jitter, less than ${shortestGapMs / 60_000}m`,
  });
}
