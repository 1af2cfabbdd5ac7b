import type { JobContext } from '../../core/job-context.ts';
import type { RunEvent } from '../../pipeline/events.ts';
import type { Settings } from '../../settings/settings.ts';
import type { RoundListener } from '../perform-round.ts';
import { createAlerts } from './alerts.ts';
import type { NotifyContext } from './context.ts';
import { createPings } from './pings.ts';

/**
 * The listeners for pings and notifications that the settings ask for; none without a URL. A service keeps them for all its
 * rounds. They delay a round by less than five seconds in total, and never change its result.
 */
export function notifyListeners(settings: Settings, job: JobContext<RunEvent>): RoundListener[] {
  const { alerts, proxy = null } = settings;
  const context: NotifyContext = {
    clock: job.clock,
    signal: job.signal,
    proxy,
    warn: (message, hint) => job.observe({ type: 'warning', message, hint }),
  };
  if (alerts === undefined) return [];
  const { pingUrl, webhook } = alerts;
  return [
    ...(pingUrl === null ? [] : [createPings(pingUrl, context)]),
    ...(webhook === null ? [] : [createAlerts({ ...settings, ...alerts, webhook }, context)]),
  ];
}
