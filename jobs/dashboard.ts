import { basename } from 'node:path';
import type { JobContext } from '../src/core/job-context.ts';
import { packageVersion } from '../src/core/package.ts';
import type { Advice } from '../src/core/reasons.ts';
import { startDashboard } from '../src/look/server/dashboard.ts';
import { DASHBOARD_SETTINGS } from '../src/settings/dashboard-settings.ts';
import { maskUrlPassword } from '../src/settings/mask-url.ts';
import type { DashboardSettings, Settings } from '../src/settings/settings.ts';
import { keepOpen } from '../src/warehouse/kept-open.ts';
import { isPostgres } from '../src/warehouse/location.ts';

/** What a person asks for besides the settings. */
export interface DashboardRequest {
  /** The port in place of the one in the settings. */
  readonly port?: number | undefined;
}

/** What an entry point passes to the dashboard. */
export interface DashboardContext extends Pick<JobContext, 'clock' | 'signal'> {
  /** The remedy for a failure in the words of the entry point. */
  readonly hintOf: (advice: Advice) => string | undefined;
  /** Receives failures of single pages. Must not throw. */
  readonly report: (error: unknown, path: string) => void;
}

const DEFAULTS: DashboardSettings = {
  listen: DASHBOARD_SETTINGS.dashboardListen.fallback,
  allowedHosts: DASHBOARD_SETTINGS.allowedHosts.fallback,
  token: null,
};

/**
 * Serves the warehouse to browsers until the process is asked to stop. Opens it for reading only.
 * @throws {UsageError} when there is no such warehouse, it has another version, the address cannot be used, or it can be
 * reached from other machines and there is no token.
 */
export async function serveDashboard(
  { warehouse: location, dashboard = DEFAULTS }: Settings,
  { port }: DashboardRequest,
  { clock, signal, hintOf, report }: DashboardContext,
  onListening: (url: string) => void,
): Promise<void> {
  const listen = { ...dashboard.listen, port: port ?? dashboard.listen.port };
  const warehouse = keepOpen(location, { clock, signal });
  try {
    // What is wrong with the warehouse is reported before anything listens.
    await warehouse.read(async () => undefined);
    const footer = [
      `Daywalk ${packageVersion()}`,
      isPostgres(location) ? maskUrlPassword(location) : basename(location),
    ];
    const { allowedHosts, token } = dashboard;
    const server = await startDashboard({
      warehouse,
      clock,
      keepsReady: true,
      listen,
      allowedHosts,
      token,
      footer,
      hintOf,
      report,
    });
    try {
      onListening(server.url);
      await aborted(signal);
    } finally {
      await server.close();
    }
  } finally {
    await warehouse.close();
  }
}

function aborted(signal: AbortSignal): Promise<void> {
  return new Promise((resolve) => {
    if (signal.aborted) resolve();
    signal.addEventListener('abort', () => resolve(), { once: true });
  });
}
