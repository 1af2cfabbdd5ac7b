import { expectPlace } from '../src/archive/index.ts';
import type { JobContext } from '../src/core/clock.ts';
import { dayOf, type UtcDay } from '../src/core/day.ts';
import { NoWarehouseError } from '../src/core/errors.ts';
import { isDailyStream, STREAMS, type Stream } from '../src/core/stream.ts';
import { type Contract, contractAfter, storedContract } from '../src/expected/index.ts';
import { onlyOrganization, readNames } from '../src/organizations/index.ts';
import {
  type AskedFacts,
  type DurationForecast,
  type ForecastFacts,
  forecastDuration,
  forecastRequests,
  NOTHING_KNOWN,
  type planUnits,
  type RunEvent,
  readFacts,
  requestUnder,
} from '../src/pipeline/index.ts';
import { expectIdentity, notToBeCreated } from '../src/places/index.ts';
import { checkEmailSalt, expectPolicy } from '../src/policy/index.ts';
import { runReads, type Warehouse } from '../src/port/index.ts';
import { usersOf } from '../src/privacy/index.ts';
import { type RunRecord, readRuns } from '../src/records/index.ts';
import type { Settings } from '../src/settings/index.ts';
import { expectWritable, readWarehouse } from '../src/warehouse/index.ts';
import { chooseOrganizations, requireApi, settingsFor } from './access.ts';
import { keptUsersFrom, requireArchive, usersFromOfRun } from './archive.ts';
import { askedPlan, type ExportRequest } from './run.ts';

export interface ExportForecast {
  /** Null if the warehouse holds no organization, or several and none is named. */
  readonly orgId: string | null;
  readonly firstDay: UtcDay;
  readonly lastDay: UtcDay;
  readonly units: number;
  readonly unitsByStream: Readonly<Partial<Record<Stream, number>>>;
  /** Planned days of which nothing is stored yet. */
  readonly newDays: number;
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
  context: Pick<JobContext, 'clock'>,
  name?: string,
): Promise<ExportForecast> {
  const forecast = (warehouse: Warehouse | null) =>
    forecastFrom(warehouse, settings, asked, { ...context, name });
  return readWarehouse(settings.warehouse, { clock: context.clock }, forecast).catch((error: unknown) => {
    if (!(error instanceof NoWarehouseError)) throw error;
    return forecast(null);
  });
}

/**
 * As {@link forecastExport}, from a warehouse that is open.
 * @param warehouse null if there is none yet.
 */
export async function forecastFrom(
  warehouse: Warehouse | null,
  settings: Settings,
  asked: ExportRequest,
  context: Pick<JobContext, 'clock'> & { readonly name?: string | undefined },
): Promise<ExportForecast> {
  const plan = askedPlan(settings, asked, context);
  const withoutUsers = usersOf(settings.emails) === 'none';
  const { firstDay, streams } = settings;
  const usersFrom =
    warehouse === null
      ? keptUsersFrom(settings, context.clock)
      : await usersFromOfRun(warehouse, settings, context.clock);
  const ofSettings = { firstDay, streams, maxAgeSeconds: null, withoutUsers, usersFrom };
  const factsUnder = (stored: Contract | null): AskedFacts => ({
    request: requestUnder(contractAfter(stored, ofSettings), plan),
    now: context.clock.now(),
    settleDays: settings.settleDays,
    today: dayOf(context.clock.now()),
    rangeDays: settings.rangeDays,
    concurrency: settings.concurrency,
    isNamed: settings.orgId !== null,
  });
  if (warehouse === null) return forecastOf(settings.orgId, { ...factsUnder(null), ...NOTHING_KNOWN }, []);
  const orgId = settings.orgId ?? (await knownOrganization(warehouse, context.name));
  const runs = await readRuns(warehouse, PACE_RUNS);
  if (orgId === null) return forecastOf(null, { ...factsUnder(null), ...NOTHING_KNOWN }, runs);
  const stored = (await runReads(warehouse, storedContract(orgId)))?.contract ?? null;
  return forecastOf(orgId, await readFacts(warehouse, orgId, factsUnder(stored), settings), runs);
}

/**
 * Makes sure that a run could begin, as far as that shows without a request. Writes nothing.
 * @throws {DaywalkError} what the run would throw: a setting is missing, the warehouse cannot be written or created, or it or
 * the archive is not the one of the last run.
 */
export async function expectStart(
  settings: Settings,
  asked: Pick<ExportRequest, 'organization'>,
  context: Pick<JobContext, 'clock' | 'signal'>,
): Promise<void> {
  const chosen = chooseOrganizations(settings, asked.organization);
  if (settings.organizationsFile === null) requireApi(settings);
  for (const organization of chosen) requireApi(settingsFor(settings, organization));
  const compare = (warehouse: Warehouse | null) => expectUsable(warehouse, settings);
  await readWarehouse(settings.warehouse, context, compare).catch((error: unknown) => {
    if (!(error instanceof NoWarehouseError)) throw error;
    if (settings.create === 'never') throw notToBeCreated(error);
    return compare(null);
  });
}

async function expectUsable(warehouse: Warehouse | null, settings: Settings): Promise<void> {
  await expectWritable(settings.warehouse);
  if (settings.archives.length > 0)
    await expectPlace(requireArchive(settings), { people: settings.emails, warehouse });
  await expectIdentity(warehouse, settings, { warn: () => undefined });
  if (warehouse === null) return;
  await checkEmailSalt(warehouse, settings.emails);
  await expectPolicy(warehouse, settings.emails);
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
    newDays: newDaysOf(plan, facts),
    requests,
    isEstimate: ledger.length === 0 || !isLearned(request, facts),
    durationMs: duration?.durationMs ?? null,
    isDurationEstimate: duration?.isEstimate ?? true,
  };
}

function newDaysOf({ units }: ReturnType<typeof planUnits>, { ledger }: ForecastFacts): number {
  const stored = new Set(ledger.flatMap((unit) => ('day' in unit && unit.rows > 0 ? [unit.day] : [])));
  return new Set(units.flatMap(({ day }) => (stored.has(day) ? [] : [day]))).size;
}

function unitsOf(stream: Stream, plan: ReturnType<typeof planUnits>): number {
  return stream === 'readiness'
    ? Number(plan.readiness)
    : plan.units.filter((unit) => unit.stream === stream).length;
}

/** True once every requested stream was pulled, so that its size is known. */
function isLearned({ streams }: ForecastFacts['request'], { ledger }: ForecastFacts): boolean {
  return streams.every((stream) =>
    ledger.some((unit) => unit.stream === stream && (unit.rows > 0 || !isDailyStream(stream))),
  );
}
