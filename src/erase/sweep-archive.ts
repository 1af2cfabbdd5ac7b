import { contentSha256 } from '../../schema/digest.ts';
import { type DayAnswer, eraseFromArchive, partsOf } from '../archive/index.ts';
import type { Clock } from '../core/clock.ts';
import { parseDay } from '../core/day.ts';
import { DefectError } from '../core/errors.ts';
import { isDailyStream } from '../core/stream.ts';
import { collectArchived } from '../pipeline/index.ts';
import { Gate } from '../privacy/index.ts';
import type { Sweep } from './sweep.ts';

/** Sweeps the archived answers of an organization. The archive gets the list, and a warehouse that is rebuilt from it too. */
export function sweepArchive(
  archive: string,
  { passing, ...sweep }: Sweep,
  { isOrganization, clock }: { readonly isOrganization: boolean; readonly clock: Clock },
): ReturnType<typeof eraseFromArchive> {
  return eraseFromArchive(archive, { ...sweep, clock, people: isOrganization ? null : passing, contentOf });
}

/** The digest of what the rows of an answer are stored as. They are without the erased already. */
export function contentOf({ org: orgId, unit }: DayAnswer, pages: readonly string[]): string {
  const { stream, day } = partsOf(unit);
  if (!isDailyStream(stream) || day === null)
    throw new DefectError('erase from the archive', new Error(`a day of ${unit}`));
  const { day: collected } = collectArchived(
    { orgId, stream, day: parseDay(day) },
    pages,
    new Gate({ mode: 'keep' }),
  );
  return contentSha256(collected.tables);
}
