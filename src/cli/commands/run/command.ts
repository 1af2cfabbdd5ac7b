import { alertSettings, exportSettings } from '../../arguments/setting-groups.ts';
import type { Command } from '../../program/command.ts';
import { exportFlags } from './flags.ts';

/** `daywalk run`: the nightly job. */
export const run: Command = {
  name: 'run',
  summary: 'the nightly job: pulls unsettled days and readiness reports',
  description:
    'Pulls and commits every unit (a stream on a day) that is not settled yet, from 2026-01-14 to yesterday UTC, and ' +
    'the readiness reports. Each day is stored whole or not at all. After an interruption, the next run resumes. A run ' +
    'with nothing to do changes nothing.',
  uses: [...exportSettings, ...alertSettings],
  flags: {
    '--from <day>': 'first day, YYYY-MM-DD (default: 2026-01-14)',
    '--until <day>': 'last day, YYYY-MM-DD (default: yesterday, UTC)',
    ...exportFlags,
  },
  examples: {
    'daywalk run': 'the nightly call from cron; all settings come from the environment',
    'daywalk run --streams tokens,users --from 2026-03-01': 'two streams, from one day on',
    'daywalk run --dry-run': 'how many units, requests and minutes the next run will take',
  },
  resultIsOutput: false,
  load: () => import('./action.ts'),
};
