import { realpathSync } from 'node:fs';
import { mkdtemp, readFile, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { RoundListener } from '../../jobs/round.ts';
import { runCommand } from '../client-hooks/index.ts';
import type { JobContext } from '../core/clock.ts';
import { dayOf, shiftDay, type UtcDay, weekdayOf } from '../core/day.ts';
import { DaywalkError, messageOf, StorageError, UsageError } from '../core/errors.ts';
import { EXIT } from '../core/exit-code.ts';
import { type FileLock, tryFileLock } from '../core/sqlite-files.ts';
import { contractOf } from '../expected/index.ts';
import type { RunEvent } from '../pipeline/index.ts';
import type { Warehouse } from '../port/index.ts';
import { readState, STATES, writeState } from '../records/index.ts';
import type { Settings } from '../settings/index.ts';
import { withWarehouse } from '../warehouse/index.ts';
import { failureOf, type ServeEvent } from './service-state.ts';

/** By then the run of Monday has settled nearly all of the week. */
const REST_DAYS = 2;
const COMMAND_SECONDS_MAX = 60;

type BriefSettings = Pick<Settings, 'warehouse' | 'minGroup' | 'briefCommand'>;

/**
 * Hands the brief of each week to the command of the settings, once, after the first complete round from Tuesday on; none without a
 * command. The mail is on the standard input of the command. If the command fails, takes longer than a minute, or the process is
 * killed before the warehouse remembers the week, the next round hands it over again.
 */
export function weeklyBrief(
  settings: BriefSettings,
  { clock, signal, observe }: JobContext<RunEvent | ServeEvent>,
): RoundListener[] {
  if (settings.briefCommand === null) return [];
  const end: RoundListener['end'] = async ({ organizations }) => {
    for (const { orgId, exitCode } of organizations) {
      if (orgId === null || exitCode !== EXIT.ok || signal.aborted) continue;
      try {
        await handOver(settings, { orgId, monday: weekOfBrief(dayOf(clock.now())) }, { clock, signal });
      } catch (error) {
        // A defect is reported by the round.
        if (!(error instanceof DaywalkError)) throw error;
        if (!signal.aborted) observe(failureOf('hand over the brief of the week', error));
      }
    }
  };
  return [{ end }];
}

/** The Monday of the last week that ended {@link REST_DAYS} days ago or earlier. */
function weekOfBrief(today: UtcDay): UtcDay {
  const last = shiftDay(today, -REST_DAYS);
  return shiftDay(last, -6 - (weekdayOf(last) % 7));
}

async function handOver(
  settings: BriefSettings,
  { orgId, monday }: { readonly orgId: string; readonly monday: UtcDay },
  job: Pick<JobContext, 'clock' | 'signal'>,
): Promise<void> {
  const once = async (warehouse: Warehouse) => {
    const known = await readState(warehouse, orgId, STATES.brief);
    const { firstDay } = await warehouse.read(() => contractOf(orgId));
    // The week in which the export begins is no whole one.
    if (monday < firstDay || (known !== null && known >= JSON.stringify(monday))) return;
    await compose(settings, { orgId, monday }, job);
    // Without the run lock: a run that has begun meanwhile must not let the week be handed over again.
    await writeState(warehouse, orgId, STATES.brief, JSON.stringify(monday));
  };
  await withWarehouse(settings.warehouse, { ...job, create: false }, (warehouse) =>
    // Of two services on PostgreSQL, the later one sees what the earlier one has handed over.
    warehouse.oneAtATime(STATES.brief, () => unlessHeld(warehouse, () => once(warehouse))),
  );
}

/** On SQLite, leaves the work to the process that is doing it. */
async function unlessHeld({ dialect, location }: Warehouse, work: () => Promise<void>): Promise<void> {
  if (dialect !== 'sqlite') return work();
  const path = `${realpathSync(location)}.brief.lock`;
  let lock: FileLock | null;
  try {
    lock = tryFileLock(path);
  } catch (cause) {
    const hint = 'free space on its disk, or make its folder writable';
    throw new StorageError(`lock the brief of the week with ${path}: ${messageOf(cause)}`, { cause, hint });
  }
  if (lock !== null) await work().finally(lock.release);
}

async function compose(
  settings: BriefSettings,
  { orgId: organization, monday }: { readonly orgId: string; readonly monday: UtcDay },
  job: Pick<JobContext, 'clock' | 'signal'>,
): Promise<void> {
  const folder = await mkdtemp(join(tmpdir(), 'daywalk-brief-'));
  const request = { folder, organization, span: { kind: 'week', monday }, audience: 'managers' } as const;
  try {
    // The pages take long to load, and most rounds need none.
    const { brief } = await import('../../jobs/pages.ts');
    await brief(settings, { ...request, dashboard: undefined }, job);
    await deliver(settings.briefCommand ?? '', await readFile(join(folder, 'message.eml'), 'utf8'), {
      folder,
      signal: job.signal,
    });
  } finally {
    await rm(folder, { recursive: true, force: true });
  }
}

async function deliver(
  command: string,
  message: string,
  { folder, signal }: { readonly folder: string; readonly signal: AbortSignal },
): Promise<void> {
  const request = { command, input: message, directory: folder, timeoutSeconds: COMMAND_SECONDS_MAX };
  const { exitCode, timedOut, stderr } = await runCommand({ ...request, signal });
  if (exitCode === 0) return;
  const how = timedOut
    ? `took longer than ${COMMAND_SECONDS_MAX} seconds`
    : `ended with ${exitCode ?? 'a signal'}`;
  const why = stderr.trim().split('\n').at(-1) ?? '';
  throw new UsageError(`the command of DAYWALK_BRIEF_COMMAND ${how}: ${why}`, {
    hint: 'the next complete round tries again',
  });
}
