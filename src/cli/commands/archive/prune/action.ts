import { thinArchive } from '../../../../../jobs/archive-prune.ts';
import { UsageError } from '../../../../core/errors.ts';
import { EXIT } from '../../../../core/exit-code.ts';
import type { Action } from '../../../program/command.ts';
import { counted, formatBytes } from '../../../text/quantity.ts';

/** About a hundred years. */
const DAYS_MAX = 36_500;

export const act: Action = async ({ settings, job, flags, out }) => {
  const olderThanDays = flags.parse('--older-than', parseAge) ?? 0;
  const isDryRun = flags.isOn('--dry-run');
  const pruned = await thinArchive(settings, { olderThanDays, isDryRun }, job);
  const { before, answersRemoved, answersKept, objectsRemoved, objectsKept, bytesRemoved, damaged } = pruned;
  const json = {
    dry_run: isDryRun,
    before,
    ...{ answers_removed: answersRemoved, answers_kept: answersKept },
    ...{ objects_removed: objectsRemoved, objects_kept: objectsKept },
    bytes_removed: bytesRemoved,
    damaged: damaged.map(({ error }) => error.message),
  };
  const verb = isDryRun ? 'would be removed' : 'removed';
  out.show(json, () => [
    `${counted(answersRemoved, 'answer')} and ${counted(objectsRemoved, 'object')} (${formatBytes(bytesRemoved)}) ${verb}`,
    `${counted(answersKept, 'answer')} and ${counted(objectsKept, 'object')} kept; replays as of ${before} and later are exact`,
    ...damaged.map(({ error }) => `a file stays as it is because of damaged rows: ${error.message}`),
  ]);
  return damaged.length === 0 ? EXIT.ok : EXIT.storage;
};

function parseAge(text: string): number {
  const [, digits] = /^(\d{1,5})d$/.exec(text) ?? [];
  const days = Number(digits);
  if (digits !== undefined && days >= 1 && days <= DAYS_MAX) return days;
  throw new UsageError(`"${text}" is not an age`, { hint: 'write days, for example 400d' });
}
