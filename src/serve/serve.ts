import { isIP } from 'node:net';
import { getRequestListener } from '@hono/node-server';
import { Hono } from 'hono';
import { requireApi } from '../../jobs/access.ts';
import { type Obstacle, obstaclesOf } from '../../jobs/round.ts';
import { isLoopback, type ListenAddress } from '../core/addresses.ts';
import type { Clock, JobContext } from '../core/clock.ts';
import { DaywalkError, type Reason } from '../core/errors.ts';
import { needsPerson } from '../core/exit-code.ts';
import { listen, type WebServer } from '../core/web-server.ts';
import { AGE_SECONDS_MIN } from '../expected/index.ts';
import { readIdentity } from '../identity/index.ts';
import { listOrganizations, namesOf } from '../organizations/index.ts';
import type { RunEvent } from '../pipeline/index.ts';
import { withOwnWarehouse } from '../places/index.ts';
import type { Warehouse } from '../port/index.ts';
import { publicName, publicText } from '../privacy/index.ts';
import { lastDecided, readRuns } from '../records/index.ts';
import { assessHealth, type Health, RUNS_MAX } from '../status/index.ts';
import { type KeptWarehouse, keepOpen, withWarehouse } from '../warehouse/index.ts';
import { WAREHOUSE_PATH } from './check-service.ts';
import { createTickWork, type TickParts } from './perform-round.ts';
import {
  type Action,
  keepSchedule,
  readLastRound,
  type Schedule,
  spread,
  writeLastRound,
} from './schedule.ts';
import {
  createServiceState,
  failureOf,
  type ServeEvent,
  type ServiceRecord,
  type ServiceState,
} from './service-state.ts';

/** What the metrics of the service are made from. */
export interface ServiceView {
  readonly state: ServiceState;
  readonly schedule: Schedule;
  /** Open for reading only. */
  readonly warehouse: KeptWarehouse;
}

/** How to serve. */
export interface ServeOptions
  extends Pick<TickParts, 'schedule' | 'settings' | 'readSettings' | 'listeners'> {
  /** The longest time between a tick and its round. */
  readonly jitterMs: number;
  readonly listen: ListenAddress;
  /** The metrics in the text format of Prometheus; absent for none. */
  readonly metricsText?: (view: ServiceView) => Promise<string>;
  /** From 0 to 1. Another installation should have another one. */
  readonly seed: number;
}

/**
 * Exports on a schedule and answers probes, until the process is asked to stop. Only what makes the start impossible ends
 * it: whatever a round meets is reported, and the next tick tries again.
 * @throws {UsageError} if a setting is missing, or the address cannot be used.
 * @throws {StorageError} if the warehouse cannot be opened.
 */
export async function serve(
  options: ServeOptions,
  context: JobContext<RunEvent | ServeEvent>,
  onListening: (url: string) => void,
): Promise<void> {
  const { clock, signal, observe, upgraded } = context;
  const { settings } = options;
  let names = namesOf(settings);
  const readSettings = () => {
    const fresh = options.readSettings();
    names = namesOf(fresh);
    return fresh;
  };
  // A key of one organization of a file stops the export of that organization alone.
  if (settings.organizationsFile === null) requireApi(settings);
  const location = settings.warehouse;
  const warn = (message: string, hint: string, reason?: Reason) =>
    observe({ type: 'warning', message, hint, reason });
  const handledUntil = await withOwnWarehouse(settings, { clock, signal, warn, upgraded }, readLastRound);
  const warehouse = keepOpen(location, { clock, signal, statementMsMax: settings.queryTimeout });
  const state = createServiceState(clock);
  const server = await listen(options.listen, clock);
  signal.addEventListener('abort', () => state.stops(), { once: true });
  try {
    answer(server, { options, context, state, warehouse, names: () => names });
    observe({ type: 'serving', url: server.url, schedule: options.schedule.text });
    onListening(server.url);
    await keepSchedule({
      clock,
      signal,
      timetable: { next: options.schedule.next, delayMs: spread(options.jitterMs, options.seed) },
      handledUntil,
      turn: createTurn(state, observe),
      perform: createTickWork({ ...options, readSettings, context, state, maxAgeSeconds: maxAgeOf(options) }),
      remember: rememberIn(location, context),
    });
  } finally {
    state.stops();
    await server.close();
    await warehouse.close();
  }
}

interface Parts {
  readonly options: ServeOptions;
  readonly context: JobContext<RunEvent | ServeEvent>;
  readonly state: ServiceRecord;
  readonly warehouse: KeptWarehouse;
  /** The names in the organizations file, as it was last read; null if there is none. */
  readonly names: () => readonly string[] | null;
}

function answer(server: WebServer, { options, context, state, warehouse, names }: Parts): void {
  const { schedule, metricsText } = options;
  const app = createServiceApp({
    state,
    // Many scrapers at once cost as much as one.
    warehouseId: shareWork(async () => (await warehouse.read(readIdentity))?.id ?? null),
    health: shareWork(() => readHealth(warehouse, { clock: context.clock, state, names: names() })),
    metricsText:
      metricsText === undefined ? null : shareWork(() => metricsText({ state, schedule, warehouse })),
    // Whoever reaches another address needs no name to read what is here.
    answersTo:
      isLoopback(server.address.host) || server.address.host === 'localhost' ? isAddress : () => true,
    report: (error, path) => context.observe(failureOf(`answer ${path}`, error)),
  });
  server.handle(getRequestListener(app.fetch, { overrideGlobalObjects: false }));
}

/** Follows the schedule in the state, and reports the time of each next round once. */
function createTurn(state: ServiceRecord, observe: (event: ServeEvent) => void): (action: Action) => void {
  let reported = '';
  return (action) => {
    if (action.kind === 'run') return state.runs();
    state.waits(action.until);
    const nextRunAt = action.until.toISOString();
    if (nextRunAt !== reported) observe({ type: 'schedule-waits', nextRunAt });
    reported = nextRunAt;
  };
}

/** Another program may hold the warehouse for hours, so the attempt is repeated at every turn, and reported once. */
function rememberIn(location: string, { clock, signal, observe }: Parts['context']) {
  let isReported = false;
  return async (at: Date): Promise<boolean> => {
    try {
      await withWarehouse(location, { clock, signal, create: false }, (warehouse) =>
        writeLastRound(warehouse, at),
      );
      isReported = false;
      return true;
    } catch (error) {
      if (!isReported && !signal.aborted) observe(failureOf('remember the last round', error));
      isReported = true;
      return false;
    }
  };
}

/** The same work, done once for all who ask while it is being done. */
export function shareWork<Result>(work: () => Promise<Result>): () => Promise<Result> {
  let current: Promise<Result> | undefined;
  return () => {
    current ??= work().finally(() => {
      current = undefined;
    });
    return current;
  };
}

/** The content type that Prometheus expects of its text format. */
const METRICS_TYPE = 'text/plain; version=0.0.4; charset=utf-8';

/** The sources of the answers. */
export interface ServiceAppParts {
  readonly state: ServiceState;
  /** The ID of the warehouse; null before its first run. */
  readonly warehouseId: () => Promise<string | null>;
  /** Whether the warehouse is healthy, in one line. */
  readonly health: () => Promise<{ readonly healthy: boolean; readonly reason: string }>;
  /** The metrics in the text format of Prometheus; null for none. */
  readonly metricsText: (() => Promise<string>) | null;
  /** Decides to which Host headers it answers. */
  readonly answersTo: (host: string | undefined) => boolean;
  /** Receives what kept an answer from being made. Must not throw. */
  readonly report: (error: unknown, path: string) => void;
}

/** Creates the handler of all requests. Every answer is plain text, and none is stored by anybody. */
export function createServiceApp({
  state,
  warehouseId,
  health,
  metricsText,
  answersTo,
  report,
}: ServiceAppParts): Hono {
  const app = new Hono();
  app.use(async (call, next) => {
    if (!answersTo(call.req.header('host'))) call.res = call.text('not a name of this service\n', 421);
    else if (!['GET', 'HEAD'].includes(call.req.method))
      call.res = call.text('only GET and HEAD\n', 405, { allow: 'GET, HEAD' });
    else await next();
    call.header('cache-control', 'no-store');
    call.header('x-content-type-options', 'nosniff');
  });
  app.get('/livez', (call) =>
    state.isAlive() ? call.text('alive\n') : call.text('the schedule stands still\n', 503),
  );
  app.get('/readyz', (call) =>
    state.phase === 'waiting' || state.phase === 'running'
      ? call.text('ready\n')
      : call.text(`${state.phase}\n`, 503),
  );
  app.get(WAREHOUSE_PATH, async (call) => call.text(`${(await warehouseId()) ?? 'none'}\n`));
  app.get('/healthz', async (call) => {
    const { healthy, reason } = await health();
    const line = `${healthy ? 'healthy' : 'unhealthy'}: ${reason.replaceAll(/\s+/g, ' ')}\n`;
    return call.text(line, healthy ? 200 : 503);
  });
  if (metricsText !== null) {
    app.get('/metrics', async (call) =>
      call.text(await metricsText(), 200, { 'content-type': METRICS_TYPE }),
    );
  }
  app.notFound((call) => call.text('there is no such path\n', 404));
  app.onError((error, call) => {
    report(error, call.req.path);
    return call.text('this answer could not be made; the log of the service says why\n', 500);
  });
  return app;
}

/**
 * True if a request comes by an IP address or as `localhost`. A page of another site that lets its own name lead to this
 * machine (DNS rebinding) comes by that name.
 */
export function isAddress(host: string | undefined): boolean {
  // Browsers always name the host.
  if (host === undefined) return true;
  const name = host.toLowerCase().replace(/:\d+$/, '');
  return name === 'localhost' || isIP(name.replace(/^\[(.*)\]$/, '$1')) !== 0;
}

/** What a run and the waits for another one may take. */
const SLACK_MS = 3_600_000;

/** How old the last complete export may become before the next one: no younger than for a nightly job without a schedule. */
function maxAgeOf({ schedule, jitterMs, settings }: ServeOptions): number {
  // A round waits for a service until the next tick at most.
  const waitMs = Math.min(settings.patience, schedule.longestGapMs);
  const longestMs = schedule.longestGapMs + jitterMs + waitMs + SLACK_MS;
  return Math.max(AGE_SECONDS_MIN, Math.ceil(longestMs / 1_000));
}

/** How to read the health. */
export interface HealthSources {
  readonly clock: Clock;
  readonly state: ServiceState;
  /** The names in the organizations file; null if there is none. */
  readonly names: readonly string[] | null;
}

/**
 * Reads whether the warehouse is healthy, as `daywalk status --health` does. It is not after a round that met what only a person
 * ends, until a later run shows that it has ended, nor if it cannot be read.
 */
export async function readHealth(
  warehouse: KeptWarehouse,
  { clock, state, names }: HealthSources,
): Promise<Pick<Health, 'healthy' | 'reason'>> {
  const now = clock.now();
  // The run lock is not asked: taking it for an instant could stop a run that begins then.
  const question = { now, names, isRunning: state.phase === 'running' };
  const obstacles = state.lastRound === null ? [] : obstaclesOf(state.lastRound);
  try {
    return await warehouse.read(async (snapshot) => {
      const { id } = state.memory;
      const isOther = id !== null && (await readIdentity(snapshot))?.id !== id;
      for (const obstacle of obstacles)
        if (isOther || (await stands(snapshot, obstacle, now)))
          return { healthy: false, reason: publicText(obstacle.reason) };
      const { healthy, reason } = await assessHealth(snapshot, question);
      return { healthy, reason: publicName(reason) };
    });
  } catch (error) {
    if (!(error instanceof DaywalkError)) throw error;
    return { healthy: false, reason: publicText(obstacles[0]?.reason ?? error.message) };
  }
}

/** False where a later run ended that met the obstacle no more. The organization may only be known since then. */
async function stands(warehouse: Warehouse, { name, orgId, startedAt }: Obstacle, now: Date) {
  const listed = await listOrganizations(warehouse, name === null ? null : [name]);
  const own = orgId ?? (listed.length === 1 ? listed[0]?.orgId : null) ?? null;
  const runs = own === null ? [] : await readRuns(warehouse, RUNS_MAX, { orgId: own, now });
  const { endedAt, exitCode } = lastDecided(runs, now) ?? {};
  return (endedAt ?? '') <= startedAt || needsPerson(exitCode);
}
