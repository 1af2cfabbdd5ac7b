import { type IncomingHttpHeaders, request } from 'node:http';
import { onTestFinished } from 'vitest';
import { hintOf } from '../../../src/cli/remedies.ts';
import type { Clock } from '../../../src/core/clock.ts';
import { type DashboardOptions, startDashboard } from '../../../src/look/server/dashboard.ts';
import { keepOpen } from '../../../src/warehouse/kept-open.ts';
import { FakeClock } from '../clock/fake-clock.ts';
import { fillWarehouse } from '../metrics/small-warehouse.ts';
import { type Database, open, type Place } from '../warehouse/each-database.ts';

/** A response as it came over TCP. */
export interface Shown {
  readonly status: number;
  readonly headers: IncomingHttpHeaders;
  readonly body: string;
}

/** A request; by default a GET with the Host header of a browser on this machine. */
export interface Ask {
  readonly method?: string;
  readonly headers?: Readonly<Record<string, string>>;
  readonly body?: string;
}

/** A dashboard over TCP. */
export interface Served {
  readonly url: string;
  readonly host: string;
  /** The failures that the dashboard reported. */
  readonly failures: readonly unknown[];
  ask(path: string, ask?: Ask): Promise<Shown>;
}

/** A place with a filled warehouse, see {@link fillWarehouse}. */
export async function filledPlace(database: Database): Promise<Place> {
  const warehouse = await open(database);
  await fillWarehouse(warehouse);
  await warehouse.close();
  return warehouse.place;
}

/** Serves a warehouse on a free port until the test ends. */
export async function serve(
  place: Pick<Place, 'location'>,
  options: Partial<Pick<DashboardOptions, 'token' | 'allowedHosts' | 'limits'>> & {
    readonly clock?: Clock;
    readonly statementMsMax?: number;
  } = {},
): Promise<Served> {
  const {
    token = null,
    allowedHosts = [],
    limits = {},
    clock = new FakeClock(),
    statementMsMax = 60_000,
  } = options;
  const warehouse = keepOpen(place.location, { clock, statementMsMax });
  const failures: unknown[] = [];
  const dashboard = await startDashboard({
    warehouse,
    clock,
    listen: { host: '127.0.0.1', port: 0 },
    allowedHosts,
    token,
    keepsReady: false,
    limits,
    footer: ['Daywalk'],
    hintOf,
    report: (error) => failures.push(error),
  });
  onTestFinished(async () => {
    await dashboard.close();
    await warehouse.close();
  });
  const { host } = new URL(dashboard.url);
  return { url: dashboard.url, host, failures, ask: (path, ask) => send(host, path, ask) };
}

function send(
  address: string,
  path: string,
  { method = 'GET', headers = {}, body }: Ask = {},
): Promise<Shown> {
  const [hostname, port] = address.split(':');
  return new Promise((resolve, reject) => {
    // The path goes out as it is written: a URL would tidy it up.
    const call = request({ hostname, port, path, method, agent: false, headers }, (response) => {
      let text = '';
      response.setEncoding('utf8').on('data', (chunk: string) => {
        text += chunk;
      });
      response.on('end', () =>
        resolve({ status: response.statusCode ?? 0, headers: response.headers, body: text }),
      );
      response.on('error', reject);
    });
    call.on('error', reject);
    call.end(body);
  });
}
