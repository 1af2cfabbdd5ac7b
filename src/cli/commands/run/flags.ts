import { type CommandFlags, jsonFlag } from '../../program/command.ts';

/** The flags that run and backfill share, besides the range of days. */
export const exportFlags: CommandFlags = {
  '--streams <list>':
    'only these streams, separated by commas: tokens, tools, activity, productivity, users, readiness',
  '--organization <name>': 'only this organization of the organizations file',
  '--dry-run': 'print what a run would do; send nothing, write nothing',
  '--accept-loss':
    'accept that doubted rows are gone, unless more are missing now than when they were doubted',
  '--wait': 'wait for another run to end instead of exiting with code 75',
  '--metrics-file <file>':
    'write metrics for Prometheus to this file at the end, for the textfile collector of node_exporter',
  '--quiet': 'print nothing if the exit code is 0, so that cron only mails failures',
  ...jsonFlag,
};
