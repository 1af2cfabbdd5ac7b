import {
  type Command,
  type CommandGroup,
  EXPORT,
  jsonFlag,
  organizationFlag,
  usesOf,
} from '../program/command.ts';

/** `daywalk quarantine`. */
const quarantineGroup: CommandGroup = {
  name: 'quarantine',
  summary: 'lists or accepts records that could not be stored',
};

/** Commands that look at the setup, and ask the warehouse what it holds. */
export const checkCommands: readonly Command[] = [
  {
    name: 'check',
    summary: 'whether the next run can begin: settings, key, clock, folders, space',
    description:
      'Looks at everything that a night needs, with a line for each and its remedy: settings, keys and roles, the clock, the ' +
      'warehouse, the archive, free space, schedule and addresses. Writes, creates and upgrades nothing. Sends at most three ' +
      'requests to each host with each key. The exit code is the one that a run would have, or daywalk serve for its schedule.',
    uses: usesOf(...EXPORT, 'alerts', 'notify', 'serve', 'dashboard'),
    flags: {
      '--offline': 'send no request: keys, roles and the clock are not checked',
      ...jsonFlag,
    },
    examples: {
      'daywalk check': 'before the first run, and after each change of the settings',
      'daywalk check --json | jq -r \'.checks[] | select(.state == "failed").remedy\'': 'what is to be done',
    },
    acceptsInvalidSettings: true,
    onlyReads: true,
    resultIsOutput: true,
    load: async () => (await import('../actions/checks.ts')).checkAction,
  },
  {
    name: 'status',
    summary: 'what the warehouse holds and lacks, day by day',
    description:
      'Prints what the warehouse holds, up to yesterday: units by stream and state, holes, the oldest unsettled day, ' +
      'quarantine, the last runs and, on a terminal, a calendar of the days. Only reads the warehouse; sends nothing. ' +
      'A run is complete if it left nothing out: exit code 0, or 5 without a failed unit. Backfills do not count.',
    uses: usesOf('organizations', 'warehouse'),
    flags: {
      '--health':
        'print one line and exit with code 0 if a complete export of all expected streams is recent enough or a run is in ' +
        'progress, no expected stream has fallen silent, and the last run needs no person; with code 1 otherwise',
      '--max-age <age>':
        'exit with code 4 unless a complete run ended within this time, such as 26h or 8d; with --health, the exit code is 1 ' +
        'instead, and the default is what DAYWALK_MAX_AGE or the schedule of serve allowed at the last run',
      '--organization <name>':
        'only this organization, by its ID or its name in the organizations file; without --health',
      '--json': 'print one JSON document that includes every day',
    },
    examples: {
      'daywalk status': 'what is there, what is missing, and how recent it is',
      'daywalk status --health': 'a health check for a nightly job',
    },
    onlyReads: true,
    resultIsOutput: true,
    load: async () => (await import('../actions/status.ts')).statusAction,
  },
  {
    name: 'verify',
    summary: 'checks the stored rows against the ledger',
    description:
      'Recomputes the digest of every unit from the stored rows and compares it with the ledger. This finds flipped bytes, ' +
      'edited rows and deleted days. Also compares the endpoints with each other, day by day. The exit code is 5 for ' +
      'changed content, holes and differences from the service, 6 for a damaged file, and 4 for units that could not be ' +
      'pulled again. Inconsistent figures of the service are only warnings.',
    uses: usesOf(...EXPORT),
    flags: {
      '--against-api <units>':
        'also pull this many units of each organization again and compare them with the stored ones',
      '--organization <name>':
        'verify only this organization, by its ID or its name in the organizations file',
      '--seed <number>': 'chooses the units to pull again (default: random)',
      '--json': 'print one JSON document that includes the findings',
    },
    examples: {
      'daywalk verify': 'checks the whole warehouse; sends nothing',
      'daywalk verify --against-api 20': 'also compares twenty units with the service',
    },
    onlyReads: true,
    resultIsOutput: true,
    load: async () => (await import('../actions/checks.ts')).verifyAction,
  },
  {
    name: 'digest',
    summary: 'a SHA-256 of each table and of the whole warehouse',
    description:
      'Computes a SHA-256 of each table and of the whole warehouse. It covers only the content: the same content has the ' +
      'same digest in SQLite and PostgreSQL, whichever runs stored it and in whichever order.',
    uses: usesOf('warehouse'),
    flags: { ...jsonFlag },
    examples: {
      'daywalk digest': 'the digests of the warehouse in daywalk.db',
      'test "$(daywalk digest --json --warehouse a.db)" = "$(daywalk digest --json --warehouse b.db)"':
        'whether two warehouses have the same content',
    },
    onlyReads: true,
    resultIsOutput: true,
    load: async () => (await import('../actions/status.ts')).digestAction,
  },
  {
    name: 'metric',
    summary: 'computes a metric by day, week, month, team and more; lists the metrics',
    description:
      'Computes a metric of the dictionary from the warehouse. Weeks and months at the ends of the period count only the days ' +
      'in it. The line below the table names the organization, the days, which of them may still change or are missing, and the ' +
      'run that changed them last; warnings go to standard error. A number that cannot be added up is refused with exit code 2, ' +
      'and a metric that can be is suggested. Teams are those of the day: someone who moved counts in both. Only reads the ' +
      'warehouse; sends nothing.',
    uses: usesOf('warehouse', 'reading'),
    operands: {
      '[name]': 'name of a metric, or causes: why the cost has changed; without it, the metrics are listed',
    },
    flags: {
      '--by <dimensions>':
        'comma-separated dimensions: at most one of date, week, month; and others that the metric has, such as user, team, model',
      '--from <day>': 'first day (default: the first expected day, 2026-01-14)',
      '--until <day>': 'last day (default: the newest loaded day of the stream of the metric)',
      '--team <name>': 'only this team; unassigned means users without a team',
      '--user <id>': 'only this user',
      '--filter <condition...>':
        'only rows with this value of a dimension that the metric has: model=atlas-4; may be repeated',
      '--top <n>':
        'only the n largest rows (1 to 1000), then the others together and the total, by the rule of the metric',
      '--order <number>':
        'the largest rows first, by value or by change (its amount, with --compare; default with --top: value)',
      '--cohort <kind>':
        'follow people from the month of their first activity: first-month, for active_users',
      '--compare [span]':
        'compare with the same weekdays before (previous, the default), with the same days of the month before (calendar), or with a span: FIRST..LAST',
      '--unusual':
        'days, teams, models and people far from their own weekdays of the 13 weeks before; --by chooses from date, team, model, user (default: all, of the last settled week)',
      ...organizationFlag,
      '--json': 'print one JSON document, with the days that are not settled or missing',
      '--csv': 'print CSV that is safe to open in a spreadsheet',
      '--sql': 'print the SQL instead of running it: for sqlite3 or psql, depending on the warehouse',
    },
    examples: {
      'daywalk metric': 'the metrics and their dimensions',
      'daywalk metric active_users --by week,team --from 2026-09-01': 'weekly active users of each team',
      'daywalk metric billable_tokens --by month,user --csv > credits.csv':
        'credits of each user, for a spreadsheet',
      'daywalk metric billable_tokens --by team --from 2026-11-01 --until 2026-11-23 --compare':
        'credits of each team, and how they differ from those of 4 to 26 October',
      'daywalk metric published_cost --by model --top 5 --compare --filter month=2026-11':
        'the five most expensive models of a month, the others, the total, and their changes',
      'daywalk metric causes --from 2026-11-01 --until 2026-11-23':
        'how much of the change of the cost comes from days, people, use, models, credits per token and price',
      'daywalk metric billable_tokens --unusual': 'what was unusual in the last settled week',
      'daywalk metric thinking_share --by week --sql | sqlite3 daywalk.db':
        'the query itself, run by another program',
    },
    onlyReads: true,
    resultIsOutput: true,
    load: async () => (await import('../actions/metric.ts')).metricAction,
  },
  {
    name: 'quarantine list',
    group: quarantineGroup,
    summary: 'lists the records that could not be stored, with the reasons',
    description:
      'Lists every quarantined record: its unit, the field in question, the reason, when it was first seen, and when it was ' +
      'accepted. Only reads the warehouse; sends nothing. --json also prints the records as they were received.',
    uses: usesOf('warehouse'),
    flags: { '--json': 'print one JSON document that includes the records themselves' },
    examples: {
      'daywalk quarantine list': 'what was quarantined, and why',
      'daywalk quarantine list --json > quarantine.json': 'the records, for a report',
    },
    onlyReads: true,
    resultIsOutput: true,
    load: async () => (await import('../actions/checks.ts')).listAction,
  },
  {
    name: 'quarantine accept',
    group: quarantineGroup,
    summary: 'accepts known records, so that they no longer affect the exit code',
    description:
      'Accepts quarantined records: they stay listed, but no longer affect the exit code of run and backfill. An accepted ' +
      'record that changes counts again. Every run still pulls the unit, and a record leaves the quarantine when the ' +
      'service returns a valid one. Sends nothing.',
    uses: usesOf('warehouse'),
    flags: {
      '--stream <name>': 'accept the records of this stream',
      '--date <day>': 'accept the records of this UTC day',
      '--all': 'accept every record',
      '--organization <name>':
        'of this organization only, by its ID or its name in the organizations file (default: of every one)',
      ...jsonFlag,
    },
    examples: {
      'daywalk quarantine accept --stream users --date 2026-03-02': 'accepts the records of one unit',
      'daywalk quarantine accept --all': 'accepts every record that is known today',
    },
    resultIsOutput: false,
    load: async () => (await import('../actions/checks.ts')).acceptAction,
  },
];
