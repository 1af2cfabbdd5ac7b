import { FIRST_DAY, type UtcDay, yesterdayOf } from '../src/core/day.ts';
import { NoWarehouseError, UsageError } from '../src/core/errors.ts';
import { packageVersion } from '../src/core/package.ts';
import { STREAMS, type Stream } from '../src/core/stream.ts';
import type { RunReport } from '../src/pipeline/events.ts';
import { type PlanRequest, planUnits } from '../src/pipeline/plan.ts';
import { privacyOf } from '../src/pipeline/privacy.ts';
import { runUnits } from '../src/pipeline/run/run.ts';
import { requireApi } from '../src/settings/require-api.ts';
import type { Settings } from '../src/settings/settings.ts';
import type { LedgerUnit, RunRecord, Warehouse } from '../src/warehouse/port.ts';
import type { JobContext } from './context.ts';
import { drainAlongside } from './drain-hooks.ts';
import { expectEmailSalt } from './email-salt.ts';
import { openTransport } from './open-transport.ts';
import { takeLock, withWarehouse } from './open-warehouse.ts';

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

/** What an export would do. */
export interface ExportForecast {
  /** Null while the warehouse knows no organization, or several, and none is named. */
  readonly orgId: string | null;
  readonly firstDay: UtcDay;
  readonly lastDay: UtcDay;
  readonly units: number;
  readonly unitsByStream: Readonly<Partial<Record<Stream, number>>>;
  /** Requests expected, page walks estimated from what the warehouse holds. */
  readonly requests: number;
  /** Milliseconds expected, from the pace of earlier runs; null without one. */
  readonly durationMs: number | null;
}

/** Settled days that are compared in every run, unless the settings say otherwise. */
const WATCH_DAYS = 31;
/** Requests that comparing settled days takes, where the service answers long ranges of days. */
const WATCH_REQUESTS = 5;
/** Runs whose pace a forecast looks at. */
const PACE_RUNS = 10;

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
      return report;
    } finally {
      await transport.close();
      await lock.release();
    }
  });
}

/**
 * Says what {@link runExport} would do, from the warehouse alone: sends no request and writes nothing.
 * @throws {UsageError} when there is a warehouse and it cannot be read as one.
 */
export function forecastExport(
  settings: Settings,
  request: ExportRequest,
  context: JobContext,
): Promise<ExportForecast> {
  const plan = planRequest(request, context);
  const held = withWarehouse(
    settings.warehouse,
    { clock: context.clock, create: false },
    async (warehouse) => {
      const orgId = settings.orgId ?? (await onlyOrganization(warehouse));
      const ledger = orgId === null ? [] : await warehouse.units(orgId);
      return forecast(plan, orgId, ledger, await warehouse.runs(PACE_RUNS), settings.watchDays ?? WATCH_DAYS);
    },
  );
  return held.catch((error: unknown) => {
    if (error instanceof NoWarehouseError) return forecast(plan, settings.orgId ?? null, [], [], 0);
    throw error;
  });
}

function planRequest(request: ExportRequest, { clock }: JobContext): PlanRequest {
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

async function onlyOrganization(warehouse: Warehouse): Promise<string | null> {
  const known = await warehouse.organizations();
  return known.length === 1 ? (known[0] ?? null) : null;
}

function forecast(
  request: PlanRequest,
  orgId: string | null,
  ledger: readonly LedgerUnit[],
  runs: readonly RunRecord[],
  watchDays: number,
): ExportForecast {
  const plan = planUnits(request, ledger);
  const counts = STREAMS.map((stream) => {
    const units =
      stream === 'readiness'
        ? Number(plan.readiness)
        : plan.units.filter((unit) => unit.stream === stream).length;
    return { stream, units };
  }).filter(({ units }) => units > 0);
  const requests = counts.reduce(
    (sum, { stream, units }) => sum + units * requestsPerUnit(stream, ledger),
    0,
  );
  const isWatching = watchDays > 0 && ledger.some(({ settledAt }) => settledAt !== null);
  const watching = isWatching && !request.force ? WATCH_REQUESTS : 0;
  const pace = millisecondsPerRequest(runs);
  return {
    orgId,
    firstDay: request.firstDay,
    lastDay: request.lastDay,
    units: plan.units.length + Number(plan.readiness),
    unitsByStream: Object.fromEntries(counts.map(({ stream, units }) => [stream, units])),
    requests: Math.ceil(requests + watching),
    durationMs: pace === null ? null : Math.round((requests + watching) * pace),
  };
}

/** What a unit of the stream took so far, on average: less than one with ranges. One where nothing is known. */
function requestsPerUnit(stream: Stream, ledger: readonly LedgerUnit[]): number {
  const pulled = ledger.filter((unit) => unit.stream === stream && unit.attempts > 0);
  const attempts = pulled.reduce((sum, unit) => sum + unit.attempts, 0);
  const requests = pulled.reduce((sum, unit) => sum + unit.requests, 0);
  return attempts === 0 ? 1 : requests / attempts;
}

function millisecondsPerRequest(runs: readonly RunRecord[]): number | null {
  const ended = runs.filter((run) => run.endedAt !== null && run.requests > 0);
  const requests = ended.reduce((sum, run) => sum + run.requests, 0);
  const ms = ended.reduce((sum, run) => sum + Date.parse(run.endedAt ?? '') - Date.parse(run.startedAt), 0);
  return requests === 0 || ms <= 0 ? null : ms / requests;
}
