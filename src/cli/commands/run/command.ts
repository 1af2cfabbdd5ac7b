import { exportSettings } from '../../arguments/setting-groups.ts';
import type { Command } from '../../program/command.ts';

/** `daywalk run`: the nightly job. */
export const run: Command = {
  name: 'run',
  summary: 'the nightly job: pulls every day not settled, and readiness reports',
  description:
    'Plans, pulls and commits every unit (stream and day) that is not settled yet, from 2026-01-14 to yesterday ' +
    'UTC, and the readiness reports. Each day is stored whole or not at all. A run that was interrupted goes on ' +
    'where it stopped, and a run with nothing to do changes nothing.',
  uses: exportSettings,
  flags: [
    { syntax: '--from <day>', doc: 'first day, YYYY-MM-DD (default: 2026-01-14)' },
    { syntax: '--until <day>', doc: 'last day, YYYY-MM-DD (default: yesterday, UTC)' },
    {
      syntax: '--streams <list>',
      doc: 'only these, separated by commas: tokens, tools, activity, productivity, users, readiness',
    },
    { syntax: '--dry-run', doc: 'say what a run would do; send nothing, write nothing' },
    {
      syntax: '--accept-loss',
      doc: 'accept that doubted rows are gone, where no more is missing now than when they were doubted',
    },
    { syntax: '--wait', doc: 'wait for another run to end instead of exiting with 75' },
    {
      syntax: '--quiet',
      doc: 'print nothing at all where the exit code is 0, so that cron mails only trouble',
    },
    { syntax: '--json', doc: 'print the report as one JSON document' },
  ],
  examples: [
    { line: 'daywalk run', does: 'what cron calls every night; all settings from the environment' },
    { line: 'daywalk run --streams tokens,users --from 2026-03-01', does: 'two streams, from one day on' },
    { line: 'daywalk run --dry-run', does: 'how many units, requests and minutes the next run expects' },
  ],
  resultIsOutput: false,
  act: async (context) => {
    const { performExport } = await import('./export.ts');
    return performExport(context, { command: 'run', force: false, newestFirst: false });
  },
};
