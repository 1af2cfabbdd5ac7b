import type { JobContext } from '../src/core/clock.ts';
import { yesterdayOf } from '../src/core/day.ts';
import { type Advice, adviceAbout, adviceOf, DaywalkError } from '../src/core/errors.ts';
import type { ExitCode } from '../src/core/exit-code.ts';
import type { Transport } from '../src/http/index.ts';
import { readOrganizationIds } from '../src/ledger/index.ts';
import { namesOf, readNames } from '../src/organizations/index.ts';
import { firstLooks, type Source } from '../src/pipeline/index.ts';
import { readGate } from '../src/policy/index.ts';
import type { Warehouse } from '../src/port/index.ts';
import type { NamedOrganization, Settings } from '../src/settings/index.ts';
import { openTransport, requireApi, settingsFor } from './access.ts';

/** `failed`: a run would fail, or the service, for what only it uses. `skipped`: it was not looked at, and the text says why. */
export type CheckState = 'ok' | 'warning' | 'failed' | 'skipped';

/** One line of a check: what was looked at, and what was found. */
export interface Check {
  readonly name: string;
  /** The name in the organizations file, if it is about one of them. */
  readonly organization?: string | undefined;
  readonly state: CheckState;
  readonly text: string;
  /** The remedy; absent if there is nothing to do. */
  readonly advice?: Advice | undefined;
  /** Of what `failed`: the exit code that a run would have. */
  readonly exitCode?: ExitCode | undefined;
}

/** A line about an error that a run would have. */
export function failedCheck(name: string, error: unknown, organization?: string): Check {
  if (!(error instanceof DaywalkError)) throw error;
  const { message: text, exitCode, reason } = error;
  const own = adviceOf(error);
  const advice = organization === undefined ? own : adviceAbout(organization, own);
  // It would be read by a run, which may leave something beside it.
  if (reason === 'read-leaves-trace') return { name, organization, state: 'skipped', text, advice };
  return { name, organization, state: 'failed', text, advice, exitCode };
}

/** A line that says what `look` returns, or the error that it throws. */
export async function checkOf(name: string, look: () => Promise<string> | string): Promise<Check> {
  try {
    return { name, state: 'ok', text: await look() };
  } catch (error) {
    return failedCheck(name, error);
  }
}

/** A line about something that was not looked at, and why. */
export function skippedCheck(name: string, text: string): Check {
  return { name, state: 'skipped', text };
}

type FirstLooks = Awaited<ReturnType<typeof firstLooks>>;
type FirstLook = Awaited<ReturnType<FirstLooks['lookAtService']>>;

/** What was learned about the service and the keys. */
export interface AccessLook {
  readonly checks: readonly Check[];
  /** The active users of yesterday by the name of the organization; undefined for the only one. */
  readonly activeUsers: ReadonlyMap<string | undefined, number>;
}

interface AccessContext extends Pick<JobContext, 'clock' | 'signal'> {
  /** Why no request is sent; null to send them. */
  readonly leftOut: string | null;
}

/** Of one key to one origin, redirects included. A run that is to be checked must not cost more. */
const REQUESTS_MAX = 3;

/**
 * Tries each key: the activity of yesterday, and one readiness report. Compares the organization that answers with the warehouse,
 * and the clocks.
 * @param warehouse null if there is none that can be read.
 */
export async function lookAtAccess(
  settings: Settings,
  warehouse: Warehouse | null,
  context: AccessContext,
): Promise<AccessLook> {
  const { organizationsFile } = settings;
  const checks: Check[] = [];
  const activeUsers = new Map<string | undefined, number>();
  const looks: FirstLook[] = [];
  for (const organization of organizationsFile?.organizations ?? [undefined]) {
    const found = await lookAtOne(settings, organization, warehouse, context);
    checks.push(...found.checks);
    if (found.look === null) continue;
    looks.push(found.look);
    if (found.look.activeUsers !== null) activeUsers.set(organization?.name, found.look.activeUsers);
  }
  return { checks: [...checks, await clockCheck(looks, context)], activeUsers };
}

interface FoundAccess {
  readonly checks: readonly Check[];
  /** Null if the service was not asked, or has not answered. */
  readonly look: FirstLook | null;
}

async function lookAtOne(
  settings: Settings,
  organization: NamedOrganization | undefined,
  warehouse: Warehouse | null,
  context: AccessContext,
): Promise<FoundAccess> {
  const name = organization?.name;
  const { leftOut } = context;
  try {
    const own = organization === undefined ? settings : settingsFor(settings, organization);
    const api = requireApi(own);
    if (leftOut !== null) {
      const line = { organization: name, state: 'skipped', text: leftOut } as const;
      return {
        checks: [
          { ...line, name: 'key' },
          { ...line, name: 'readiness' },
        ],
        look: null,
      };
    }
    const names = namesOf(settings) ?? [];
    const named = name === undefined ? undefined : { name, names };
    return await sendRequests({ own, api, named, warehouse }, context);
  } catch (error) {
    return { checks: [failedCheck('key', error, name)], look: null };
  }
}

interface Access {
  readonly own: Settings;
  readonly api: ReturnType<typeof requireApi>;
  readonly named: { readonly name: string; readonly names: readonly string[] } | undefined;
  readonly warehouse: Warehouse | null;
}

async function sendRequests(access: Access, { clock, signal }: AccessContext): Promise<FoundAccess> {
  const { own, api, named, warehouse } = access;
  const gate = await readGate(warehouse, own.emails);
  const looks = await firstLooks();
  const settings = { ...own, maxRequests: REQUESTS_MAX, attempts: 1, concurrency: 1 };
  const open = () => openTransport(settings, api, { clock, gate, onRetry: () => undefined });
  const transport = open();
  const forApp = api.appUrl === api.baseUrl ? transport : open();
  const sourceOver = (own: Transport): Source => ({ transport: own, hosts: api, gate });
  try {
    const { check, look } = await lookAtKey(access, sourceOver(transport), { clock, signal });
    const readiness = await lineAbout('readiness', named?.name, async () => {
      await looks.lookAtReadiness(sourceOver(forApp), signal);
      return 'the key may read the readiness reports';
    });
    return { checks: [check, readiness], look };
  } finally {
    await transport.close();
    await forApp.close();
  }
}

async function lookAtKey(
  { own: { orgId }, api, named, warehouse }: Access,
  source: Source,
  { clock, signal }: Pick<JobContext, 'clock' | 'signal'>,
): Promise<{ readonly check: Check; readonly look: FirstLook | null }> {
  const looks = await firstLooks();
  let look: FirstLook | null = null;
  const check = await lineAbout('key', named?.name, async () => {
    const known = warehouse === null ? [] : await readNames(warehouse);
    const isFirstContact =
      warehouse === null ||
      (await readOrganizationIds(warehouse)).length === 0 ||
      (named !== undefined && !known.some(({ name }) => name === named.name));
    const day = yesterdayOf(clock.now());
    look = await looks.lookAtService({ source, day, isFirstContact, orgId, signal });
    if (warehouse !== null)
      await looks.expectOrganization(warehouse, look.orgId, { apiKey: api.apiKey, orgId, named });
    return `it may read the analytics of ${look.orgId}`;
  });
  return { check, look };
}

/** A line about requests. Those that were left out, because redirects have used up the others, prove nothing. */
async function lineAbout(
  name: string,
  organization: string | undefined,
  look: () => Promise<string>,
): Promise<Check> {
  try {
    return { name, organization, state: 'ok', text: await look() };
  } catch (error) {
    const advice = adviceOf(error);
    const unexplained = { hint: 'check the URL of this host; if it is right, try again later' };
    if (advice.reason !== 'requests-spent')
      return {
        ...failedCheck(name, error, organization),
        ...(advice.hint === undefined && { advice: unexplained }),
      };
    const text = `not answered within ${REQUESTS_MAX} requests to this host`;
    return { name, organization, state: 'skipped', text };
  }
}

const MINUTE_MS = 60_000;

async function clockCheck(looks: readonly FirstLook[], { clock, leftOut }: AccessContext): Promise<Check> {
  const { skewOf } = await firstLooks();
  const dates = looks.flatMap(({ serverDate }) => serverDate ?? []);
  if (dates.length === 0)
    return { name: 'clock', state: 'skipped', text: leftOut ?? 'no answer names the time of the service' };
  const now = clock.now();
  const [worst = 0] = dates.map((date) => skewOf(now, date)).toSorted((a, b) => Math.abs(b) - Math.abs(a));
  if (worst === 0) return { name: 'clock', state: 'ok', text: 'this machine and the service agree' };
  const minutes = Math.round(Math.abs(worst) / MINUTE_MS);
  const text = `this machine's clock is ${minutes} minutes ${worst > 0 ? 'ahead of' : 'behind'} the service's`;
  return { name: 'clock', state: 'warning', text, advice: { hint: "correct this machine's clock" } };
}
