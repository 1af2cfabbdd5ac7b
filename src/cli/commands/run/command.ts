import { exportSettings } from '../../arguments/setting-groups.ts';
import type { Command } from '../../program/command.ts';
import { exportFlags } from './flags.ts';

/** `daywalk run`: the nightly job. */
export const run: Command = {
  name: 'run',
  summary: 'the nightly job: pulls every unsettled day and the readiness reports',
  description:
    'Pulls and commits every unit (a stream on a day) that is not settled yet, from 2026-01-14 to yesterday UTC, and ' +
    'the readiness reports. Each day is stored whole or not at all. After an interruption, the next run resumes. A run ' +
    'with nothing to do changes nothing.',
  uses: exportSettings,
  flags: [
    { syntax: '--from <day>', doc: 'first day, YYYY-MM-DD (default: 2026-01-14)' },
    { syntax: '--until <day>', doc: 'last day, YYYY-MM-DD (default: yesterday, UTC)' },
    ...exportFlags,
  ],
  examples: [
    { line: 'daywalk run', does: 'the nightly call from cron; all settings come from the environment' },
    { line: 'daywalk run --streams tokens,users --from 2026-03-01', does: 'two streams, from one day on' },
    { line: 'daywalk run --dry-run', does: 'how many units, requests and minutes the next run will take' },
  ],
  resultIsOutput: false,
  load: () => import('./action.ts'),
};
