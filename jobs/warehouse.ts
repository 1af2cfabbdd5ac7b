import { randomUUID } from 'node:crypto';
import { compareArchive, meetArchive } from '../src/archive/index.ts';
import { type WrittenBackup, writeBackup } from '../src/backup/index.ts';
import type { JobContext, Upgrade } from '../src/core/clock.ts';
import { OldWarehouseError, UsageError } from '../src/core/errors.ts';
import {
  addParent,
  type Comparison,
  endArchives,
  type KnownArchive,
  readIdentity,
  readKnownArchives,
  readWarehouseSide,
} from '../src/identity/index.ts';
import { withOwnWarehouse } from '../src/places/index.ts';
import type { Warehouse } from '../src/port/index.ts';
import type { Settings } from '../src/settings/index.ts';
import { readWarehouse, schemaVersion, takeLock, withWarehouse } from '../src/warehouse/index.ts';
import { requireArchive } from './archive.ts';

/** What was accepted. */
export interface Adoption {
  /** The warehouse, as it is known from now on. */
  readonly warehouse: string | null;
  /** False if there was nothing to accept: a run accepts what is there. */
  readonly accepted: boolean;
  /** What is gone, or is no longer expected: one sentence each. */
  readonly lost: readonly string[];
}

interface AdoptContext extends Pick<JobContext, 'clock' | 'signal' | 'upgraded'> {
  /** Wait for a run to end instead of failing with exit code 75. */
  readonly wait: boolean;
}

/**
 * Accepts once what a run has refused. May be repeated: then nothing is lost.
 * @param id the ID that the run has named, or `none`: no archive is expected any more.
 * @throws {UsageError} if there is nothing to accept under this ID. Nothing is written then.
 */
export function adopt(
  settings: Settings,
  id: string,
  { clock, signal, upgraded, wait }: AdoptContext,
): Promise<Adoption> {
  return withOwnWarehouse(settings, { clock, signal, upgraded }, async (warehouse) => {
    const lock = await takeLock(warehouse, { clock, signal, wait, exclusive: true });
    try {
      const lost = await accept(warehouse, settings, { id, clock, signal });
      const identity = await readIdentity(warehouse);
      return { warehouse: identity?.id ?? null, accepted: lost !== null, lost: lost ?? [] };
    } catch (error) {
      await warehouse.discardNew(0);
      throw error;
    } finally {
      await lock.release();
    }
  });
}

interface Asked extends Pick<JobContext, 'clock' | 'signal'> {
  readonly id: string;
}

async function accept(
  warehouse: Warehouse,
  settings: Settings,
  { id, clock, signal }: Asked,
): Promise<string[] | null> {
  const at = clock.now();
  const known = await readKnownArchives(warehouse);
  const expected = known.filter(({ endedAt }) => endedAt === null);
  if (id === 'none') {
    await endArchives(warehouse, at);
    return expected.map(ending);
  }
  const archive = settings.archives.length === 0 ? null : requireArchive(settings);
  const found = archive === null ? null : await compareArchive({ archive, warehouse });
  if (archive !== null && found !== null && found.mismatch !== null) {
    if (found.id !== id) throw nothingToAccept(id, `what a run refuses now is ${found.id}`);
    await meetArchive({ archive, warehouse, clock, signal }, id);
    return lossesOf(found, expected);
  }
  const gone = expected.find((each) => each.id === id);
  if (gone !== undefined && gone.id !== found?.archive) {
    await endArchives(warehouse, at, id);
    return [ending(gone)];
  }
  const { side } = await readWarehouseSide(warehouse, null);
  // It was accepted before: a kill may have come between that and the answer.
  if ([side.id, ...side.parents, ...known.map((each) => each.id)].includes(id)) return null;
  const sides = [
    ...(side.id === null ? [] : [`the warehouse ${side.id}`]),
    ...(found?.archive ? [`the archive ${found.archive}`] : expected.map((each) => `the archive ${each.id}`)),
  ];
  // Without an archive, only a service that is running remembers the warehouse of its last round.
  if (archive !== null || expected.length > 0 || !UUID.test(id))
    throw nothingToAccept(id, `expected are ${sides.join(' and ')}, and a run accepts what is there`);
  await addParent(warehouse, { parent: id, at });
  return [
    `${warehouse.location} stands for the warehouse ${id} from now on; what only that one held is lost`,
  ];
}

const UUID = /^[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}$/;

function nothingToAccept(id: string, instead: string): UsageError {
  return new UsageError(`there is nothing to accept as ${id}: ${instead}`, {
    hint: 'give the same warehouse and archive as the run that was refused, and the ID that it has named; if a service that is running has named it, restart that',
  });
}

function ending({ id, place, lastMetAt }: KnownArchive): string {
  return `the archive ${id} (${place}, last met ${lastMetAt}) is no longer expected: what only it holds cannot be replayed or shown as of a day, until it is there again`;
}

/** What the accepted side lacks, in words. */
function lossesOf({ mismatch, id, lostBy }: Comparison, expected: readonly KnownArchive[]): string[] {
  if (mismatch === 'archive-absent') return expected.filter((known) => known.id === id).map(ending);
  if (mismatch === 'warehouse-absent')
    return [
      `the warehouse ${id} is gone: days are pulled again, and people, prices, budgets, events, hook events, sessions, accepted records and restatements are lost unless you load them again`,
    ];
  const sides = [
    ['warehouse', lostBy.warehouse],
    ['archive', lostBy.archive],
  ] as const;
  return sides.flatMap(([side, lost]) =>
    Object.entries(lost).map(([kind, marks]) =>
      kind === 'pull'
        ? `the ${side} lacks its last runs (at least ${marks.length}); their days are pulled again`
        : `the ${side} lacks ${kind}: at least the last ${marks.length === 1 ? 'time' : `${marks.length} times`}`,
    ),
  );
}

/** How to upgrade. */
interface UpgradeRequest {
  /** Say what would be done, and do nothing. */
  readonly isDryRun: boolean;
  /** The file of a backup that is taken first. @default none */
  readonly backup: string | undefined;
}

/** What an upgrade did, or would do. Both versions are equal if there is nothing to do. */
export interface UpgradeReport extends Upgrade {
  readonly dry_run: boolean;
  /** Null if none was asked for, or nothing was to be done. */
  readonly backup: WrittenBackup | null;
}

/**
 * Brings a warehouse to the schema of this version, in one transaction, after a backup on request. May be repeated at will.
 * @throws {UsageError} if there is no warehouse, or a newer version wrote it.
 * @throws {StorageError} if it cannot be written, or the backup cannot; nothing was changed then.
 */
export async function upgradeWarehouse(
  { warehouse: location }: Pick<Settings, 'warehouse'>,
  { isDryRun, backup: path }: UpgradeRequest,
  context: Pick<JobContext, 'clock' | 'signal'>,
): Promise<UpgradeReport> {
  const needed = await neededAt(location, context);
  const isDone = needed.from === needed.to;
  if (isDone || isDryRun) return { ...needed, dry_run: isDryRun, backup: null };
  const backup = path === undefined ? null : await backUpOld(location, path, needed, context);
  context.signal.throwIfAborted();
  await withWarehouse(location, { ...context, create: false }, async () => undefined);
  return { ...needed, dry_run: false, backup };
}

async function neededAt(location: string, context: Pick<JobContext, 'clock' | 'signal'>): Promise<Upgrade> {
  try {
    const version = schemaVersion(location);
    const shown = await readWarehouse(location, context, async (warehouse) => warehouse.location);
    return { location: shown, from: version, to: version };
  } catch (error) {
    if (error instanceof OldWarehouseError) return error.upgrade;
    throw error;
  }
}

/** The backup has the schema of the warehouse, so that the earlier version can use it too. */
function backUpOld(
  location: string,
  path: string,
  { from, to }: Upgrade,
  { clock, signal }: Pick<JobContext, 'clock' | 'signal'>,
): Promise<WrittenBackup> {
  const options = { clock, signal, create: false, readOnly: true, acceptsOlder: true };
  return withWarehouse(location, options, (source) =>
    writeBackup(path, { source, id: randomUUID(), leaving: to - from, clock, signal }),
  );
}
