import { emulateService } from '../../../jobs/emulate.ts';
import { parseDay } from '../../core/day.ts';
import { stopCode } from '../process/stop-signals.ts';
import type { Action } from '../program/command.ts';

const BOUNDS = {
  port: { min: 0, max: 65_535 },
  seed: { min: 0, max: 2 ** 31 - 1 },
  users: { min: 0, max: 1_000_000 },
  reports: { min: 0, max: 1_000_000 },
  latencyMs: { min: 0, max: 600_000 },
  journal: { min: 0, max: 100_000 },
} as const;

/** Prints one line of JSON when the service listens, then serves until a signal. */
export const emulateAction: Action = async ({ flags, job, out, log, settings }) => {
  await emulateService(
    {
      port: flags.number('--port', BOUNDS.port) ?? 0,
      host: flags.text('--host'),
      token: settings.emulateToken ?? undefined,
      seed: flags.number('--seed', BOUNDS.seed),
      users: flags.number('--users', BOUNDS.users),
      reports: flags.number('--reports', BOUNDS.reports),
      today: flags.parse('--today', parseDay),
      apiKey: flags.text('--api-key'),
      latencyMs: flags.number('--latency-ms', BOUNDS.latencyMs),
      journalEntriesMax: flags.number('--journal', BOUNDS.journal),
      rulesFile: flags.text('--rules'),
      quirksFile: flags.text('--quirks'),
      realistic: flags.isOn('--realistic'),
      daysFile: flags.text('--days'),
      archive: flags.text('--archive'),
      organization: flags.text('--organization'),
    },
    job,
    (service) => {
      out.line(service);
      if (settings.log === 'pretty') {
        log.write({
          level: 'info',
          event: 'listening',
          message: `serving until stopped; the journal of requests is at ${service.url}/__admin/journal`,
        });
      }
    },
  );
  return stopCode(job.signal);
};
