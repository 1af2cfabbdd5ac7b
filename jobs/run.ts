import { resolve } from 'node:path';
import { openArchive } from '../src/archive/index.ts';
import type { JobContext } from '../src/core/clock.ts';
import { FIRST_DAY, type UtcDay, yesterdayOf } from '../src/core/day.ts';
import type { Reason } from '../src/core/errors.ts';
import { UsageError } from '../src/core/errors.ts';
import { EXIT } from '../src/core/exit-code.ts';
import { packageVersion } from '../src/core/files.ts';
import type { Stream } from '../src/core/stream.ts';
import type { AskedContract } from '../src/expected/index.ts';
import type { Retry } from '../src/http/index.ts';
import { openPatience, withPatience } from '../src/marks/index.ts';
import type { NameInFile } from '../src/organizations/index.ts';
import type { Patience } from '../src/patience/index.ts';
import { type RunEvent, type RunReport, runUnits } from '../src/pipeline/index.ts';
import {
  meetArchives,
  sweepAfterRun,
  sweepBeforeRun,
  type WarehouseMemory,
  withOwnWarehouse,
} from '../src/places/index.ts';
import { comparePolicy, expectEmailSalt, openGate } from '../src/policy/index.ts';
import type { RunLock, Warehouse } from '../src/port/index.ts';
import { usersOf } from '../src/privacy/index.ts';
import { rememberArchive } from '../src/records/index.ts';
import type { Settings } from '../src/settings/index.ts';
import { takeLock } from '../src/warehouse/index.ts';
import { type Network, openTransport, probesOf, requireApi } from './access.ts';
import { keepsLess, requireArchive, usersFromOfRun } from './archive.ts';
import { drainDuringRun } from './drain.ts';

export interface ExportRequest {
  /** The command, as the ledger records it: `run`, `backfill` or `demo`. */
  readonly command: string;
  /** @default the first day of the contract, see `src/expected/` */
  readonly from?: UtcDay | undefined;
  /** @default yesterday (UTC) */
  readonly until?: UtcDay | undefined;
  /** @default the streams of the contract */
  readonly streams?: readonly Stream[] | undefined;
  /** How old the last complete export may become before the next one; null keeps what is stored. @default null */
  readonly maxAgeSeconds?: number | null;
  /** Pull settled units too. */
  readonly force: boolean;
  readonly newestFirst: boolean;
  /**
   * Accept doubted losses, unless more rows are missing now than when they were doubted.
   * @default false
   */
  readonly acceptLoss?: boolean;
  /** Accept the users of an organization that an earlier run refused. @default false */
  readonly acceptOrganization?: boolean;
  /** The ID of an organization that a key may answer for from now on. @default none */
  readonly newOrganization?: string | undefined;
  /** Wait for another run to end instead of failing with exit code 75. */
  readonly wait: boolean;
  /**
   * Hash emails with another salt than before.
   * @default false, which refuses another salt
   */
  readonly newEmailSalt?: boolean;
  /** The warehouse of the rounds before. @default any warehouse */
  readonly memory?: WarehouseMemory | undefined;
  /** When waiting for a service that does not answer ends. @default only at the end of the patience */
  readonly waitUntil?: Date | undefined;
  /** The name of the only organization to export. @default every organization of the organizations file */
  readonly organization?: string | undefined;
}

/** What an export runs in. */
interface RunContext extends JobContext<RunEvent> {
  /** @default the network of this machine */
  readonly network?: Network;
}

/**
 * Pulls and commits every unit that is not settled, and the readiness reports. May be repeated at will.
 * @throws {DaywalkError} when the run cannot begin; later failures are in the report.
 */
export function runExport(
  settings: Settings,
  request: ExportRequest,
  context: RunContext,
): Promise<RunReport> {
  requireApi(settings);
  return withLockedWarehouse(settings, request, context, async (place) => {
    const report = await exportInto(place, settings, request, context);
    if (report.orgId === null && isMistake(report)) place.discardNew();
    return report;
  });
}

/** A warehouse whose run lock is held. */
export interface LockedWarehouse {
  readonly warehouse: Warehouse;
  readonly lock: RunLock;
  /** The first day whose people are kept, for the whole run; null to keep those of the ledger. */
  readonly usersFrom: UtcDay | null;
  /** Waits for hosts that do not answer, for as long as the settings say. */
  readonly patience: Patience;
  /** Discards the warehouse at the end if it is new and holds nothing but traces of `runs` runs. @param runs default: 1 */
  discardNew(runs?: number): void;
}

/**
 * Opens the warehouse, takes its run lock, and drains the spool of hook events before and after the work.
 * @throws {DaywalkError} when the warehouse or its lock cannot be had, or the days of the request are none.
 */
export function withLockedWarehouse<Result>(
  settings: Settings,
  request: ExportRequest,
  context: JobContext<RunEvent>,
  work: (place: LockedWarehouse) => Promise<Result>,
): Promise<Result> {
  const warn = (message: string, hint: string, reason?: Reason) =>
    context.observe({ type: 'warning', message, hint, reason });
  return withOwnWarehouse(settings, { ...context, warn }, async (warehouse) => {
    const locking = { ...context, warn, wait: request.wait };
    const usersFrom = await usersFromOfRun(warehouse, settings, context.clock, warn);
    let lock = await takeLock(warehouse, locking);
    let discardedRuns: number | null = null;
    const discardNew = (runs = 1) => {
      discardedRuns = runs;
    };
    try {
      if (settings.archives.length > 0) requireArchive(settings);
      const met = await meetArchives(warehouse, settings, { ...context, warn }, request.memory);
      lock = await sweepBeforeRun({ warehouse, lock }, settings, { ...locking, ...context });
      await expectEmailSalt(warehouse, settings.emails, request.newEmailSalt);
      if ((await comparePolicy(warehouse, settings.emails)) === 'pass') {
        const { passOlder } = await import('./privacy.ts');
        const passed = await passOlder({ warehouse, lock }, settings, locking);
        lock = passed.lock;
        if (passed.rows > 0)
          warn(
            settings.emails.mode === 'keep'
              ? `people who were erased are replaced in ${passed.rows} rows now`
              : `addresses in ${passed.rows} rows are stored by the policy "${settings.emails.mode}" now`,
            PASSED_HINT,
          );
      }
      // First, so that no plan, watch or page knows a day that the gate of this run no longer lets through.
      const expired =
        usersFrom === null
          ? 0
          : await (await retention()).expireBeforeRun({ warehouse, lock }, settings, usersFrom, context);
      await drainDuringRun(warehouse, settings, context);
      const patience = await openPatience(settings, { ...request, warehouse, clock: context.clock });
      const result = await work({ warehouse, lock, usersFrom, patience, discardNew });
      // Events may have arrived meanwhile, and the first pull has found the organization of earlier ones.
      await drainDuringRun(warehouse, settings, context);
      if (keepsLess(settings))
        await (await retention()).retainDuringRun({ warehouse, lock }, settings, expired, context);
      const isSwept = await sweepAfterRun({ warehouse, lock }, settings, context);
      const isDiscarded = discardedRuns !== null && (await warehouse.discardNew(discardedRuns));
      if (!isDiscarded) await met.part(isSwept);
      return result;
    } finally {
      await lock.release();
    }
  });
}

/** Few runs need it. */
const retention = () => import('./retention.ts');

const PASSED_HINT = 'an earlier version has kept them in names, commands and messages';

/**
 * Exports one organization into a warehouse. Of the settings, it uses the credentials of that organization.
 * @param named the name of the organization, if it has one.
 * @throws {DaywalkError} when the run cannot begin or end; other failures are in the report.
 */
export async function exportInto(
  { warehouse, lock, usersFrom, patience }: Omit<LockedWarehouse, 'discardNew'>,
  settings: Settings,
  request: ExportRequest,
  { clock, observe, signal, network = {} }: RunContext,
  named?: NameInFile,
): Promise<RunReport> {
  const api = requireApi(settings);
  const onRetry = (retry: Retry) => observe({ type: 'retry', ...retry });
  // It may make the key of pseudonyms, which the archive has before it has one of them.
  const gate = await openGate(warehouse, settings.emails, { usersFrom });
  const archive = await archiveOf(settings, { clock, signal, warehouse });
  const patient = { patience, probes: probesOf(api, clock) };
  const transport = openTransport(settings, api, { clock, onRetry, gate, ...patient, ...network });
  const perform = () =>
    runUnits({
      ...askedPlan(settings, request, { clock }),
      asked: { ...askedContract(settings, request), usersFrom },
      command: request.command,
      source: { transport, hosts: api, gate },
      orgId: settings.orgId,
      apiKey: api.apiKey,
      named,
      hasAppKey: api.appApiKey !== null,
      warehouse,
      lock,
      clock,
      archive,
      concurrency: settings.concurrency,
      rangeDays: settings.rangeDays,
      settleDays: settings.settleDays,
      watchDays: settings.watchDays,
      watchRequests: settings.watchRequests,
      minGroup: settings.minGroup,
      acceptLoss: request.acceptLoss ?? false,
      acceptOrganization: request.acceptOrganization ?? false,
      newOrganization: request.newOrganization,
      versions: { daywalk: packageVersion(), node: process.versions.node },
      observe,
      signal,
      patience,
    });
  try {
    return await withPatience(patience, { warehouse, clock, observe }, perform);
  } finally {
    await transport.close();
    await archive?.close();
  }
}

/** Opens the archive of the settings; undefined if they name none. */
async function archiveOf(
  settings: Settings,
  place: Pick<JobContext, 'clock' | 'signal'> & { readonly warehouse: Warehouse },
) {
  const { archives, emails } = settings;
  if (archives.length === 0) return undefined;
  const archive = requireArchive(settings);
  const open = await openArchive({
    ...{ archive, people: emails },
    ...place,
  });
  try {
    await rememberArchive(place.warehouse, resolve(archive));
    return open;
  } catch (error) {
    await open.close();
    throw error;
  }
}

/** What the settings of a run say about what is expected. */
function askedContract(settings: Settings, { maxAgeSeconds = null }: ExportRequest): AskedContract {
  const { firstDay, streams, maxAgeMs } = settings;
  const withoutUsers = usersOf(settings.emails) === 'none';
  const asked = maxAgeMs === null ? maxAgeSeconds : maxAgeMs / 1_000;
  return { firstDay, streams, maxAgeSeconds: asked, withoutUsers };
}

/**
 * What an export asks for.
 * @throws {UsageError} when there is no day in the range.
 */
export function askedPlan(
  settings: Pick<Settings, 'firstDay' | 'emails'>,
  { from, until, streams, force, newestFirst }: ExportRequest,
  { clock }: Pick<JobContext, 'clock'>,
) {
  const firstDay = from ?? settings.firstDay ?? FIRST_DAY;
  const lastDay = until ?? yesterdayOf(clock.now());
  if (lastDay < firstDay) {
    throw new UsageError(`there is no day from ${firstDay} to ${lastDay}`, {
      hint: `the service has data from ${FIRST_DAY} to yesterday (UTC), which is ${yesterdayOf(clock.now())} now`,
    });
  }
  if (streams?.includes('users') === true && usersOf(settings.emails) === 'none') {
    throw new UsageError('the stream users is asked for, and nothing is kept of users', {
      hint: 'leave it out of the streams, or change the policy of users',
    });
  }
  return { from, lastDay, streams, force, newestFirst };
}

/** True when the key or the URL was wrong. A warehouse that such a run created is discarded. */
export function isMistake({ exitCode }: Pick<RunReport, 'exitCode'>): boolean {
  return exitCode === EXIT.credential || exitCode === EXIT.usage;
}
