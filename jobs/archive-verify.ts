import { type ArchiveCheck, verifyArchive } from '../src/archive/verify-archive.ts';
import type { Settings } from '../src/settings/settings.ts';
import { archiveFolder } from './archive-folder.ts';

/**
 * Compares every line of the archive's index and every object. Writes nothing.
 * @throws {UsageError} if there is no archive.
 */
export function checkArchive(settings: Settings): Promise<ArchiveCheck> {
  return verifyArchive(archiveFolder(settings));
}
