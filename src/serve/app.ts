import { isIP } from 'node:net';
import { type Context, Hono } from 'hono';
import type { Clock } from '../core/clock.ts';
import { DaywalkError } from '../core/errors.ts';
import { publicName, publicText } from '../privacy/public-text.ts';
import { assessHealth, type Health } from '../status/health.ts';
import type { KeptWarehouse } from '../warehouse/kept-open.ts';
import type { Schedule } from './schedule.ts';
import type { ServiceState } from './service-state.ts';

/** The content type that Prometheus expects of its text format. */
const METRICS_TYPE = 'text/plain; version=0.0.4; charset=utf-8';

/** The sources of the answers. */
export interface ServiceAppParts {
  readonly state: ServiceState;
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
export function createServiceApp({ state, health, metricsText, answersTo, report }: ServiceAppParts): Hono {
  const app = new Hono();
  app.use(async (call, next) => {
    if (!answersTo(call.req.header('host'))) call.res = call.text('not a name of this service\n', 421);
    else if (!['GET', 'HEAD'].includes(call.req.method)) call.res = onlyRead(call);
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

function onlyRead(call: Context): Response {
  return call.text('only GET and HEAD\n', 405, { allow: 'GET, HEAD' });
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

const HOUR_MS = 3_600_000;
/** What a run and the waits for another one may take. */
const SLACK_HOURS = 2;
/** The service has a new day every 24 hours, however often it is asked. */
const DAY_HOURS = 24;

/** How to read the health. */
export interface HealthSources {
  readonly clock: Clock;
  readonly schedule: Schedule;
  readonly state: ServiceState;
  /** The names in the organizations file; null if there is none. */
  readonly names: readonly string[] | null;
}

/**
 * Reads whether the warehouse is healthy, as `daywalk status --health` does: the last complete export may be as old as the
 * longest gap of the schedule, at least a day, and two hours. A warehouse that cannot be read is unhealthy.
 */
export async function readHealth(
  warehouse: KeptWarehouse,
  { clock, schedule, state, names }: HealthSources,
): Promise<Pick<Health, 'healthy' | 'reason'>> {
  const maxAgeHours = Math.max(DAY_HOURS, Math.ceil(schedule.longestGapMs / HOUR_MS)) + SLACK_HOURS;
  // The run lock is not asked: taking it for an instant could stop a run that begins then.
  const question = { now: clock.now(), maxAgeHours, names, isRunning: state.phase === 'running' };
  try {
    const { healthy, reason } = await warehouse.read((snapshot) => assessHealth(snapshot, question));
    return { healthy, reason: publicName(reason) };
  } catch (error) {
    if (!(error instanceof DaywalkError)) throw error;
    return { healthy: false, reason: publicText(error.message) };
  }
}
