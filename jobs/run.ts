import type { Retry } from '../src/api/transport/transport.ts';
import { FIRST_DAY, type UtcDay, yesterdayOf } from '../src/core/day.ts';
import { UsageError } from '../src/core/errors.ts';
import { EXIT } from '../src/core/exit-code.ts';
import type { JobContext } from '../src/core/job-context.ts';
import { packageVersion } from '../src/core/package.ts';
import type { Reason } from '../src/core/reasons.ts';
import type { Stream } from '../src/core/stream.ts';
import { drainDuringRun } from '../src/hooks/drain/drain-during-run.ts';
import type { RunEvent, RunReport } from '../src/pipeline/events.ts';
import type { PlanRequest } from '../src/pipeline/plan.ts';
import { runUnits } from '../src/pipeline/run/run.ts';
import { privacyOf } from '../src/privacy/email.ts';
import { openTransport } from '../src/settings/open-transport.ts';
import { requireApi } from '../src/settings/require-api.ts';
import type { Settings } from '../src/settings/settings.ts';
import { expectEmailSalt } from '../src/warehouse/email-salt.ts';
import { takeLock } from '../src/warehouse/take-lock.ts';
import { withWarehouse } from '../src/warehouse/with-warehouse.ts';

export interface ExportRequest {
  /** The command, as the ledger records it: `run`, `backfill` or `demo`. */
  readonly command: string;
  /** @default the first day of the service */
  readonly from?: UtcDay | undefined;
  /** @default yesterday (UTC) */
  readonly until?: UtcDay | undefined;
  readonly streams: readonly Stream[];
  /** Pull settled units too. */
  readonly force: boolean;
  readonly newestFirst: boolean;
  /**
   * Accept doubted losses, unless more rows are missing now than when they were doubted.
   * @default false
   */
  readonly acceptLoss?: boolean;
  /** Wait for another run to end instead of failing with exit code 75. */
  readonly wait: boolean;
  /**
   * Hash emails with another salt than before.
   * @default false, which refuses another salt
   */
  readonly newEmailSalt?: boolean;
}

/** How many settled days every run compares, unless the settings say otherwise. */
export const WATCH_DAYS = 31;

/**
 * Pulls and commits every unit that is not settled, and the readiness reports. May be repeated at will.
 * @throws {DaywalkError} when the run cannot begin; later failures are in the report.
 */
export function runExport(
  settings: Settings,
  request: ExportRequest,
  context: JobContext<RunEvent>,
): Promise<RunReport> {
  const api = requireApi(settings);
  const { clock, observe } = context;
  const warn = (message: string, hint: string, reason?: Reason) =>
    observe({ type: 'warning', message, hint, reason });
  const onRetry = (retry: Retry) => observe({ type: 'retry', ...retry });
  return withWarehouse(settings.warehouse, { ...context, warn, create: true }, async (warehouse) => {
    const lock = await takeLock(warehouse, { ...context, warn, wait: request.wait });
    const transport = openTransport(settings, api, { clock, onRetry });
    try {
      await expectEmailSalt(warehouse, settings.emails, request.newEmailSalt);
      await drainDuringRun(warehouse, settings, context);
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
      // Events may have arrived meanwhile, and the first pull has found the organization of earlier ones.
      await drainDuringRun(warehouse, settings, context);
      if (report.orgId === null && isMistake(report)) await warehouse.discardNew();
      return report;
    } finally {
      await transport.close();
      await lock.release();
    }
  });
}

/**
 * The days and streams of an export.
 * @throws {UsageError} when there is no day in the range.
 */
export function planRequest(request: ExportRequest, { clock }: Pick<JobContext, 'clock'>): PlanRequest {
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

/** True when the key or the URL was wrong. A warehouse that such a run created is discarded. */
function isMistake({ exitCode }: RunReport): boolean {
  return exitCode === EXIT.credential || exitCode === EXIT.usage;
}
