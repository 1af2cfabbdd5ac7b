import { UsageError } from '../src/core/errors.ts';
import type { Settings } from '../src/settings/settings.ts';

/**
 * The folder of the archive.
 * @throws {UsageError} if the settings name none.
 */
export function archiveFolder({ archive }: Settings): string {
  if (archive !== undefined && archive !== null) return archive;
  throw new UsageError('no archive is named', { reason: 'no-archive' });
}
