import { type Command, type CommandFlags, EXPORT, jsonFlag, usesOf } from '../program/command.ts';

/** The flags that run and backfill share, besides the range of days. */
const exportFlags: CommandFlags = {
  '--streams <list>':
    'only these streams in this run, separated by commas: tokens, tools, activity, productivity, users, readiness',
  '--organization <name>': 'only this organization of the organizations file',
  '--dry-run':
    'print what a run would do, and end as it would as far as that shows without a request; send nothing, write nothing',
  '--accept-loss':
    'accept that doubted rows are gone, unless more are missing now than when they were doubted',
  '--accept-organization':
    'accept that the users of stored days are others than before, if an earlier run has refused that',
  '--new-organization <id>': 'accept that a key answers for this organization from now on, or that it is new',
  '--wait': 'wait for another run to end instead of exiting with code 75',
  '--metrics-file <file>':
    'write metrics for Prometheus to this file at the end, for the textfile collector of node_exporter',
  '--quiet': 'print nothing if the exit code is 0, so that cron only mails failures',
  ...jsonFlag,
};

/** Commands that pull from the service. */
export const exportCommands: readonly Command[] = [
  {
    name: 'run',
    summary: 'the nightly job: pulls unsettled days and readiness reports',
    description:
      'Pulls and commits every unit (a stream on a day) that is not settled yet, from the first expected day to yesterday UTC, and ' +
      'the readiness reports. Each day is stored whole or not at all. After an interruption, the next run resumes. A run ' +
      'with nothing to do changes nothing.',
    uses: usesOf(...EXPORT, 'alerts'),
    flags: {
      '--from <day>':
        'first day, YYYY-MM-DD, for this run only (default: the first expected day, 2026-01-14)',
      '--until <day>': 'last day, YYYY-MM-DD (default: yesterday, UTC)',
      ...exportFlags,
    },
    examples: {
      'daywalk run': 'the nightly call from cron; all settings come from the environment',
      'daywalk run --streams tokens,users --from 2026-03-01': 'two streams, from one day on',
      'daywalk run --dry-run': 'how many units, requests and minutes the next run will take',
    },
    resultIsOutput: false,
    load: async () => (await import('../actions/export.ts')).runAction,
  },
  {
    name: 'backfill',
    summary: 'a run over a range of days; with --force, settled days too',
    description:
      'Does the same as daywalk run, over a range of days. With --force it also pulls settled days again: unchanged days ' +
      'are not written, and every change is recorded in the table restatements.',
    uses: usesOf(...EXPORT, 'alerts'),
    flags: {
      '--from <day>': 'first day, YYYY-MM-DD',
      '--until <day>': 'last day, YYYY-MM-DD',
      '--force': 'pull settled days again too',
      '--newest-first': 'start with the last day',
      '--new-email-salt':
        'hash emails with a new DAYWALK_EMAIL_SALT from now on; with --force, over all days',
      ...exportFlags,
    },
    required: ['--from', '--until'],
    examples: {
      'daywalk backfill --from 2026-01-14 --until 2026-01-31': 'the unsettled days of the first month',
      'daywalk backfill --from 2026-02-01 --until 2026-02-28 --force --newest-first':
        'all of February again, after the service announced a correction',
    },
    resultIsOutput: false,
    load: async () => (await import('../actions/export.ts')).backfillAction,
  },
  {
    name: 'serve',
    summary: 'exports on a schedule, and answers probes and scrapers',
    description:
      'Does what daywalk run does, at every time of a schedule, until it is stopped: an alternative to cron. The first start ' +
      'runs at once. Runs that were missed in a sleep, a stop or a long run are made up for by one run at once. ' +
      'Answers /livez, /readyz, /healthz and /metrics. When it is ready, it prints its address.',
    uses: usesOf(...EXPORT, 'alerts', 'serve'),
    flags: jsonFlag,
    examples: {
      'daywalk serve': 'every night at 03:00 UTC, on http://127.0.0.1:9464',
      'daywalk serve --schedule "30 */6 * * *" --jitter 10m':
        'four times a day, each up to ten minutes later',
      'daywalk serve --listen 0.0.0.0:9464': 'in a container, for the probes of its cluster',
    },
    isService: true,
    resultIsOutput: false,
    load: async () => (await import('../actions/export.ts')).serveAction,
  },
];
