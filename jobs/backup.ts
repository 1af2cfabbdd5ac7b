import { randomUUID } from 'node:crypto';
import { statSync } from 'node:fs';
import { join, resolve } from 'node:path';
import { savedArchives } from '../src/archive/index.ts';
import {
  archiveBeside,
  datedPath,
  noteBackup,
  noteDamages,
  type PlacedFile,
  putArchive,
  readDamages,
  removeOld,
  type WrittenBackup,
  writeBackup,
} from '../src/backup/index.ts';
import type { JobContext } from '../src/core/clock.ts';
import type { Advice } from '../src/core/errors.ts';
import { DaywalkError } from '../src/core/errors.ts';
import { EXIT, type ExitCode } from '../src/core/exit-code.ts';
import { readIdentity } from '../src/identity/index.ts';
import { notePublished } from '../src/records/index.ts';
import type { Settings } from '../src/settings/index.ts';
import { notesIn, readWarehouse, type WriteNotes } from '../src/warehouse/index.ts';
import { requireArchive } from './archive.ts';

/** Where to back up to, and what. */
export interface BackupRequest {
  /** A file, or a folder, which gets a file for each instant. */
  readonly path: string;
  /** The path is a folder, also if it does not exist yet. */
  readonly isFolder: boolean;
  /** How many backups of this warehouse stay in a folder. */
  readonly keep: number;
  /** Back up the archive too, after the warehouse. */
  readonly withArchive: boolean;
}

/** What a backup reports. */
export type BackupEvent = { readonly type: 'warning'; readonly message: string } & Advice;

/** The backup of an archive. */
export interface SavedArchive extends PlacedFile {
  /** Damages of the archive, which its backup has too. */
  readonly damages: number;
}

export interface BackupReport {
  /** 0, or 5 if the archive is damaged. */
  readonly exitCode: ExitCode;
  readonly warehouse: WrittenBackup;
  /** Null if it was not asked for. */
  readonly archive: SavedArchive | null;
  /** Older backups that were removed. */
  readonly removed: readonly string[];
  readonly durationMs: number;
}

/**
 * Backs up the warehouse, and the archive on request, while runs go on. May be killed at any instant and repeated at will.
 * @throws {UsageError} if the path holds something else.
 * @throws {BusyError} if another backup writes there.
 * @throws {StorageError} if something cannot be read or written, or differs from what was read.
 */
export function backUp(
  settings: Settings,
  request: BackupRequest,
  context: JobContext<BackupEvent>,
): Promise<BackupReport> {
  const { clock, signal } = context;
  const archive = request.withArchive ? requireArchive(settings) : null;
  const startedMs = clock.monotonicMs();
  return readWarehouse(settings.warehouse, { clock, signal }, async (source) => {
    const isFolder =
      request.isFolder || statSync(request.path, { throwIfNoEntry: false })?.isDirectory() === true;
    const path = isFolder ? datedPath(request.path, clock.now()) : request.path;
    const lock = isFolder ? join(request.path, '.daywalk-backup.lock') : undefined;
    const notes = { clock, writeNotes: notesIn(settings.warehouse, { clock, signal }) };
    const begins = () => notePublished(settings.warehouse, source, resolve(request.path), notes);
    const id = randomUUID();
    const warehouse = await writeBackup(path, { source, id, lock, begins, clock, signal });
    const saved =
      archive === null ? null : await saveBeside(archive, archiveBeside(path), { id, lock, clock, signal });
    const parents = (await readIdentity(source))?.parents ?? [];
    const removed = isFolder ? await removeOld(request.path, request.keep, { warehouse, parents }) : [];
    await note(
      notes.writeNotes,
      warehouse,
      context,
      archive === null ? null : { archive, damages: saved?.damages ?? 0, known: await readDamages(source) },
    );
    return {
      exitCode: (saved?.damages ?? 0) > 0 ? EXIT.quarantine : EXIT.ok,
      ...{ warehouse, archive: saved, removed, durationMs: clock.monotonicMs() - startedMs },
    };
  });
}

async function saveBeside(
  archive: string,
  path: string,
  { id, lock, ...patience }: Pick<Parameters<typeof writeBackup>[1], 'id' | 'lock' | 'clock' | 'signal'>,
): Promise<SavedArchive> {
  let damages = 0;
  const { saveArchive } = await savedArchives();
  const placed = await putArchive(path, lock, async (part) => {
    damages = await saveArchive(archive, { path: part, backup: id, ...patience });
  });
  return { ...placed, damages };
}

/** A warehouse that this user may only read is backed up all the same. */
async function note(
  writeNotes: WriteNotes,
  { id, takenAt }: WrittenBackup,
  { observe }: JobContext<BackupEvent>,
  found: {
    readonly archive: string;
    readonly damages: number;
    readonly known: Readonly<Record<string, unknown>>;
  } | null,
): Promise<void> {
  try {
    await writeNotes(async (notes) => {
      if (found !== null) await noteDamages(notes, found.known, found);
      await noteBackup(notes, 'backup', { backup: id, at: takenAt });
    });
  } catch (error) {
    if (!(error instanceof DaywalkError)) throw error;
    const message = `the backup is complete, and the warehouse does not know it: ${error.message}`;
    observe({ type: 'warning', message, hint: 'the metric of the last backup stays as it was' });
  }
}
