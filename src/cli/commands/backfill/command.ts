import { alertSettings, exportSettings } from '../../arguments/setting-groups.ts';
import type { Command } from '../../program/command.ts';
import { exportFlags } from '../run/flags.ts';

/** `daywalk backfill`: a run over a range of days. */
export const backfill: Command = {
  name: 'backfill',
  summary: 'a run over a range of days; with --force, settled days too',
  description:
    'Does the same as daywalk run, over a range of days. With --force it also pulls settled days again: unchanged days ' +
    'are not written, and every change is recorded in the table restatements.',
  uses: [...exportSettings, ...alertSettings],
  flags: {
    '--from <day>': 'first day, YYYY-MM-DD',
    '--until <day>': 'last day, YYYY-MM-DD',
    '--force': 'pull settled days again too',
    '--newest-first': 'start with the last day',
    '--new-email-salt': 'hash emails with a new DAYWALK_EMAIL_SALT from now on; with --force, over all days',
    ...exportFlags,
  },
  required: ['--from', '--until'],
  examples: {
    'daywalk backfill --from 2026-01-14 --until 2026-01-31': 'the unsettled days of the first month',
    'daywalk backfill --from 2026-02-01 --until 2026-02-28 --force --newest-first':
      'all of February again, after the service announced a correction',
  },
  resultIsOutput: false,
  load: () => import('./action.ts'),
};
