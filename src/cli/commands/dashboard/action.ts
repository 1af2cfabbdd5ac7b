import { serveDashboard } from '../../../../jobs/dashboard.ts';
import { DaywalkError, UsageError } from '../../../core/errors.ts';
import { EXIT } from '../../../core/exit-code.ts';
import { SETTINGS } from '../../../settings/settings-table.ts';
import type { Flags } from '../../arguments/flags.ts';
import { limitHeapGrowth } from '../../process/heap-growth.ts';
import type { Action } from '../../program/command.ts';
import { failureOf } from '../../program/failure.ts';
import { hintOf } from '../../remedies.ts';

/** Keeps the process below 200 MB with 3,000 users and 310 days. */
const HEAP_GROWTH_PERCENT = 20;
const PORT_BOUNDS = { min: 0, max: 65_535 } as const;

/** Prints the address when the dashboard listens, then serves until a signal. */
export const act: Action = async ({ flags, job, out, log, settings, reading }) => {
  // Every page leaves tens of megabytes of markup and drawings behind.
  limitHeapGrowth(HEAP_GROWTH_PERCENT);
  const port = portOf(flags);
  const report = (error: unknown, path: string) => {
    const { message, hint, stack } = failureOf(error);
    const fields = { path, ...(reading.debug ? { stack } : {}) };
    log.write({
      level: 'error',
      event: 'page-failed',
      message,
      hint: hint === '' ? undefined : hint,
      fields,
    });
  };
  await serveDashboard(settings, { port }, { ...job, hintOf, report }, (url) => {
    out.show({ url }, () => [url]);
  });
  const reason: unknown = job.signal.reason;
  return reason instanceof DaywalkError ? reason.exitCode : EXIT.ok;
};

function portOf(flags: Flags): number | undefined {
  const port = flags.number('--port', PORT_BOUNDS);
  const listen = SETTINGS.dashboardListen.flag;
  if (port === undefined || listen === null || flags.text(listen) === undefined) return port;
  throw new UsageError(`--port and ${listen} exclude each other`, {
    hint: `${listen} HOST:PORT names both`,
  });
}
