import { type CommandFlag, jsonFlag } from '../../program/command.ts';

/** The flags that run and backfill share, besides the range of days. */
export const exportFlags: readonly CommandFlag[] = [
  {
    syntax: '--streams <list>',
    doc: 'only these streams, separated by commas: tokens, tools, activity, productivity, users, readiness',
  },
  { syntax: '--dry-run', doc: 'print what a run would do; send nothing, write nothing' },
  {
    syntax: '--accept-loss',
    doc: 'accept that doubted rows are gone, unless more are missing now than when they were doubted',
  },
  { syntax: '--wait', doc: 'wait for another run to end instead of exiting with code 75' },
  { syntax: '--quiet', doc: 'print nothing if the exit code is 0, so that cron only mails failures' },
  jsonFlag,
];
