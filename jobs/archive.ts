import { utc } from '@date-fns/utc';
import { subDays } from 'date-fns/subDays';
import { subMonths } from 'date-fns/subMonths';
import { sql } from '../schema/query.ts';
import {
  type ArchiveCheck,
  type Pruned,
  pruneArchive,
  type ShownAnswers,
  type ShownUnit,
  shownArchives,
  verifyArchive,
} from '../src/archive/index.ts';
import { noteDamages, readDamages } from '../src/backup/index.ts';
import type { JobContext } from '../src/core/clock.ts';
import { dayOf, parseDay, shiftDay, type UtcDay } from '../src/core/day.ts';
import { DaywalkError, StorageError, UsageError } from '../src/core/errors.ts';
import { expectKnownArchives } from '../src/places/index.ts';
import type { Warehouse } from '../src/port/index.ts';
import type { Settings } from '../src/settings/index.ts';
import { withWarehouse } from '../src/warehouse/index.ts';

/**
 * Reads every answer and every object of the archives, and compares them with their checksums. Writes nothing.
 * @param note is given how many damages an archive has.
 * @throws {UsageError} if one of them is not there.
 */
export async function checkArchives(
  settings: Settings,
  note: (archive: string, damages: number) => Promise<void> = async () => undefined,
): Promise<ArchiveCheck[]> {
  const checks: ArchiveCheck[] = [];
  for (const archive of requireArchives(settings)) {
    const check = await verifyArchive(archive).catch(async (error: unknown) => {
      if (error instanceof StorageError) await note(archive, 1);
      throw error;
    });
    await note(archive, check.findings.length);
    checks.push(check);
  }
  return checks;
}

/**
 * As {@link checkArchives}, and notes in the warehouse how many damages were found, for the metrics and their alert.
 * @throws {StorageError} if the warehouse knows other archives there, or nothing of one can be read.
 */
export async function verifyArchives(
  settings: Settings,
  { clock, signal }: Pick<JobContext, 'clock' | 'signal'>,
): Promise<ArchiveCheck[]> {
  const unreadable = await expectKnownArchives(settings, { clock, signal }).then(
    () => null,
    (error: unknown) => {
      if (!(error instanceof StorageError) || error.reason === 'identity') throw error;
      return error;
    },
  );
  const checks = await checkArchives(settings, async (archive, found) => {
    const damages = unreadable === null ? found : Math.max(found, 1);
    const { warehouse: location } = settings;
    await withWarehouse(location, { clock, signal, create: false }, async (warehouse) =>
      noteDamages(warehouse, await readDamages(warehouse), { archive, damages }),
    ).catch((error: unknown) => {
      // An archive can be read without a warehouse.
      if (!(error instanceof DaywalkError)) throw error;
    });
  });
  if (unreadable !== null && checks.every(({ findings }) => findings.length === 0)) throw unreadable;
  return checks;
}

/**
 * What came about a unit, and when. Writes nothing.
 * @throws {UsageError} if there is no archive.
 */
export async function showArchive(
  settings: Settings,
  unit: ShownUnit & { readonly withRows: boolean },
): Promise<ShownAnswers> {
  return (await shownArchives()).showAnswers(requireArchive(settings), unit);
}

/** How long something is kept. */
export type Retention = NonNullable<Settings['retainArchive']>;

/** What to remove from the archive. */
interface PruneRequest {
  /** Answers are removed once they are older and no later replay needs them. */
  readonly olderThan: Retention;
  readonly isDryRun: boolean;
}

/**
 * Thins out the archive. Runs may write it meanwhile. May be repeated, also after a kill.
 * @throws {BusyError} while another process removes answers.
 * @throws {UsageError} if there is no archive.
 * @throws {StorageError} if the warehouse knows another archive there.
 */
export async function thinArchive(
  settings: Settings,
  { olderThan, isDryRun }: PruneRequest,
  { clock, signal }: Pick<JobContext, 'clock' | 'signal'>,
): Promise<Pruned> {
  const archive = requireArchive(settings);
  await expectKnownArchives(settings, { clock, signal });
  return pruneArchive(archive, { before: beginOf(olderThan, clock.now()), isDryRun, clock, signal });
}

/** The instant since which something is kept. */
export function beginOf({ count, unit }: Retention, now: Date): Date {
  return unit === 'd' ? subDays(now, count, { in: utc }) : subMonths(now, count, { in: utc });
}

/** The settings that say how long something is kept. */
export type RetentionSettings = Pick<
  Settings,
  'retainUsers' | 'retainEvents' | 'retainQuarantine' | 'retainArchive'
>;

/** True if anything is not kept for ever. */
export function keepsLess(settings: RetentionSettings): boolean {
  const { retainUsers, retainEvents, retainQuarantine, retainArchive } = settings;
  return [retainUsers, retainEvents, retainQuarantine, retainArchive].some((limit) => limit !== null);
}

/** The first day whose people are kept by the settings; null if they do not say. */
export function keptUsersFrom(
  { retainUsers }: Pick<Settings, 'retainUsers'>,
  clock: Pick<JobContext['clock'], 'now'>,
): UtcDay | null {
  return retainUsers === null ? null : dayOf(beginOf(retainUsers, clock.now()));
}

/** So many days at most a clock is believed to be ahead of the newest day that has come. A longer pause ends with the run that ends it. */
const AHEAD_DAYS_MAX = 31;

/**
 * The time from which a run counts back what is older than it is to be kept. If the newest day that has come is long ago by this clock, the
 * clock may be wrong, and what it removed would be gone; so it counts as no more than some days ahead, until a later day has come.
 */
export async function retentionTime(
  warehouse: Pick<Warehouse, 'select'>,
  clock: Pick<JobContext['clock'], 'now'>,
): Promise<{ readonly now: Date; readonly newest: string | null }> {
  const [row] = await warehouse.select(
    sql`SELECT MAX(date) AS newest FROM export_units WHERE state IN ('loaded', 'empty') AND stream <> 'readiness'`,
  );
  const newest = row?.['newest'];
  if (typeof newest !== 'string') return { now: clock.now(), newest: null };
  const latest = new Date(`${shiftDay(parseDay(newest), AHEAD_DAYS_MAX)}T00:00:00Z`);
  return { now: latest < clock.now() ? latest : clock.now(), newest };
}

/**
 * As {@link keptUsersFrom}, for a run, by its {@link retentionTime}.
 * @param warn told if people stay because of it
 */
export async function usersFromOfRun(
  warehouse: Pick<Warehouse, 'select'>,
  settings: Pick<Settings, 'retainUsers'>,
  clock: Pick<JobContext['clock'], 'now'>,
  warn: (message: string, hint: string) => void = () => undefined,
): Promise<UtcDay | null> {
  const asked = keptUsersFrom(settings, clock);
  if (asked === null) return null;
  const { now, newest } = await retentionTime(warehouse, clock);
  const safe = keptUsersFrom(settings, { now: () => now });
  if (safe === null || safe >= asked) return asked;
  warn(
    `people of days from ${safe} on stay, although by this clock those from before ${asked} are older than they are to be kept: no day after ${newest} has come`,
    'set the clock of this machine; if it is right and no more days will come, run daywalk retention',
  );
  return safe;
}

/**
 * The archives of the settings.
 * @throws {UsageError} if they name none.
 */
export function requireArchives({ archives }: Settings): readonly string[] {
  if (archives.length > 0) return archives;
  throw new UsageError('no archive is named', { reason: 'no-archive' });
}

/**
 * The only archive of the settings.
 * @throws {UsageError} if they name none, or several.
 */
export function requireArchive(settings: Settings): string {
  const [archive = '', ...others] = requireArchives(settings);
  if (others.length === 0) return archive;
  throw new UsageError('several archives are named, and this command takes one', {
    hint: 'name one of them',
  });
}
