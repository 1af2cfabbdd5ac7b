import { type Command, jsonFlag, organizationFlag, usesOf } from '../program/command.ts';

/** `daywalk metric`: answers a question, or lists the metrics. */
export const metric: Command = {
  name: 'metric',
  summary: 'computes a metric by day, week, month, team and more; lists the metrics',
  description:
    'Computes a metric of the dictionary from the warehouse. Weeks and months at the ends of the period count only the days ' +
    'in it. The line below the table names the organization, the days, which of them may still change or are missing, and the ' +
    'run that changed them last; warnings go to standard error. A number that cannot be added up is refused with exit code 2, ' +
    'and a metric that can be is suggested. Teams are those of the day: someone who moved counts in both. Only reads the ' +
    'warehouse; sends nothing.',
  uses: usesOf('warehouse'),
  operands: { '[name]': 'name of a metric; without it, the metrics are listed' },
  flags: {
    '--by <dimensions>':
      'comma-separated dimensions: at most one of date, week, month; and others that the metric has, such as user, team, model',
    '--from <day>': 'first day (default: 2026-01-14)',
    '--until <day>': 'last day (default: the newest loaded day of the stream of the metric)',
    '--team <name>': 'only this team; unassigned means users without a team',
    '--user <id>': 'only this user',
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
    'daywalk metric thinking_share --by week --sql | sqlite3 daywalk.db':
      'the query itself, run by another program',
  },
  resultIsOutput: true,
  load: async () => (await import('../actions/metric.ts')).metricAction,
};

/** `daywalk report`: the pages of the dashboard as one file. */
export const report: Command = {
  name: 'report',
  summary: 'writes the pages of the dashboard as one HTML file, for managers, teams or the public',
  description:
    'Writes one HTML file that can be mailed: it needs no server, no script and no other file. For managers it has ' +
    'everything, and a table of people. For a team or the public it names no person, shows weeks instead of days, and ' +
    'merges groups of fewer than --min-group active people, so that none follows by subtraction from numbers of the ' +
    'reports of one period. An existing file is replaced at once. The same warehouse and flags give the same bytes.',
  uses: usesOf('warehouse'),
  flags: {
    '--out <file>': 'the file to write; its name ends with .html',
    '--each-team <folder>': 'write a file for each team into this folder, and index.html',
    '--from <day>': 'first day (default: the first day of the month of the last day)',
    '--until <day>': 'last day (default: the newest loaded day of users)',
    '--team <name>': 'only this team; unassigned means users without a team',
    '--audience <name>': 'who reads it: managers, team or public (default: managers)',
    '--min-group <number>': 'for team and public: the smallest group of people that is shown (default: 5)',
    ...organizationFlag,
    ...jsonFlag,
  },
  examples: {
    'daywalk report --out november.html': 'this month, for managers',
    'daywalk report --out platform.html --team platform --audience team': 'one team, without names',
    'daywalk report --each-team reports --audience team --from 2026-10-01 --until 2026-10-31':
      'a file for each team about October',
  },
  resultIsOutput: false,
  load: async () => (await import('../actions/pages.ts')).reportAction,
};

/** `daywalk dashboard`: the warehouse in a browser. */
export const dashboard: Command = {
  name: 'dashboard',
  summary: 'shows the warehouse in a browser',
  description:
    'Serves pages about credits, adoption, models, people, teams, tools, output, readiness and the stored days. Each number ' +
    'has the SQL that it comes from. Opens the warehouse for reading only, also while a run writes to it. When it is ready, ' +
    'it prints its address; it runs until it is stopped. Beyond this machine it needs a token, with which people log in; ' +
    'https is the work of a proxy in front of it.',
  uses: usesOf('warehouse', 'dashboard'),
  flags: {
    '--port <port>': 'TCP port; 0 chooses a free one (default: that of --listen)',
    ...jsonFlag,
  },
  examples: {
    'daywalk dashboard': 'on http://127.0.0.1:4000',
    'daywalk dashboard --warehouse daywalk-demo.db --port 0': 'the demo, on a free port',
    'DAYWALK_DASHBOARD_TOKEN_FILE=token.txt daywalk dashboard --listen 0.0.0.0:4000 --allowed-host daywalk.example.com':
      'for other machines, behind a proxy that serves https',
  },
  isForPeople: true,
  resultIsOutput: true,
  load: async () => (await import('../actions/pages.ts')).dashboardAction,
};
