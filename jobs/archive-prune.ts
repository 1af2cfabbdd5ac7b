import { utc } from '@date-fns/utc';
import { subDays } from 'date-fns/subDays';
import { type Pruned, pruneArchive } from '../src/archive/prune.ts';
import type { JobContext } from '../src/core/job-context.ts';
import type { Settings } from '../src/settings/settings.ts';
import { archiveFolder } from './archive-folder.ts';

/** What to remove from the archive. */
export interface PruneRequest {
  /** Answers are removed once they are older and no later replay needs them. */
  readonly olderThanDays: number;
  readonly isDryRun: boolean;
}

/**
 * Thins out the archive. May be repeated, also after a kill.
 * @throws {BusyError} while a run writes it.
 * @throws {UsageError} if there is no archive.
 */
export function thinArchive(
  settings: Settings,
  { olderThanDays, isDryRun }: PruneRequest,
  { clock }: Pick<JobContext, 'clock'>,
): Promise<Pruned> {
  const now = clock.now();
  const before = subDays(now, olderThanDays, { in: utc });
  return pruneArchive(archiveFolder(settings), { before, now, isDryRun });
}
