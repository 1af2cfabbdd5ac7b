import { existsSync } from 'node:fs';
import { resolve } from 'node:path';
import { archiveBytes, compareArchive } from '../archive/index.ts';
import type { JobContext } from '../core/clock.ts';
import { type Advice, BusyError, StorageError, UsageError } from '../core/errors.ts';
import { drainSpool, spoolOf } from '../hooks/index.ts';
import { expectMatch, type KnownArchive, placeFacts, readKnownArchives } from '../identity/index.ts';
import { dueSweeps } from '../kept-out/index.ts';
import type { RunLock, Warehouse } from '../port/index.ts';
import { storedEmail } from '../privacy/index.ts';
import { renewLakes } from '../publish/index.ts';
import { readArchives, readLearned, readPublished } from '../records/index.ts';
import type { Settings } from '../settings/index.ts';
import type { SweepOptions } from '../sweep/index.ts';
import { takeLock } from '../warehouse/index.ts';
import { shareErasures } from './erasures.ts';

type Observe = (event: { readonly type: 'warning'; readonly message: string } & Advice) => void;

/** A warehouse and the lock of a run. */
interface Held {
  readonly warehouse: Warehouse;
  readonly lock: RunLock;
}

/**
 * Shares the lists, and sweeps whom an archive or the file knows and the warehouse did not, or the other way round.
 * @returns the lock of the run; an exclusive one takes its place meanwhile
 */
export async function sweepBeforeRun(
  { warehouse, lock }: Held,
  settings: Settings,
  { observe, ...locking }: Parameters<typeof takeLock>[1] & { readonly observe: Observe },
): Promise<RunLock> {
  await shareErasures(warehouse, settings, observe);
  if ((await dueSweeps(warehouse)).length === 0) return lock;
  await lock.release();
  const exclusive = await takeLock(warehouse, { ...locking, exclusive: true });
  try {
    await sweepNow(warehouse, settings, locking, settings.archives);
  } finally {
    await exclusive.release();
  }
  return takeLock(warehouse, locking);
}

/**
 * Sweeps the new addresses of erased people that a run has found, after the run. If that cannot be done now, the next run does it; a
 * warning says so.
 * @param held its lock is released if there is something to sweep
 * @returns true if nothing is left
 */
export async function sweepAfterRun(
  { warehouse, lock }: Held,
  settings: Settings,
  { observe, ...place }: Pick<JobContext, 'clock' | 'signal'> & { readonly observe: Observe },
): Promise<boolean> {
  if ((await readLearned(warehouse)).length === 0) return true;
  await lock.release();
  try {
    const exclusive = await warehouse.lock({ exclusive: true });
    try {
      await sweepNow(warehouse, settings, place);
    } finally {
      await exclusive.release();
    }
  } catch (error) {
    if (!(error instanceof BusyError) && !(error instanceof UsageError)) throw error;
    const message = `a new address of an erased person is not swept yet: ${error.message}`;
    observe({ type: 'warning', message, hint: 'the next run tries again' });
  }
  return (await readLearned(warehouse)).length === 0;
}

/** Loads what few runs need. */
async function sweepNow(...[warehouse, settings, place, archives]: Parameters<typeof sweepOptions>) {
  const { sweepLearned } = await import('../sweep/index.ts');
  await sweepLearned(await sweepOptions(warehouse, settings, place, archives));
}

/** The files of archives that are swept. */
interface SweptArchives {
  /** One of each archive: the named one, or where it was last met. */
  readonly archives: readonly string[];
  /** Other files of these archives, such as the one at the former place after a copy. */
  readonly copies: readonly string[];
}

/**
 * Compares a warehouse with the archives that it knows, also those that are not named. Writes nothing.
 * @throws {StorageError} if one of them is not there, or not as it was.
 */
export async function expectAllArchives(warehouse: Warehouse, settings: Settings): Promise<SweptArchives> {
  const [missing] = await missingArchives(warehouse, await placesIn(warehouse, settings));
  if (missing !== undefined) {
    const { id, place } = missing;
    throw new StorageError(
      `expected the archive ${id} at ${place}, and it is not there; nothing was written`,
      {
        hint: 'put it back, or name it where it is now; if it is lost, accept that',
        reason: 'identity',
        facts: {
          id,
          ...placeFacts({ warehouse: warehouse.location, archive: settings.archives[0] ?? '' }),
        },
      },
    );
  }
  const found = new Map<string, string>();
  const copies: string[] = [];
  for (const archive of await archivesToSweep(warehouse, settings)) {
    const compared = await compareArchive({ archive, warehouse });
    const id = compared.archive ?? archive;
    if (found.has(id)) copies.push(archive);
    else {
      expectMatch(compared, { archive, warehouse: warehouse.location });
      found.set(id, archive);
    }
  }
  return { archives: [...found.values()], copies };
}

/** Where archives may be: the named ones, and those that runs have written, the last that was met first. */
async function placesIn(warehouse: Warehouse, { archives }: Settings): Promise<string[]> {
  const named = archives.map((archive) => resolve(archive));
  const expected = (await readKnownArchives(warehouse)).filter(({ endedAt }) => endedAt === null);
  const written = await readArchives(warehouse);
  const met = expected.map(({ place }) => place).filter((place) => written.includes(place));
  return [...new Set([...named, ...met, ...written])];
}

/** The archives that a warehouse expects, and that are neither at these places nor where they were met. */
async function missingArchives(
  warehouse: Warehouse,
  places: readonly string[],
): Promise<readonly KnownArchive[]> {
  const expected = (await readKnownArchives(warehouse)).filter(({ endedAt }) => endedAt === null);
  const found = new Set<string | null>();
  for (const archive of new Set([...places, ...expected.map(({ place }) => place)]))
    if (archiveBytes(archive) > 0) found.add((await compareArchive({ archive, warehouse })).archive);
  return expected.filter(({ id }) => !found.has(id));
}

/**
 * Where a sweep goes, according to the settings and to what the warehouse has noted.
 * @param archives the archives. @default the named one, and those that runs have written
 * @throws {UsageError} if an archive that runs have written is not there.
 */
export async function sweepOptions(
  warehouse: Warehouse,
  settings: Settings,
  { clock, signal }: Pick<JobContext, 'clock' | 'signal'>,
  archives?: readonly string[],
): Promise<Omit<SweepOptions, 'orgId'>> {
  return {
    ...{ warehouse, clock, signal, spool: spoolOf(settings), erasures: settings.erasures },
    archives: archives ?? (await archivesToSweep(warehouse, settings)),
    drain: async () => void (await drainSpool(warehouse, settings, signal)),
    stored: (email) => storedEmail(settings.emails, email),
    dropsDamaged: false,
    published: await readPublished(settings.warehouse, warehouse),
    renewLakes: async (places) => (await renewLakes({ warehouse, clock, signal }, places)).renewed,
  };
}

/**
 * The archives to sweep: the named one, and those that runs have written, without places that an archive has left: it was moved,
 * or a person has accepted that it is gone, or has put an empty file in its place.
 * @throws {UsageError} if one of them is not there, such as a volume that is not mounted.
 */
async function archivesToSweep(warehouse: Warehouse, settings: Settings): Promise<string[]> {
  const places = await placesIn(warehouse, settings);
  const named = settings.archives.map((archive) => resolve(archive));
  const isThere = (path: string) => (named.includes(path) ? existsSync(path) : archiveBytes(path) > 0);
  const away = places.filter((path) => !isThere(path));
  if (away.length === 0) return places;
  const known = await readKnownArchives(warehouse);
  const missing = await missingArchives(warehouse, places);
  const isLeft = (path: string) =>
    !named.includes(path) &&
    !missing.some(({ place }) => place === path) &&
    (existsSync(path) || known.some(({ place }) => place === path));
  const lost = away.find((path) => !isLeft(path));
  if (lost === undefined) return places.filter(isThere);
  const stand = lost.endsWith('.db') ? 'file' : 'folder';
  throw new UsageError(`the archive ${lost} is not there, and may hold this person`, {
    hint: `mount it; if it was deleted, create an empty ${stand} in its place`,
  });
}
