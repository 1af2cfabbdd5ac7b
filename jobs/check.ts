import { existsSync, statfsSync } from 'node:fs';
import { dirname, resolve } from 'node:path';
import { expectPlace } from '../src/archive/index.ts';
import type { JobContext } from '../src/core/clock.ts';
import { NoWarehouseError, OldWarehouseError, StorageError, UsageError } from '../src/core/errors.ts';
import { mayWriteIn } from '../src/core/files.ts';
import { STREAMS } from '../src/core/stream.ts';
import { spoolOf } from '../src/hooks/index.ts';
import { readIdentity } from '../src/identity/index.ts';
import { readErasures } from '../src/kept-out/index.ts';
import { expectIdentity, notToBeCreated } from '../src/places/index.ts';
import { checkEmailSalt, expectPolicy } from '../src/policy/index.ts';
import { isPostgres, type Warehouse } from '../src/port/index.ts';
import {
  maskUrlPassword,
  SETTINGS,
  type Setting,
  type SettingGroup,
  type Settings,
  type SettingsReading,
} from '../src/settings/index.ts';
import { expectWritable, openWarehouse, schemaVersion } from '../src/warehouse/index.ts';
import { requireArchive } from './archive.ts';
import {
  type AccessLook,
  type Check,
  checkOf,
  failedCheck,
  lookAtAccess,
  skippedCheck,
} from './check-access.ts';
import { forecastFrom } from './dry-run.ts';

/** How to check. */
export interface CheckRequest {
  /** Send no request. */
  readonly isOffline: boolean;
}

/** What was found, and the ID of the warehouse; null if there is none that can be read, or before its first run. */
export interface SetupChecks {
  readonly checks: readonly Check[];
  readonly warehouseId: string | null;
}

/**
 * Looks at everything that a run needs, and compares it with what is there. Writes, creates and migrates nothing; sends at most
 * three requests to each origin with each key.
 */
export async function checkSetup(
  reading: SettingsReading,
  { isOffline }: CheckRequest,
  context: Pick<JobContext, 'clock' | 'signal'>,
): Promise<SetupChecks> {
  const { settings } = reading;
  // `src/cli/main.ts` lets no other version begin.
  const node: Check = { name: 'node', state: 'ok', text: `${process.versions.node} (${process.execPath})` };
  const checks = [node, ...settingsChecks(reading)];
  if (isAmiss(reading, 'warehouse', 'archive', 'emails', 'erasures'))
    return {
      checks: [...checks, skippedCheck('warehouse', 'not looked at until the settings are right')],
      warehouseId: null,
    };
  const { warehouse, places } = await checkWarehouse(settings, context);
  const isKnown = places.every(({ state }) => !['failed', 'skipped'].includes(state));
  try {
    const isUnclear = isAmiss(reading, 'service', 'readiness', 'organizations', 'requests');
    const access = await lookAtAccess(settings, warehouse, {
      ...context,
      leftOut: isUnclear
        ? 'not tried until the settings are right'
        : isOffline
          ? 'not tried (--offline)'
          : null,
    });
    const found = [
      ...checks,
      ...access.checks,
      ...proxyCheck(reading),
      ...places,
      ...(await archiveChecks(settings, isKnown ? warehouse : undefined)),
      ...erasuresChecks(settings),
      spoolCheck(settings),
      await spaceCheck({ settings, warehouse, access, isKnown }, context),
    ];
    const identity = warehouse === null ? null : await readIdentity(warehouse);
    return { checks: found, warehouseId: identity?.id ?? null };
  } finally {
    await warehouse?.close();
  }
}

function settingsChecks({ entries, problems, warnings, settings }: SettingsReading): Check[] {
  const given = entries.filter(({ source }) => !source.startsWith('default') && source !== 'not set').length;
  const file = settings.organizationsFile;
  // A key file that an organizations file names is told with its key.
  const found = [
    ...problems.map((problem) => failedCheck('settings', problem)),
    ...warnings.map(
      ({ message, hint }): Check => ({ name: 'settings', state: 'warning', text: message, advice: { hint } }),
    ),
  ];
  const own: Check[] = [{ name: 'settings', state: 'ok', text: `${given} set, each valid` }];
  const organizations: Check[] =
    file === null
      ? []
      : [{ name: 'organizations', state: 'ok', text: `${file.organizations.length} in ${file.path}` }];
  return [...(problems.length > 0 ? found : [...own, ...found]), ...organizations];
}

/** True if a setting of these groups is wrong, or if it is not known which one is. */
function isAmiss({ entries, problems }: SettingsReading, ...groups: readonly SettingGroup[]): boolean {
  const wrong = entries.filter(({ problem }) => problem !== null);
  return problems.length > wrong.length || wrong.some(({ setting }) => groups.includes(setting.group));
}

/** The proxy is part of each request, so whether it works is told with the key. */
function proxyCheck({ settings, entries }: SettingsReading): Check[] {
  if (settings.proxy === null) return [];
  const shown = ({ env }: Setting) => entries.find(({ setting }) => setting.env === env)?.value;
  const url = shown(SETTINGS.httpsProxy) ?? shown(SETTINGS.httpProxy) ?? '';
  return [{ name: 'proxy', state: 'ok', text: `requests to other machines go through ${url}` }];
}

interface CheckedWarehouse {
  /** Open for reading; null if there is none, or if it cannot be read by this version. */
  readonly warehouse: Warehouse | null;
  readonly places: readonly Check[];
}

async function checkWarehouse(
  settings: Settings,
  { clock, signal }: Pick<JobContext, 'clock' | 'signal'>,
): Promise<CheckedWarehouse> {
  const { warehouse: location } = settings;
  const options = { clock, signal, create: false, readOnly: true, leavesNoTrace: true };
  let warehouse: Warehouse;
  try {
    warehouse = await openWarehouse(location, options);
  } catch (error) {
    return { warehouse: null, places: await checkUnopened(error, settings) };
  }
  try {
    const text = `version ${schemaVersion(location)}, as this program`;
    const schema: Check = { name: 'schema', state: 'ok', text };
    const places = [await checkRights(location), schema, ...(await checkContent(warehouse, settings))];
    return { warehouse, places };
  } catch (error) {
    await warehouse.close();
    throw error;
  }
}

function checkRights(location: string, what = 'is there, and this user may write it'): Promise<Check> {
  return checkOf('warehouse', async () => {
    await expectWritable(location);
    return `${maskUrlPassword(location)} ${what}`;
  });
}

/** What it means that a warehouse could not be opened for reading. */
async function checkUnopened(error: unknown, settings: Settings): Promise<Check[]> {
  const { warehouse: location, create } = settings;
  if (error instanceof OldWarehouseError) {
    const { from, to } = error.upgrade;
    const text = `version ${from}: the next run upgrades it to ${to}`;
    const hint = 'a backup from before lets the earlier version go on';
    const schema: Check = { name: 'schema', state: 'warning', text, advice: { hint, reason: 'upgrade-due' } };
    const later = skippedCheck('identity', 'compared once the warehouse is upgraded');
    return [await checkRights(location), schema, later];
  }
  if (error instanceof NoWarehouseError) {
    const absent =
      create === 'never'
        ? failedCheck('warehouse', notToBeCreated(error))
        : await checkRights(location, 'does not exist yet: the first run creates it');
    return [absent, ...(await checkContent(null, settings))];
  }
  const found = failedCheck('schema', error);
  return found.state === 'skipped' ? [await checkRights(location), found] : [{ ...found, name: 'warehouse' }];
}

/** What a run compares before it writes. */
async function checkContent(warehouse: Warehouse | null, settings: Settings): Promise<Check[]> {
  const losses: Check[] = [];
  const identity = await checkOf('identity', async () => {
    await expectIdentity(warehouse, settings, {
      leavesNoTrace: true,
      warn: (text, hint, reason) =>
        losses.push({ name: 'identity', state: 'warning', text, advice: { hint, reason } }),
    });
    if (warehouse === null && settings.archives.length === 0)
      return 'nothing to compare before the first run';
    return settings.archives.length === 0
      ? 'the warehouse expects no archive'
      : 'the warehouse and the archive are those of the last run';
  });
  if (warehouse === null) return [identity, ...losses];
  const emails = await checkOf('emails', async () => {
    await checkEmailSalt(warehouse, settings.emails);
    await expectPolicy(warehouse, settings.emails);
    return `addresses are stored by the policy "${settings.emails.mode}", as before`;
  });
  return [identity, ...losses, emails];
}

/** @param warehouse null if there is none yet, and undefined if nothing can be said about it. */
async function archiveChecks(settings: Settings, warehouse: Warehouse | null | undefined): Promise<Check[]> {
  if (settings.archives.length === 0) return [];
  return [
    await checkOf('archive', async () => {
      const archive = requireArchive(settings);
      await expectPlace(
        archive,
        warehouse === undefined ? warehouse : { people: settings.emails, warehouse },
      );
      return `${archive}: this user may write it`;
    }),
  ];
}

function erasuresChecks({ erasures }: Settings): Check[] {
  if (erasures === null) return [];
  try {
    const { entries } = readErasures(erasures);
    return [{ name: 'erasures', state: 'ok', text: `${entries.length} in ${erasures}` }];
  } catch (error) {
    // Runs go on without the file, and say so; they end at a damaged one.
    const found = failedCheck('erasures', error);
    return [error instanceof UsageError ? { ...found, state: 'warning', exitCode: undefined } : found];
  }
}

/** Whatever is wrong with the spool, a run goes on, and the events stay in it. */
function spoolCheck(settings: Settings): Check {
  const spool = spoolOf(settings);
  if (!existsSync(spool)) return { name: 'spool', state: 'ok', text: `no hook event waits in ${spool}` };
  if (mayWriteIn(spool)) return { name: 'spool', state: 'ok', text: `${spool}: this user may empty it` };
  const advice = { hint: 'give this user the right to write the folder' };
  return {
    name: 'spool',
    state: 'warning',
    text: `hook events stay in ${spool}: this user may not write there`,
    advice,
  };
}

interface SpaceQuestion {
  readonly settings: Settings;
  readonly warehouse: Warehouse | null;
  readonly access: AccessLook;
  /** The warehouse can be used, so that a forecast makes sense. */
  readonly isKnown: boolean;
}

/** While a run writes, the log holds what the file gets. */
const COPIES = 2;

async function spaceCheck(
  { settings, warehouse, access, isKnown }: SpaceQuestion,
  { clock }: Pick<JobContext, 'clock'>,
): Promise<Check> {
  const { warehouse: location, organizationsFile } = settings;
  if (!isKnown) return skippedCheck('space', 'not estimated until the warehouse can be used');
  if (isPostgres(location))
    return skippedCheck('space', 'the disk of the database server cannot be seen from here');
  const asked = { command: 'run', streams: STREAMS, force: false, newestFirst: false, wait: false };
  let [needed, newDays] = [0, 0];
  for (const name of organizationsFile?.organizations.map((organization) => organization.name) ?? [
    undefined,
  ]) {
    const forecast = await forecastFrom(warehouse, settings, asked, { clock, name });
    newDays += forecast.newDays;
    const dayBytes = DAY_BYTES + (access.activeUsers.get(name) ?? 0) * USER_DAY_BYTES;
    needed += COPIES * forecast.newDays * dayBytes;
  }
  const folder = dirname(resolve(location));
  const { bavail, bsize } = statfsSync(folder);
  return judgeSpace({
    folder,
    free: bavail * bsize,
    needed,
    newDays,
    isLeast: access.activeUsers.size === 0,
  });
}

/** The line about free space: too little for what the next run is expected to store would end it with exit code 6. */
export function judgeSpace({
  folder,
  free,
  needed,
  newDays,
  isLeast,
}: {
  readonly folder: string;
  readonly free: number;
  readonly needed: number;
  readonly newDays: number;
  /** The number of users is not known. */
  readonly isLeast: boolean;
}): Check {
  const megabytes = (bytes: number) => `${Math.ceil(bytes / 1_000_000).toLocaleString('en-US')} MB`;
  const about = `${isLeast ? 'at least' : 'about'} ${megabytes(needed)} for ${newDays} new days`;
  const text = `${folder} has ${megabytes(free)} free; the next run needs ${about}`;
  if (free >= needed) return { name: 'space', state: 'ok', text };
  return failedCheck(
    'space',
    new StorageError(text, { hint: 'free space there, or put the warehouse on another disk' }),
  );
}

/** What a day takes in SQLite with its indexes: of the organization, and of each active user, see docs/scaling.md. */
const DAY_BYTES = 8_338;
const USER_DAY_BYTES = 762;
