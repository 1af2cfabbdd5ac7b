import { FIRST_DAY, type UtcDay, yesterdayOf } from '../src/core/day.ts';
import { UsageError } from '../src/core/errors.ts';
import { EXIT } from '../src/core/exit-code.ts';
import type { JobContext } from '../src/core/job-context.ts';
import { packageVersion } from '../src/core/package.ts';
import type { Stream } from '../src/core/stream.ts';
import { drainAlongside } from '../src/hooks/drain/drain.ts';
import type { RunReport } from '../src/pipeline/events.ts';
import type { PlanRequest } from '../src/pipeline/plan.ts';
import { runUnits } from '../src/pipeline/run/run.ts';
import { privacyOf } from '../src/privacy/email.ts';
import { openTransport } from '../src/settings/open-transport.ts';
import { requireApi } from '../src/settings/require-api.ts';
import type { Settings } from '../src/settings/settings.ts';
import { expectEmailSalt } from '../src/warehouse/email-salt.ts';
import { takeLock, withWarehouse } from '../src/warehouse/with-warehouse.ts';

/** What an export is asked to do. */
export interface ExportRequest {
  /** Name for the ledger: `run`, `backfill` or `demo`. */
  readonly command: string;
  /** First day; the first day of the service unless given. */
  readonly from?: UtcDay | undefined;
  /** Last day; yesterday (UTC) unless given. */
  readonly until?: UtcDay | undefined;
  readonly streams: readonly Stream[];
  /** Pull settled units too. */
  readonly force: boolean;
  readonly newestFirst: boolean;
  /** Accept losses that are doubted, as far as they are no larger now. Default: false. */
  readonly acceptLoss?: boolean;
  /** Wait for another run to end instead of failing with exit code 75. */
  readonly wait: boolean;
  /** Emails are hashed with another salt than before from now on. Default: false, which refuses another salt. */
  readonly newEmailSalt?: boolean;
}

/** Settled days that are compared in every run, unless the settings say otherwise. */
export const WATCH_DAYS = 31;

/**
 * Plans, pulls and commits every unit that is not settled, and the readiness reports. May be repeated at will.
 * @throws {DaywalkError} when it could not begin; what happens after that is in the report.
 */
export function runExport(
  settings: Settings,
  request: ExportRequest,
  context: JobContext,
): Promise<RunReport> {
  const api = requireApi(settings);
  const warn = (message: string, hint: string) => context.observe({ type: 'warning', message, hint });
  return withWarehouse(settings.warehouse, { ...context, warn, create: true }, async (warehouse) => {
    const lock = await takeLock(warehouse, { ...context, warn, wait: request.wait });
    const transport = openTransport(settings, api, context);
    try {
      await expectEmailSalt(warehouse, settings.emails, request.newEmailSalt);
      await drainAlongside(warehouse, settings, context);
      const report = await runUnits({
        ...planRequest(request, context),
        command: request.command,
        source: { transport, hosts: api },
        orgId: settings.orgId ?? null,
        hasAppKey: api.appApiKey !== null,
        warehouse,
        lock,
        clock: context.clock,
        privacy: privacyOf(settings.emails),
        concurrency: settings.concurrency,
        rangeDays: settings.rangeDays,
        settleDays: settings.settleDays,
        watchDays: settings.watchDays ?? WATCH_DAYS,
        acceptLoss: request.acceptLoss ?? false,
        versions: { daywalk: packageVersion(), node: process.versions.node },
        observe: context.observe,
        signal: context.signal,
      });
      // What came in meanwhile; and after a first pull the organization of all events is known.
      await drainAlongside(warehouse, settings, context);
      if (report.orgId === null && isMistake(report)) await warehouse.discardNew();
      return report;
    } finally {
      await transport.close();
      await lock.release();
    }
  });
}

/** The days and streams that an export is about. */
export function planRequest(request: ExportRequest, { clock }: JobContext): PlanRequest {
  const firstDay = request.from ?? FIRST_DAY;
  const lastDay = request.until ?? yesterdayOf(clock.now());
  if (lastDay < firstDay) {
    throw new UsageError(`there is no day from ${firstDay} to ${lastDay}`, {
      hint: `the service has data from ${FIRST_DAY} to yesterday (UTC), which is ${yesterdayOf(clock.now())} now`,
    });
  }
  return {
    firstDay,
    lastDay,
    streams: request.streams,
    force: request.force,
    newestFirst: request.newestFirst,
  };
}

/** True where the key or the URL was wrong: what a mistake created should not look like a warehouse. */
function isMistake({ exitCode }: RunReport): boolean {
  return exitCode === EXIT.credential || exitCode === EXIT.usage;
}
