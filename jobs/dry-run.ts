import type { JobContext } from '../src/core/clock.ts';
import { dayOf, type UtcDay } from '../src/core/day.ts';
import { NoWarehouseError } from '../src/core/errors.ts';
import { isDailyStream, STREAMS, type Stream } from '../src/core/stream.ts';
import { onlyOrganization, readNames } from '../src/organizations/index.ts';
import {
  type AskedFacts,
  type DurationForecast,
  type ForecastFacts,
  forecastDuration,
  forecastRequests,
  NOTHING_KNOWN,
  type PlanRequest,
  type planUnits,
  type RunEvent,
  readFacts,
} from '../src/pipeline/index.ts';
import type { Warehouse } from '../src/port/index.ts';
import { type RunRecord, readRuns } from '../src/records/index.ts';
import type { Settings } from '../src/settings/index.ts';
import { readWarehouse } from '../src/warehouse/index.ts';
import { chooseOrganizations } from './organizations.ts';
import { type ExportRequest, planRequest } from './run.ts';

export interface ExportForecast {
  /** Null if the warehouse holds no organization, or several and none is named. */
  readonly orgId: string | null;
  readonly firstDay: UtcDay;
  readonly lastDay: UtcDay;
  readonly units: number;
  readonly unitsByStream: Readonly<Partial<Record<Stream, number>>>;
  /** Requests expected, without retries. */
  readonly requests: number;
  /** True until a run has recorded how many users and reports there are and which ranges the service allows. */
  readonly isEstimate: boolean;
  /** Milliseconds expected; null until a run has ended. */
  readonly durationMs: number | null;
  /** True until a run with a similar number of requests has ended. */
  readonly isDurationEstimate: boolean;
}

/** Recent runs that the duration is estimated from. */
const PACE_RUNS = 10;

/** What a round would do for one organization of the organizations file. */
export interface NamedForecast {
  readonly name: string;
  readonly forecast: ExportForecast;
}

/**
 * Forecasts a run of every organization of the organizations file, or of the one that was asked for.
 * @throws {UsageError} as {@link forecastExport}, and if the file has no organization of the requested name.
 */
export async function forecastRound(
  settings: Settings,
  asked: ExportRequest,
  context: JobContext<RunEvent>,
): Promise<NamedForecast[]> {
  const forecasts: NamedForecast[] = [];
  for (const { name } of chooseOrganizations(settings, asked.organization)) {
    forecasts.push({ name, forecast: await forecastExport(settings, asked, context, name) });
  }
  return forecasts;
}

/**
 * Forecasts a run from the warehouse alone: sends no request and writes nothing.
 * @param name the name of the organization in the organizations file; without one, it is that of the key.
 * @throws {UsageError} if the location holds something other than a warehouse.
 */
export function forecastExport(
  settings: Settings,
  asked: ExportRequest,
  context: JobContext<RunEvent>,
  name?: string,
): Promise<ExportForecast> {
  const request = planRequest(asked, context);
  const facts: AskedFacts = {
    request,
    now: context.clock.now(),
    settleDays: settings.settleDays,
    today: dayOf(context.clock.now()),
    rangeDays: settings.rangeDays,
    concurrency: settings.concurrency,
    isNamed: settings.orgId !== null,
  };
  const known = readWarehouse(settings.warehouse, { clock: context.clock }, async (warehouse) => {
    const orgId = settings.orgId ?? (await knownOrganization(warehouse, name));
    const runs = await readRuns(warehouse, PACE_RUNS);
    if (orgId === null) return forecastOf(null, { ...facts, ...NOTHING_KNOWN }, runs);
    return forecastOf(orgId, await readFacts(warehouse, orgId, facts, settings), runs);
  });
  return known.catch((error: unknown) => {
    if (!(error instanceof NoWarehouseError)) throw error;
    return forecastOf(settings.orgId, { ...facts, ...NOTHING_KNOWN }, []);
  });
}

async function knownOrganization(warehouse: Warehouse, name: string | undefined): Promise<string | null> {
  if (name === undefined) return onlyOrganization(warehouse);
  return (await readNames(warehouse)).find((known) => known.name === name)?.orgId ?? null;
}

function forecastOf(orgId: string | null, facts: ForecastFacts, runs: readonly RunRecord[]): ExportForecast {
  const { request, ledger } = facts;
  const { plan, requests } = forecastRequests(facts);
  const duration: DurationForecast | null = forecastDuration(runs, requests);
  return {
    orgId,
    firstDay: request.firstDay,
    lastDay: request.lastDay,
    units: plan.units.length + Number(plan.readiness),
    unitsByStream: Object.fromEntries(
      STREAMS.map((stream) => [stream, unitsOf(stream, plan)] as const).filter(([, units]) => units > 0),
    ),
    requests,
    isEstimate: ledger.length === 0 || !isLearned(request, facts),
    durationMs: duration?.durationMs ?? null,
    isDurationEstimate: duration?.isEstimate ?? true,
  };
}

function unitsOf(stream: Stream, plan: ReturnType<typeof planUnits>): number {
  return stream === 'readiness'
    ? Number(plan.readiness)
    : plan.units.filter((unit) => unit.stream === stream).length;
}

/** True once every requested stream was pulled, so that its size is known. */
function isLearned({ streams }: PlanRequest, { ledger }: ForecastFacts): boolean {
  return streams.every((stream) =>
    ledger.some((unit) => unit.stream === stream && (unit.rows > 0 || !isDailyStream(stream))),
  );
}
