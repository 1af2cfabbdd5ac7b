import { biTargets } from '../../bi/index.ts';
import { SETTINGS, settingsIn } from '../../settings/index.ts';
import { type Command, jsonFlag, organizationFlag, usesOf } from '../program/command.ts';

/** Commands that bring what is stored to other tools and to people. */
export const publishCommands: readonly Command[] = [
  {
    name: 'publish',
    summary: 'Delta tables or Parquet files for a data lake, or a SQLite copy for BI tools',
    description:
      'Writes the tables for other tools: with --delta as Delta Lake tables, with --parquet as Parquet files, with --sqlite as one SQLite ' +
      'file that has the views, too. Give at least one of them. Who was erased, the keys of pseudonyms and records in quarantine are ' +
      'never published. What has not changed since the last publish is not written again. During a publish, a reader sees each Delta ' +
      'table, Parquet file or SQLite file as it was before or as it is after. It may run during a run.',
    uses: usesOf('warehouse'),
    flags: {
      '--delta <dir>': 'folder for the Delta tables; created if it does not exist',
      '--keep <age>':
        'how long earlier versions of Delta tables stay, in days or calendar months, for example 7d or 1mo (default: 7d)',
      '--parquet <dir>': 'folder for the Parquet files; created if it does not exist',
      '--tables <names>': 'only these tables, separated by commas (default: all)',
      '--force': 'write every file of Delta tables and every Parquet file again, even if it has not changed',
      '--sqlite <file>': 'path of the SQLite copy; an earlier copy is replaced',
      ...jsonFlag,
    },
    examples: {
      'daywalk publish --delta lake': 'Delta tables in the folder lake; only what has changed is written',
      'daywalk publish --parquet lake': 'Parquet files in the folder lake; only what has changed is written',
      'daywalk publish --sqlite /srv/bi/daywalk.db': 'a copy for BI tools on a file share',
    },
    resultIsOutput: false,
    load: async () => (await import('../actions/publish.ts')).publishAction,
  },
  {
    name: 'bi',
    summary: 'writes ready files for the tools that you already use',
    description:
      'Writes files for another tool, made from the schema and the dictionary of metrics. Opens no warehouse. Writes ' +
      'into an empty folder, or updates the files that it has written there; if somebody has edited one of them, it names the ' +
      'file and writes nothing.',
    uses: settingsIn('log'),
    operands: {
      '<target>': biTargets.map(({ name, summary }) => `${name}: ${summary}`).join('; '),
    },
    flags: {
      '--out <folder>': 'the folder to write; it is created if it does not exist',
      ...jsonFlag,
    },
    required: ['--out'],
    examples: {
      'daywalk bi sql --out daywalk-sql': 'statements for Metabase, Superset, Redash and others',
      'daywalk bi sql --out daywalk-sql --json': 'the same, with the result as JSON',
    },
    resultIsOutput: false,
    load: async () => (await import('../actions/schema-and-bi.ts')).biAction,
  },
  {
    name: 'focus',
    summary: 'writes the charges of a month as FOCUS 1.2 rows, or what has changed since',
    description:
      'Writes a file for FinOps tools that follows the FinOps Open Cost and Usage Specification (FOCUS) 1.2: one row per day, ' +
      "user and model, and one row per day for the rest of the day's total, if any. Costs are billable tokens at the " +
      'price of their day. With --corrects, the file holds only corrections: what has changed since the given files were ' +
      'issued, with the reasons. If a price is missing, nothing is written, and the exit code is 2. An existing file is never replaced.',
    uses: usesOf('warehouse', 'emails'),
    flags: {
      '--month <month>': 'the month to write, YYYY-MM',
      '--out <file>': 'the file to write; its name ends with .csv or .parquet',
      '--corrects <file...>':
        'a file that was issued for this month: first the original, then its corrections. Repeat the flag for each',
      ...organizationFlag,
      '--provider <name>': 'ProviderName, PublisherName and ServiceName (default: Agent platform)',
      '--issuer <name>': 'InvoiceIssuerName (default: the provider)',
      '--account-name <name>': 'BillingAccountName, the display name of the organization (default: none)',
      ...jsonFlag,
    },
    required: ['--month', '--out'],
    examples: {
      'daywalk focus --month 2026-10 --out focus-2026-10.csv': 'the charges of October',
      'daywalk focus --month 2026-10 --out focus-2026-10-c1.csv --corrects focus-2026-10.csv':
        'what has changed since that file was issued',
      'daywalk focus --month 2026-10 --out focus-2026-10-c2.csv --corrects focus-2026-10.csv --corrects focus-2026-10-c1.csv':
        'what has changed since both were issued',
    },
    onlyReads: true,
    resultIsOutput: false,
    load: async () => (await import('../actions/publish.ts')).focusAction,
  },
  {
    name: 'dashboard',
    summary: 'shows the warehouse in a browser',
    description:
      'Serves pages about credits, adoption, models, people, teams, tools, output, readiness and the stored days. Each number ' +
      'has the SQL that it comes from. Opens the warehouse for reading only, also while a run writes to it. When it is ready, ' +
      'it prints its address; it runs until it is stopped. Beyond this machine it needs a token, with which people log in; ' +
      'https is the work of a proxy in front of it.',
    uses: usesOf('warehouse', 'reading', 'dashboard'),
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
  },
  {
    name: 'mcp',
    summary: 'answers assistants: the metrics as tools of the Model Context Protocol',
    description:
      'A server of the Model Context Protocol, for the assistants that people use: four tools that only read, and no SQL. Over standard ' +
      'input and output it serves the client that started it; with --listen it serves clients over HTTP, which must show the token ' +
      'of the file. Answers say first whether they can still change, never add what does not add up, and name nothing as an ' +
      'instruction that the service wrote. For the audience team, only published weeks are answered about. Each call is a line of ' +
      'the log (event audit), without its values. It runs until the client leaves, or until it is stopped.',
    uses: [...usesOf('warehouse', 'reading', 'audiences', 'assistants'), SETTINGS.allowedHosts],
    flags: {
      '--listen <host:port>': 'serve over HTTP, at /mcp of this address; port 0 chooses a free one',
      '--audience <name>': 'who asks: managers, or team for published weeks only (default: managers)',
      ...organizationFlag,
      '--json': 'print the address as JSON when it listens',
    },
    examples: {
      'daywalk mcp --warehouse /var/lib/daywalk/daywalk.db':
        'what a client starts; docs/assistants.md has the lines for four',
      'daywalk mcp --listen 127.0.0.1:4100 --token-file token.txt --audience team':
        'for several people, about published weeks',
    },
    isService: true,
    resultIsOutput: true,
    load: async () => (await import('../actions/assistants.ts')).mcpAction,
  },
  {
    name: 'report',
    summary: 'writes the pages of the dashboard as one HTML file, for managers, teams or the public',
    description:
      'Writes one HTML file that can be mailed: it needs no server, no script and no other file. For managers it has ' +
      'everything, and a table of people. For a team or the public it has published weeks and nothing else: a run publishes ' +
      'each week once, when it is settled, with groups of too few people together, so that no number about few people ' +
      'follows from any reports. An existing file is replaced at once. The same warehouse and flags give the same bytes.',
    uses: usesOf('warehouse', 'audiences'),
    flags: {
      '--out <file>': 'the file to write; its name ends with .html',
      '--each-team <folder>': 'write a file for each team into this folder, and index.html',
      '--from <day>':
        'first day (default: the first day of the month of the last day; for team and public a Monday)',
      '--until <day>':
        'last day (default: the newest loaded day of users; for team and public a Sunday, and the last 13 published weeks)',
      '--team <name>': 'only this team; unassigned means users without a team',
      '--audience <name>': 'who reads it: managers, team or public (default: managers)',
      '--min-group <number>':
        'for team and public: the smallest group of people that is shown; not below DAYWALK_MIN_GROUP (default: that)',
      ...organizationFlag,
      ...jsonFlag,
    },
    examples: {
      'daywalk report --out november.html': 'this month, for managers',
      'daywalk report --out platform.html --team platform --audience team': 'one team, without names',
      'daywalk report --each-team reports --audience team --from 2026-09-28 --until 2026-11-01':
        'a file for each team about five weeks',
    },
    onlyReads: true,
    resultIsOutput: false,
    load: async () => (await import('../actions/pages.ts')).reportAction,
  },
  {
    name: 'brief',
    summary: 'writes the mail of a week or month: subject, text and HTML, without a person',
    description:
      'Writes what a director reads in a mail: what the week or month cost and why it changed, the budgets at risk, the teams and ' +
      'models that changed most, and how much the service was used. The numbers are those of the overview of the same period. The HTML is ' +
      '600 pixels wide and loads nothing. It names no person. For a team it has a published week and nothing else. Writes subject.txt, ' +
      'body.txt and body.html into the folder, and all of it as message.eml, which lacks only sender and recipients; Daywalk sends no ' +
      'mail. The default is the last whole week, Monday to Sunday, that is stored; for a team the last published one. The same warehouse and flags ' +
      'give the same bytes.',
    uses: usesOf('warehouse', 'audiences'),
    flags: {
      '--out <folder>': 'the folder to write into; it is created if it does not exist',
      '--week <week>': 'a week, as 2026-W47 or as its Monday',
      '--month <month>': 'a month, YYYY-MM; one that is not over ends with the last stored day',
      '--audience <name>': 'who reads it: managers or team (default: managers)',
      '--dashboard <url>': 'the address of the dashboard, to which the names link (default: no links)',
      ...organizationFlag,
      ...jsonFlag,
    },
    required: ['--out'],
    examples: {
      'daywalk brief --out brief': 'the last whole week, for managers',
      'daywalk brief --out brief --month 2026-10 --dashboard https://daywalk.example.com':
        'October, with links',
      'daywalk brief --out brief --audience team': 'the last published week, for everybody',
    },
    onlyReads: true,
    resultIsOutput: false,
    load: async () => (await import('../actions/pages.ts')).briefAction,
  },
];
