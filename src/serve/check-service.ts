import { type Check, checkOf, failedCheck } from '../../jobs/check-access.ts';
import { formatListenAddress, type ListenAddress } from '../core/addresses.ts';
import type { Clock } from '../core/clock.ts';
import { adviceOf, UsageError } from '../core/errors.ts';
import { listen } from '../core/web-server.ts';
import { requireToken } from '../look/index.ts';
import type { Settings } from '../settings/index.ts';
import { parseSchedule, type Schedule } from './schedule.ts';

/** Tells whose port it is: the service answers with the ID of its warehouse. */
export const WAREHOUSE_PATH = '/warehouse';

/** How many of the next times are shown. */
const TIMES_SHOWN = 2;

/**
 * Looks at what the service and the dashboard need besides a run. Listens for an instant on each address that is free, and sends
 * no ping and no notification.
 * @param warehouseId the ID of the warehouse; null if it has none yet.
 */
export async function checkService(
  settings: Settings,
  warehouseId: string | null,
  { clock }: { readonly clock: Clock },
): Promise<Check[]> {
  const { serveListen, dashboardListen, dashboardToken: token } = settings;
  const dashboard = await checkOf('dashboard', async () => {
    await requireToken({ listen: dashboardListen, token });
    return addressText(dashboardListen, 'is free');
  });
  return [
    await checkOf('schedule', () => scheduleText(settings, clock.now())),
    await addressCheck('serve', serveListen, { clock, warehouseId }),
    dashboard.state === 'ok'
      ? await addressCheck('dashboard', dashboardListen, { clock, warehouseId: null })
      : warned(dashboard),
    pingsCheck(settings),
  ];
}

/** A run does not listen, so it goes on. */
function warned(check: Check): Check {
  return { ...check, state: 'warning', exitCode: undefined };
}

function scheduleText({ serveSchedule, serveJitter }: Settings, now: Date): string {
  const schedule = parseSchedule(serveSchedule);
  refuseLongJitter(schedule, serveJitter);
  const times: Date[] = [];
  for (let after = now; times.length < TIMES_SHOWN; after = times.at(-1) ?? after)
    times.push(schedule.next(after));
  const shown = times.map((time) => time.toISOString().slice(0, 16).replace('T', ' '));
  return `daywalk serve runs at "${schedule.text}": next ${shown.join(' and ')} UTC`;
}

/**
 * Makes sure that the jitter makes no tick late for the next one.
 * @throws {UsageError} if it is as long as the shortest gap, or longer.
 */
export function refuseLongJitter({ text, shortestGapMs }: Schedule, jitterMs: number): void {
  if (jitterMs < shortestGapMs) return;
  throw new UsageError(`the jitter is as long as the shortest gap of the schedule "${text}", or longer`, {
    hint: `choose a shorter --jitter, less than ${shortestGapMs / 60_000}m`,
  });
}

function addressText(address: ListenAddress, what: string): string {
  return `${formatListenAddress(address)} ${what}`;
}

/** A port that another program holds does not stop a run, so it is a warning. */
async function addressCheck(
  name: 'serve' | 'dashboard',
  address: ListenAddress,
  { clock, warehouseId }: { readonly clock: Clock; readonly warehouseId: string | null },
): Promise<Check> {
  try {
    await (await listen(address, clock)).close();
    return { name, state: 'ok', text: addressText(address, 'is free') };
  } catch (error) {
    const holder = warehouseId === null ? null : await warehouseAt(address);
    if (holder !== null && holder === warehouseId)
      return { name, state: 'ok', text: addressText(address, 'is held by the service of this warehouse') };
    const check = warned(failedCheck(name, error));
    return holder === null
      ? check
      : {
          ...check,
          text: addressText(address, `is held by the service of the warehouse ${holder}`),
          advice: adviceOf(error),
        };
  }
}

const ANSWER_MS_MAX = 2_000;
const ID = /^[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}\n$/;
/** Addresses that stand for all of a machine, and one that reaches it. */
const REACHED: Readonly<Record<string, string>> = { '0.0.0.0': '127.0.0.1', '::': '::1' };

/** The ID of the warehouse whose service listens at an address; null if something else does. */
async function warehouseAt({ host, port }: ListenAddress): Promise<string | null> {
  const url = `http://${formatListenAddress({ host: REACHED[host] ?? host, port })}${WAREHOUSE_PATH}`;
  try {
    const signal = AbortSignal.timeout(ANSWER_MS_MAX);
    const { ok, body } = await fetch(url, { redirect: 'error', signal });
    // Whatever else listens there may send any number of bytes.
    const first = await body?.getReader().read();
    const text = new TextDecoder().decode(first?.value);
    return ok && ID.test(text) ? text.trim() : null;
  } catch {
    // It does not speak HTTP, or not in time.
    return null;
  }
}

/** Their URLs are secrets, and were checked with the settings. */
function pingsCheck({ pingUrl, alertWebhook, notifyWebhook }: Settings): Check {
  const named = [
    ...(pingUrl === null ? [] : ['DAYWALK_PING_URL']),
    ...(alertWebhook === null ? [] : ['DAYWALK_ALERT_WEBHOOK']),
    ...(notifyWebhook === null ? [] : ['DAYWALK_NOTIFY_WEBHOOK']),
  ];
  if (named.length > 0) return { name: 'pings', state: 'ok', text: `${named.join(', ')}: valid, not called` };
  return { name: 'pings', state: 'ok', text: 'none is set: nobody hears of a night that fails' };
}
