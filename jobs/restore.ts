import { existsSync } from 'node:fs';
import { join } from 'node:path';
import { sql } from '../schema/query.ts';
import { sourceTables } from '../schema/tables.ts';
import { archiveBytes, savedArchives, verifyArchive } from '../src/archive/index.ts';
import {
  archiveBeside,
  type BackupRecord,
  checkBackup,
  inTemporaryFolder,
  noteBackup,
  withBackup,
} from '../src/backup/index.ts';
import { type CopyEvent, type CopyReport, completeFilling, copyAll } from '../src/copy/index.ts';
import type { JobContext } from '../src/core/clock.ts';
import { BusyError, DaywalkError, StorageError, UsageError } from '../src/core/errors.ts';
import { EXIT, type ExitCode, worstExit } from '../src/core/exit-code.ts';
import { type Identity, newIdentity, readIdentity } from '../src/identity/index.ts';
import { readKeptOut } from '../src/kept-out/index.ts';
import { type KeptOutSince, keptOutSince, sweepOptions } from '../src/places/index.ts';
import { noteStricter, openGate } from '../src/policy/index.ts';
import { isSameWarehouse, RESTORING, type Warehouse } from '../src/port/index.ts';
import type { KeptOut } from '../src/privacy/index.ts';
import { readState, writeState } from '../src/records/index.ts';
import type { Settings } from '../src/settings/index.ts';
import { sweepListed } from '../src/sweep/index.ts';
import { checkWarehouse, FindingList } from '../src/verify/index.ts';
import { notesIn, readWarehouse, takeLock, withWarehouse } from '../src/warehouse/index.ts';
import { keptUsersFrom, requireArchive } from './archive.ts';
import { expireAfter } from './retention.ts';

/** What to restore, and how. */
export interface RestoreRequest {
  /** The backup, or another warehouse in a SQLite file. */
  readonly file: string;
  /** Replace what is in the warehouse, and in the archive. */
  readonly replace: boolean;
  /** Restore the archive of the backup too. */
  readonly withArchive: boolean;
  /** Wait for a run to end instead of failing with exit code 75. */
  readonly wait: boolean;
}

/** What was restored. */
export interface RestoreReport {
  /** 0; 5 if a table differs, or if erasures since the backup are unknown and it knows of any before. */
  readonly exitCode: ExitCode;
  readonly file: string;
  /** What the backup says of itself; null if it is a warehouse without a record. */
  readonly backup: BackupRecord | null;
  /** The warehouse, without its password. */
  readonly to: string;
  /** The archive that was restored; null for none. */
  readonly archive: string | null;
  /** True if an archive or a file of erasures was asked who was erased since. */
  readonly knowsErasures: boolean;
  /** How many erasures the backup did not know, and were applied. */
  readonly erasuresApplied: number;
  readonly rows: number;
  readonly tables: CopyReport['tables'];
  /** Of the content after the restore, as `daywalk digest` prints it. */
  readonly digest: string;
  readonly durationMs: number;
}

type Context = JobContext<CopyEvent>;

/**
 * Restores a backup into the warehouse of the settings, in either database, and applies what an archive or the file of erasures
 * knows of erasures since, and the email policy. May be repeated, also after a kill; until it is complete, no run begins.
 * @throws {UsageError} if there is no such backup, or the warehouse has rows and is not to be replaced.
 * @throws {BusyError} if a run holds the warehouse or writes the archive.
 * @throws {StorageError} if the backup is damaged; nothing was changed then.
 */
export async function restore(
  settings: Settings,
  request: RestoreRequest,
  context: Context,
): Promise<RestoreReport> {
  const startedMs = context.clock.monotonicMs();
  const { file } = request;
  if (isSameWarehouse(file, settings.warehouse))
    throw new UsageError(`${file} is the warehouse itself`, { hint: 'name a backup' });
  const backup = await checkBackup(file);
  const place = request.withArchive ? requireArchive(settings) : null;
  const archive = place === null ? null : { place, saved: await expectPair(file, backup) };
  const known = await keptOutSinceBackup(settings, file, context);
  const archives = [...new Set([...known.archives, ...(archive === null ? [] : [archive.place])])];
  const filled = await fill(settings, { request, backup, archive, known: known.list, archives }, context);
  return {
    ...{ file, backup, archive: archive?.place ?? null, knowsErasures: known.isKnown, ...filled },
    // If the backup keeps nobody out, the installation may never have to.
    exitCode: worstExit([filled.exitCode, known.isKnown || !filled.knewAny ? EXIT.ok : EXIT.quarantine]),
    durationMs: context.clock.monotonicMs() - startedMs,
  };
}

/** What a test of a restore has found. */
export interface RestoreTest extends Omit<RestoreReport, 'to' | 'archive' | 'exitCode'> {
  readonly exitCode: ExitCode;
  /** Damages of the archive that belongs to the backup; null if it was not tested. */
  readonly archiveDamages: number | null;
  /** Parts of the restored warehouse that contradict each other, as `daywalk verify` would find them. */
  readonly broken: number;
}

/**
 * Restores a backup into a temporary SQLite file, verifies it and removes it. A success is noted in the warehouse of the settings,
 * which is not changed otherwise.
 * @throws what {@link restore} throws.
 */
export function testRestore(
  settings: Settings,
  { file, withArchive }: Pick<RestoreRequest, 'file' | 'withArchive'>,
  context: Context,
): Promise<RestoreTest> {
  const startedMs = context.clock.monotonicMs();
  return inTemporaryFolder(async (folder) => {
    const backup = await checkBackup(file);
    const known = await keptOutSinceBackup(settings, file, context);
    const own = {
      warehouse: join(folder, 'restored.db'),
      archives: [],
      erasures: null,
      spool: join(folder, 'spool'),
    };
    const request = { file, withArchive: false, replace: false, wait: false };
    const filling = { request, backup, archive: null, known: known.list, archives: [] };
    const filled = await fill({ ...settings, ...own }, filling, context);
    const broken = await countBroken(own.warehouse, context);
    const archive = withArchive ? await verifyArchive(await expectPair(file, backup)) : null;
    const damages = archive?.findings.length ?? null;
    const isGood = filled.exitCode === EXIT.ok && broken === 0 && (damages ?? 0) === 0;
    if (isGood) await noteTest(settings, backup, context);
    const { to: _temporary, ...rest } = filled;
    return {
      ...{ file, backup, knowsErasures: known.isKnown, ...rest, broken, archiveDamages: damages },
      exitCode: isGood ? EXIT.ok : EXIT.quarantine,
      durationMs: context.clock.monotonicMs() - startedMs,
    };
  });
}

async function countBroken(location: string, { clock }: Context): Promise<number> {
  return readWarehouse(location, { clock }, async (warehouse) => {
    const findings = new FindingList();
    await checkWarehouse(warehouse, findings, { units: 0, rows: 0, comparisons: 0 });
    return findings.counts.broken + (await warehouse.damages()).length;
  });
}

async function noteTest(
  { warehouse: location }: Settings,
  backup: BackupRecord | null,
  { clock, observe }: Context,
): Promise<void> {
  try {
    const note = { backup: backup?.id ?? null, at: clock.now().toISOString() };
    // A test before an upgrade must not upgrade.
    await readWarehouse(location, { clock }, async () => undefined);
    await notesIn(location, { clock })((notes) => noteBackup(notes, 'restoreTest', note));
  } catch (error) {
    const isOfPlace = [UsageError, StorageError, BusyError].some((kind) => error instanceof kind);
    if (!isOfPlace || !(error instanceof DaywalkError)) throw error;
    const message = `the test has succeeded, and is not noted: ${error.message}`;
    observe({ type: 'warning', message, hint: error.hint });
  }
}

interface SavedPlace {
  readonly saved: string;
  readonly place: string;
}

/** The file of the archive that was backed up with a warehouse. */
async function expectPair(file: string, backup: BackupRecord | null): Promise<string> {
  const saved = archiveBeside(file);
  if (!existsSync(saved))
    throw new UsageError(`there is no archive beside the backup: ${saved}`, {
      hint: 'leave the archive out, or name a backup that was taken with it',
    });
  const { backupOfArchive } = await savedArchives();
  const id = await backupOfArchive(saved);
  if (backup !== null && id === backup.id) return saved;
  throw new UsageError(`${saved} belongs to another backup than ${file}`, {
    hint: 'restore two files of one backup',
  });
}

async function keptOutSinceBackup(
  settings: Settings,
  file: string,
  { observe, clock }: Context,
): Promise<KeptOutSince> {
  const known = await withBackup(file, clock, (backup) => keptOutSince(settings, backup, observe));
  if (!known.isKnown) {
    const message =
      'erasures since the backup are unknown: neither an archive nor a list of erasures was read';
    observe({ type: 'warning', message, hint: 'repeat them, if there were any' });
  }
  return known;
}

/** A restored warehouse. */
interface Filled
  extends Pick<RestoreReport, 'to' | 'erasuresApplied' | 'rows' | 'tables' | 'digest' | 'exitCode'> {
  /** The backup keeps somebody out. */
  readonly knewAny: boolean;
}

interface Filling {
  readonly request: RestoreRequest;
  readonly backup: BackupRecord | null;
  /** The archive to restore too; null for none. */
  readonly archive: SavedPlace | null;
  readonly known: KeptOut;
  /** The archives to sweep. */
  readonly archives: readonly string[];
}

async function fill(settings: Settings, filling: Filling, context: Context): Promise<Filled> {
  const { clock, signal, upgraded } = context;
  const { request } = filling;
  const opened = { clock, signal, upgraded, create: true, partial: true };
  return withBackup(request.file, clock, (source) =>
    withWarehouse(settings.warehouse, opened, async (destination) => {
      const lock = await takeLock(destination, {
        ...{ clock, signal, wait: request.wait, exclusive: true, partial: true },
      });
      try {
        const mark = JSON.stringify(filling.backup?.id ?? request.file);
        await begin(destination, mark, filling);
        if (filling.archive !== null)
          await (await savedArchives()).placeArchive(filling.archive.saved, filling.archive.place);
        const existing = { clock, signal, create: false, partial: true };
        const { emails } = settings;
        // Rows of the backup bear the pseudonyms of its key.
        const lists = { before: await readKeptOut(source), after: filling.known };
        const usersFrom = keptUsersFrom(settings, clock);
        const keepsAll = emails.mode === 'keep' && usersFrom === null;
        const passing = { ...lists, usersFrom, ledger: source };
        const gate = keepsAll ? null : await openGate(destination, emails, passing);
        const sweep = await sweepOptions(destination, settings, context, filling.archives);
        const report = await withWarehouse(settings.warehouse, existing, (stored) =>
          source.inSnapshot(() =>
            copyAll({
              ...{ source, stored, destination, lock, replace: true, mark, ...context },
              keptOut: filling.known,
              since: { gate },
              renewLakes: () => sweep.renewLakes(sweep.published),
            }),
          ),
        );
        const knew = (await readKeptOut(source)).entries.length;
        if (report.exitCode === EXIT.ok) {
          await expireAfter({ warehouse: destination, lock }, settings, { clock, signal });
          await sweepListed({ ...sweep, drain: async () => undefined });
          await noteStricter(destination, gate);
          await complete({ source, destination }, filling, context);
        }
        const has = (await readKeptOut(destination)).entries.length;
        return {
          ...{ to: destination.location, digest: report.digest.to, tables: report.tables },
          ...{ rows: report.tables.reduce((sum, { rows }) => sum + rows, 0), exitCode: report.exitCode },
          ...{ erasuresApplied: has - knew, knewAny: knew > 0 },
        };
      } finally {
        await lock.release();
      }
    }),
  );
}

/** Marks the warehouse, so that no run takes a part of a backup for the whole. */
async function begin(destination: Warehouse, mark: string, { request, archive }: Filling): Promise<void> {
  if ((await readState(destination, '', RESTORING)) === mark) return;
  if (!request.replace) {
    await expectEmpty(destination);
    if (archive !== null && archiveBytes(archive.place) > 0)
      throw new UsageError(`there is an archive at ${archive.place} already; nothing was changed`, {
        hint: 'restore into a new place',
        reason: 'restore-onto-data',
      });
  }
  await writeState(destination, '', RESTORING, mark);
}

async function expectEmpty(warehouse: Warehouse): Promise<void> {
  for (const { name } of sourceTables) {
    const [row] = await warehouse.select(sql`SELECT 1 AS stored FROM ${sql.identifier(name)} LIMIT 1`);
    if (row === undefined) continue;
    throw new UsageError(`${warehouse.location} has rows in ${name}; nothing was changed`, {
      hint: 'restore into a new place',
      reason: 'restore-onto-data',
    });
  }
}

/** Gives the warehouse its own identity, and lets runs begin. */
async function complete(
  { source, destination }: Readonly<Record<'source' | 'destination', Warehouse>>,
  { backup }: Filling,
  { clock }: Context,
): Promise<void> {
  const at = clock.now();
  const parent = bothOf(await readIdentity(source), await readIdentity(destination));
  await newIdentity(destination, { parent, madeBy: 'restore', at });
  if (backup !== null) await noteBackup(destination, 'backup', { backup: backup.id, at: backup.takenAt });
  await completeFilling(destination);
}

/** The restored warehouse comes from the backup, and stands for the one that it replaces. */
function bothOf(backup: Identity | null, replaced: Identity | null): Identity | null {
  if (backup === null || replaced === null || backup.id === replaced.id) return backup ?? replaced;
  return { id: backup.id, parents: [...new Set([...backup.parents, replaced.id])] };
}
