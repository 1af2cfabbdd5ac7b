import { resolve } from 'node:path';
import { isObject, parseJson } from '../core/json.ts';
import type { Warehouse } from '../port/index.ts';
import { readState, writeState } from '../records/index.ts';

/** Where a warehouse notes its last backup, and the last restore that was tested. */
const NAMES = { backup: 'last-backup', restoreTest: 'last-restore-test' } as const;

/** A backup, or a successful test of a restore. */
interface Note {
  /** The ID of the backup. */
  readonly backup: string | null;
  /** An ISO instant. */
  readonly at: string;
}

/** The last backup of a warehouse, and the last successful test of a restore; null before the first one. */
export interface BackupNotes {
  readonly backup: Note | null;
  readonly restoreTest: Note | null;
}

/** Notes a backup, or a test that succeeded. */
export function noteBackup(
  warehouse: Pick<Warehouse, 'transact'>,
  what: keyof BackupNotes,
  note: Note,
): Promise<void> {
  return writeState(warehouse, '', NAMES[what], JSON.stringify(note));
}

/** Reads what was noted. */
export async function readBackupNotes(warehouse: Pick<Warehouse, 'read'>): Promise<BackupNotes> {
  return {
    backup: noteIn(await readState(warehouse, '', NAMES.backup)),
    restoreTest: noteIn(await readState(warehouse, '', NAMES.restoreTest)),
  };
}

function noteIn(text: string | null): Note | null {
  const value = text === null ? null : parseJson(text);
  if (!isObject(value) || typeof value['at'] !== 'string') return null;
  const { backup, at } = value;
  return { backup: typeof backup === 'string' ? backup : null, at };
}

/** Where a warehouse notes how many damages its archives had when all of them was read last, by their places. */
const DAMAGES = 'archive-damages';

/**
 * Notes how many damages an archive has.
 * @param known what {@link readDamages} has read.
 */
export function noteDamages(
  warehouse: Pick<Warehouse, 'transact'>,
  known: Readonly<Record<string, unknown>>,
  { archive, damages }: { readonly archive: string; readonly damages: number },
): Promise<void> {
  return writeState(warehouse, '', DAMAGES, JSON.stringify({ ...known, [resolve(archive)]: damages }));
}

/** How many damages archives had, by their places; those that were never read are missing. */
export async function readDamages(
  warehouse: Pick<Warehouse, 'read'>,
): Promise<Readonly<Record<string, unknown>>> {
  const noted = parseJson((await readState(warehouse, '', DAMAGES)) ?? '');
  return isObject(noted) ? noted : {};
}
