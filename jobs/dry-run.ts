import { tables } from '../schema/tables.ts';
import { dayOf, isDay, shiftDay, type UtcDay } from '../src/core/day.ts';
import { NoWarehouseError } from '../src/core/errors.ts';
import type { JobContext } from '../src/core/job-context.ts';
import { DAILY_STREAMS, STREAMS, type Stream } from '../src/core/stream.ts';
import {
  type ForecastFacts,
  forecastRequests,
  USERS_KNOWN_DAYS,
  userCounter,
  watchOf,
} from '../src/pipeline/forecast/requests.ts';
import { type PlanRequest, planUnits } from '../src/pipeline/plan.ts';
import { rememberedRange } from '../src/pipeline/run/schedule/range-gauge.ts';
import { RANGES } from '../src/pipeline/run/schedule/remembered-range.ts';
import type { Settings } from '../src/settings/settings.ts';
import type { RunRecord, Warehouse } from '../src/warehouse/port.ts';
import { withWarehouse } from '../src/warehouse/with-warehouse.ts';
import { type ExportRequest, planRequest, WATCH_DAYS } from './run.ts';

/** What an export would do. */
export interface ExportForecast {
  /** Null while the warehouse knows no organization, or several, and none is named. */
  readonly orgId: string | null;
  readonly firstDay: UtcDay;
  readonly lastDay: UtcDay;
  readonly units: number;
  readonly unitsByStream: Readonly<Partial<Record<Stream, number>>>;
  /** Requests expected, where none has to be repeated. */
  readonly requests: number;
  /** True until a run has told how many users and reports there are, and which ranges the service allows. */
  readonly isEstimate: boolean;
  /** Milliseconds expected, from the pace of earlier runs; null without one. */
  readonly durationMs: number | null;
}

/** Runs whose pace a forecast looks at. */
const PACE_RUNS = 10;
/** Of those, so many whose number of requests is nearest tell the pace. */
const SIMILAR_RUNS = 3;
/** Runs with up to so many times the requests, or so many times fewer, are taken before others. */
const ALIKE_FACTOR = 2;

/**
 * Says what an export would do, from the warehouse alone: sends no request and writes nothing.
 * @throws {UsageError} when there is a warehouse and it cannot be read as one.
 */
export function forecastExport(
  settings: Settings,
  asked: ExportRequest,
  context: JobContext,
): Promise<ExportForecast> {
  const request = planRequest(asked, context);
  const facts = {
    request,
    today: dayOf(context.clock.now()),
    rangeDays: settings.rangeDays,
    concurrency: settings.concurrency,
    isNamed: settings.orgId !== undefined,
  };
  const known = withWarehouse(
    settings.warehouse,
    { clock: context.clock, create: false },
    async (warehouse) => {
      const orgId = settings.orgId ?? (await onlyOrganization(warehouse));
      const runs = await warehouse.runs(PACE_RUNS);
      if (orgId === null) return forecastOf(null, { ...facts, ...NOTHING_KNOWN }, runs);
      const watchDays = settings.watchDays ?? WATCH_DAYS;
      return forecastOf(orgId, await readFacts(warehouse, orgId, facts, watchDays), runs);
    },
  );
  return known.catch((error: unknown) => {
    if (!(error instanceof NoWarehouseError)) throw error;
    return forecastOf(settings.orgId ?? null, { ...facts, ...NOTHING_KNOWN }, []);
  });
}

type Learned = Pick<ForecastFacts, 'ledger' | 'remembered' | 'watch' | 'usersOn' | 'reports'>;
type Asked = Omit<ForecastFacts, keyof Learned>;

const NOTHING_KNOWN: Learned = { ledger: [], remembered: null, watch: null, usersOn: () => 0, reports: 0 };

async function readFacts(
  warehouse: Warehouse,
  orgId: string,
  asked: Asked,
  watchDays: number,
): Promise<ForecastFacts> {
  const { request, today } = asked;
  const ledger = await warehouse.units(orgId);
  const watch = await watchOf({ orgId, warehouse, ledger, request, today, watchDays });
  const users = [...planUnits(request, ledger).units, ...watch.recent].flatMap(({ stream, day }) =>
    stream === 'users' ? [day] : [],
  );
  return {
    ...asked,
    ledger,
    watch,
    remembered: rememberedRange(await warehouse.state(orgId, RANGES), today),
    usersOn: userCounter(await readUsers(warehouse, orgId, users)),
    reports: request.streams.includes('readiness') ? (await warehouse.reportIds(orgId)).length : 0,
  };
}

/** The users of these days and of some before, by number. */
async function readUsers(
  warehouse: Warehouse,
  orgId: string,
  days: readonly UtcDay[],
): Promise<ReadonlyMap<UtcDay, readonly number[]>> {
  const [first] = days.toSorted();
  const byDay = new Map<UtcDay, number[]>();
  if (first === undefined) return byDay;
  const numbers = new Map<string, number>();
  const scope = { orgId, firstDay: shiftDay(first, -USERS_KNOWN_DAYS) };
  for await (const rows of warehouse.scan(tables.userDaily, scope, ['date', 'user_id'])) {
    for (const [date, userId] of rows) {
      if (!isDay(date)) continue;
      const number = numbers.get(String(userId)) ?? numbers.size;
      numbers.set(String(userId), number);
      const held = byDay.get(date) ?? [];
      held.push(number);
      byDay.set(date, held);
    }
  }
  return byDay;
}

async function onlyOrganization(warehouse: Warehouse): Promise<string | null> {
  const known = await warehouse.organizations();
  return known.length === 1 ? (known[0] ?? null) : null;
}

function forecastOf(orgId: string | null, facts: ForecastFacts, runs: readonly RunRecord[]): ExportForecast {
  const { request, ledger } = facts;
  const { plan, requests } = forecastRequests(facts);
  const pace = millisecondsPerRequest(runs, requests);
  return {
    orgId,
    firstDay: request.firstDay,
    lastDay: request.lastDay,
    units: plan.units.length + Number(plan.readiness),
    unitsByStream: Object.fromEntries(
      STREAMS.map((stream) => [stream, unitsOf(stream, plan)] as const).filter(([, units]) => units > 0),
    ),
    requests,
    isEstimate: !isLearned(request, facts) || ledger.length === 0,
    durationMs: pace === null ? null : Math.round(requests * pace),
  };
}

function unitsOf(stream: Stream, plan: ReturnType<typeof planUnits>): number {
  return stream === 'readiness'
    ? Number(plan.readiness)
    : plan.units.filter((unit) => unit.stream === stream).length;
}

/** True once every stream asked for was pulled, so that its size is known. */
function isLearned({ streams }: PlanRequest, { ledger }: ForecastFacts): boolean {
  return streams.every((stream) =>
    ledger.some((unit) => unit.stream === stream && (unit.rows > 0 || !isDaily(stream))),
  );
}

function isDaily(stream: Stream): boolean {
  return DAILY_STREAMS.some((daily) => daily === stream);
}

/**
 * Milliseconds per request, of the earlier runs whose number of requests was nearest to `requests`: a night of a dozen takes
 * longer for each than a first sync that keeps eight in flight. Null without a run that could tell.
 */
export function millisecondsPerRequest(runs: readonly RunRecord[], requests: number): number | null {
  const ended = runs.flatMap(({ startedAt, endedAt, requests: sent }) => {
    const ms = endedAt === null ? 0 : Date.parse(endedAt) - Date.parse(startedAt);
    return sent > 0 && ms > 0
      ? [{ sent, ms, distance: Math.abs(Math.log(sent / Math.max(1, requests))) }]
      : [];
  });
  const alike = ended.filter(({ distance }) => distance <= Math.log(ALIKE_FACTOR));
  const nearest = (alike.length > 0 ? alike : ended)
    .toSorted((a, b) => a.distance - b.distance)
    .slice(0, SIMILAR_RUNS);
  const sent = nearest.reduce((sum, run) => sum + run.sent, 0);
  return sent === 0 ? null : nearest.reduce((sum, run) => sum + run.ms, 0) / sent;
}
