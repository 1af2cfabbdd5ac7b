import { type Context, Hono } from 'hono';
import type { ServiceState } from '../service-state.ts';

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
