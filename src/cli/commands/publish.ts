import { biTargets } from '../../bi/targets.ts';
import { settingsIn } from '../../settings/settings-table.ts';
import { type Command, jsonFlag, organizationFlag, usesOf } from '../program/command.ts';

/** `daywalk publish`: the warehouse as files for other tools. */
export const publish: Command = {
  name: 'publish',
  summary: 'Parquet files for a data lake, or a SQLite copy for BI tools',
  description:
    'Writes the tables as Parquet files, one per table, organization and month, or the whole warehouse as one SQLite ' +
    'file, or both. Parquet files that have not changed since the last publish are not written again. Each file is ' +
    'replaced atomically: readers see the old file or the new one. It may run during a run. Give --parquet, --sqlite or both.',
  uses: usesOf('warehouse'),
  flags: {
    '--parquet <dir>': 'folder for the Parquet files; created if it does not exist',
    '--tables <names>': 'only these tables, separated by commas (default: all)',
    '--force': 'write every Parquet file again, even if it has not changed',
    '--sqlite <file>': 'path of the SQLite copy; an earlier copy is replaced',
    ...jsonFlag,
  },
  examples: {
    'daywalk publish --parquet lake': 'Parquet files in the folder lake; only what has changed is written',
    'daywalk publish --sqlite /srv/bi/daywalk.db': 'a copy for BI tools on a file share',
  },
  resultIsOutput: false,
  load: async () => (await import('../actions/publish.ts')).publishAction,
};

/** `daywalk copy`: the whole warehouse, into another database. */
export const copy: Command = {
  name: 'copy',
  summary: 'copies the warehouse with its ledger into another database',
  description:
    'Copies every table of the warehouse, including the ledger, between SQLite and PostgreSQL in either direction. Each ' +
    'day is copied whole. After an interruption, the next copy resumes; a repeated copy writes only what has changed. At ' +
    'the end, the digests of all tables are compared: exit code 5 if they differ. Runs may write to the source ' +
    'meanwhile, but not to the destination. Data that only the destination has is never lost without --replace.',
  uses: usesOf('warehouse'),
  flags: {
    '--to <location>': 'the destination: a SQLite path, or postgres://…; created if it does not exist',
    '--replace': 'compare every row, and delete from the destination what the source does not have',
    '--wait': 'wait for a run on the destination to end instead of exiting with code 75',
    ...jsonFlag,
  },
  required: ['--to'],
  mayHoldPassword: ['--to'],
  examples: {
    'daywalk copy --warehouse daywalk.db --to postgres://daywalk@db.example.com/analytics':
      'from SQLite to PostgreSQL; the password comes from PGPASSWORD or ~/.pgpass',
    'daywalk copy --warehouse postgres://daywalk@db.example.com/analytics --to daywalk.db': 'and back',
  },
  resultIsOutput: false,
  load: async () => (await import('../actions/copy.ts')).copyAction,
};

/** `daywalk bi`: ready files for other tools. */
export const bi: Command = {
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
};

/** `daywalk focus`: the charges of a month for FinOps tools. */
export const focus: Command = {
  name: 'focus',
  summary: 'writes the charges of a month as FOCUS 1.2 rows, or what has changed since',
  description:
    'Writes a file for FinOps tools that follows the FinOps Open Cost and Usage Specification (FOCUS) 1.2: one row per day, ' +
    "user and model, and one row per day for the rest of the day's total, if any. Costs are billable tokens at the " +
    'price of their day. With --corrects, the file holds only corrections: what has changed since the given files were ' +
    'issued, with the reasons. If a price is missing, nothing is written, and the exit code is 2. An existing file is never replaced.',
  uses: usesOf('warehouse'),
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
  resultIsOutput: false,
  load: async () => (await import('../actions/publish.ts')).focusAction,
};
