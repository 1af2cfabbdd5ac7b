import { chmodSync, copyFileSync } from 'node:fs';
import { explainWriteError } from '../core/files.ts';
import { ArchiveFile, createPlace, type Patience, replaceArchive, withArchive } from './archive-file.ts';
import { isWritten } from './archive-place.ts';
import { verifyArchive } from './damage.ts';
import { whileNoRunWrites } from './writers.ts';

/** Where a saved archive says which backup it belongs to. */
const BACKUP = 'backup';
/** Readable for its owner only: answers name people. */
const FILE_MODE = 0o600;

/**
 * Writes one state of an archive without free pages into an empty file, whose name ends in `.db`, and reads all of it. Runs may
 * write the archive meanwhile.
 * @param backup the ID of the backup
 * @returns how many damages it has, which are those of the archive.
 * @throws {UsageError} if there is no archive.
 */
export async function saveArchive(
  archive: string,
  { path, backup, ...patience }: Patience & { readonly path: string; readonly backup: string },
): Promise<number> {
  await withArchive(ArchiveFile.read(archive), (file) =>
    file.query('copy', () => file.db.prepare('VACUUM INTO ?').run(path)),
  );
  await withArchive(ArchiveFile.write(path), (saved) =>
    saved.transact('mark', patience, () => saved.setMeta(BACKUP, backup)),
  );
  const { findings } = await verifyArchive(path);
  return findings.length;
}

/** The ID of the backup that a file belongs to; null if it is no saved archive. */
export async function backupOfArchive(path: string): Promise<string | null> {
  if (!isWritten(path)) return null;
  return withArchive(ArchiveFile.read(path), (file) => file.meta(BACKUP));
}

/**
 * Puts a saved archive in the place of one, at once and durably.
 * @throws {BusyError} while a run writes there.
 */
export async function placeArchive(saved: string, archive: string): Promise<void> {
  const path = createPlace(archive);
  try {
    await whileNoRunWrites(path, () =>
      replaceArchive(path, async (part) => {
        copyFileSync(saved, part);
        chmodSync(part, FILE_MODE);
        await withArchive(ArchiveFile.write(part), ({ db }) => {
          db.prepare('DELETE FROM meta WHERE name = ?').run(BACKUP);
          db.pragma('journal_mode = WAL');
        });
      }),
    );
  } catch (error) {
    throw explainWriteError(error, path);
  }
}
