import { exportSettings } from '../../arguments/setting-groups.ts';
import type { Command } from '../../program/command.ts';
import { exportFlags } from '../run/flags.ts';

/** `daywalk backfill`: a run over a range of days. */
export const backfill: Command = {
  name: 'backfill',
  summary: 'a run over a range of days; with --force, settled days too',
  description:
    'Does the same as daywalk run, over a range of days. With --force it also pulls settled days again: unchanged days ' +
    'are not written, and every change is recorded in the table restatements.',
  uses: exportSettings,
  flags: [
    { syntax: '--from <day>', doc: 'first day, YYYY-MM-DD', required: true },
    { syntax: '--until <day>', doc: 'last day, YYYY-MM-DD', required: true },
    { syntax: '--force', doc: 'pull settled days again too' },
    { syntax: '--newest-first', doc: 'start with the last day' },
    {
      syntax: '--new-email-salt',
      doc: 'hash emails with a new DAYWALK_EMAIL_SALT from now on; with --force, over all days',
    },
    ...exportFlags,
  ],
  examples: [
    {
      line: 'daywalk backfill --from 2026-01-14 --until 2026-01-31',
      does: 'the unsettled days of the first month',
    },
    {
      line: 'daywalk backfill --from 2026-02-01 --until 2026-02-28 --force --newest-first',
      does: 'all of February again, after the service announced a correction',
    },
  ],
  resultIsOutput: false,
  load: () => import('./action.ts'),
};
