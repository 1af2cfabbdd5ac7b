import { contentSha256 } from '../../schema/digest.ts';
import { type ErasedCounts, eraseFromArchive } from '../archive/erase-answers.ts';
import { shareErased } from '../archive/erased-file.ts';
import type { DayLine } from '../archive/lines.ts';
import { hasAnswers } from '../archive/read-archive.ts';
import { parseDay } from '../core/day.ts';
import { DefectError } from '../core/errors.ts';
import { isDailyStream } from '../core/stream.ts';
import { archivedPrivacy, collectArchived } from '../pipeline/index.ts';
import type { Sweep } from './sweep.ts';

/** Sweeps the archived answers of an organization. The archive gets the list, and a warehouse that is rebuilt from it too. */
export async function sweepArchive(
  folder: string,
  { warehouse, orgId, people, isDryRun, dropsDamaged }: Sweep,
  { isOrganization, now }: { readonly isOrganization: boolean; readonly now: Date },
): Promise<ErasedCounts> {
  if (!isDryRun) await shareErased(folder, warehouse);
  if (!hasAnswers(folder)) return { answers: 0, objects: 0, dropped: 0 };
  return eraseFromArchive(folder, {
    orgId,
    people: isOrganization ? null : people,
    contentOf,
    now,
    isDryRun,
    dropsDamaged,
  });
}

/** The digest of what the rows of an answer are stored as. They are without the erased already. */
function contentOf(line: DayLine, pages: readonly string[]): string {
  const { org: orgId, stream, day, emails } = line;
  if (!isDailyStream(stream))
    throw new DefectError('erase from the archive', new Error(`a day of ${stream}`));
  const unit = { orgId, stream, day: parseDay(day) };
  const { day: collected } = collectArchived(unit, pages, archivedPrivacy(emails));
  return contentSha256(collected.tables);
}
