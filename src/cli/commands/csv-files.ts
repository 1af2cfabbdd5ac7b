import type { FileTypes, LoadedFile } from '../../csv-files/index.ts';
import type { SettingGroup } from '../../settings/index.ts';
import {
  type Command,
  type CommandGroup,
  csvFileOperand,
  jsonFlag,
  organizationFlag,
  usesOf,
} from '../program/command.ts';

/** The help of the commands of a kind of CSV file. Everything else is in the description of the kind, which is loaded late. */
interface CsvCommands<Types extends FileTypes> {
  readonly group: CommandGroup;
  /** What messages call the rows of a file. */
  readonly rows: string;
  /** What the rows say, as the object of a sentence. */
  readonly content: string;
  /** The columns of a file, and what is special about them: sentences. */
  readonly columns: string;
  /** What a list is like, after `Lists the rows that were loaded`. */
  readonly listed: string;
  /** What an example of a list prints. */
  readonly example: string;
  /** The groups of settings of a load, apart from that of the warehouse. */
  readonly settings: readonly SettingGroup[];
  /** Loads the description of the kind. */
  kind(): Promise<LoadedFile<Types>>;
}

/** The commands of a kind of CSV file: load and list. */
export function csvCommands<Types extends FileTypes>(
  words: CsvCommands<Types>,
): { readonly load: Command; readonly list: Command } {
  const { group, rows, content, columns, listed, example, settings, kind } = words;
  const { name } = group;
  const load: Command = {
    name: `${name} load`,
    group,
    summary: `loads ${content}${content.includes(',') ? ',' : ''} from a CSV file`,
    description:
      `Replaces all ${rows} of an organization by those of a CSV file, and prints what has changed. Columns: ${columns} If ` +
      'anything is wrong with the file, nothing is stored, and the exit code is 2. Loading the same file again changes ' +
      'nothing. May run beside daywalk run.',
    uses: usesOf('warehouse', ...settings),
    operands: csvFileOperand,
    flags: {
      ...organizationFlag,
      '--dry-run': 'check the file and print what would change; store nothing',
      '--allow-empty': `accept a file without ${rows}, which removes all ${rows}`,
      ...jsonFlag,
    },
    examples: {
      [`daywalk ${name} load ${rows}.csv --dry-run`]: 'what would change',
      [`daywalk ${name} load ${rows}.csv`]: 'store it',
    },
    resultIsOutput: false,
    load: async () => (await import('../actions/csv-files.ts')).loadAction(await kind()),
  };
  const list: Command = {
    name: `${name} list`,
    group,
    summary: `lists ${content}`,
    description:
      `Lists the ${rows} that were loaded${listed}. --csv prints a file that daywalk ${name} load accepts. Only reads the ` +
      'warehouse; sends nothing.',
    uses: usesOf('warehouse'),
    flags: { ...organizationFlag, '--csv': 'print a CSV file that can be loaded again', ...jsonFlag },
    examples: {
      [`daywalk ${name} list`]: example,
      [`daywalk ${name} list --csv > ${rows}.csv`]: 'to edit the file and load it again',
    },
    onlyReads: true,
    resultIsOutput: true,
    load: async () => (await import('../actions/csv-files.ts')).listAction(await kind()),
  };
  return { load, list };
}

const peopleGroup = { name: 'people', summary: 'loads or lists who belongs to which team, and when' };

/** `daywalk people load` and `list`: who belongs to which team, and when. */
const people = csvCommands({
  group: peopleGroup,
  rows: 'people',
  content: 'who belongs to which team, and when',
  columns:
    'user_id or user_email, team, and optionally name, department, cost_center, manager_email, valid_from, valid_to. A ' +
    'person who moves has one line per period, so a move in May does not change April.',
  listed: ', one line per period, with the number of users that each of them is',
  example: 'people, teams and periods',
  settings: ['emails', 'erasures', 'audiences'],
  kind: async () => (await import('../../csv-files/index.ts')).peopleFile,
});

/** `daywalk people missing`: active users without a team. */
const peopleMissing: Command = {
  name: 'people missing',
  group: peopleGroup,
  summary: 'lists active users without a team, as CSV to fill in',
  description:
    'Lists the users who had no team on the last day they were active: a table on a terminal, otherwise CSV. Fill in the ' +
    'teams, add the lines to your file of people, and load it. Users who are several people on one day, and people ' +
    'without activity, are reported below the table; with CSV, in the log. Only reads the warehouse; sends nothing.',
  uses: usesOf('warehouse'),
  flags: { ...organizationFlag, '--csv': 'print CSV on a terminal, too', ...jsonFlag },
  examples: {
    'daywalk people missing': 'who has no team',
    'daywalk people missing > missing.csv': 'the lines to fill in',
    'daywalk people missing --json': 'also every conflict, and everyone without activity',
  },
  onlyReads: true,
  resultIsOutput: true,
  load: async () => (await import('../actions/csv-files.ts')).missingAction,
};

/** `daywalk prices load` and `list`: what a million billable tokens cost, and when. */
const prices = csvCommands({
  group: { name: 'prices', summary: 'loads or lists what a million billable tokens cost, and when' },
  rows: 'prices',
  content: 'what a million billable tokens cost, and when',
  columns:
    'valid_from, valid_to (empty if the price has no end), currency (ISO 4217), price_per_million. A day without a price ' +
    'has no cost, not a cost of 0.',
  listed: ', one line per period',
  example: 'prices and periods',
  settings: [],
  kind: async () => (await import('../../csv-files/index.ts')).pricesFile,
});

const budgetGroup = {
  name: 'budget',
  summary: 'loads, lists or checks the budget of each team and month',
};

/** `daywalk budget load` and `list`: the budget of each team and month. */
const budgets = csvCommands({
  group: budgetGroup,
  rows: 'budgets',
  content: 'the budget of each team and month',
  columns:
    'month (YYYY-MM), team, amount, currency (ISO 4217). The team unassigned means users without a team.',
  listed: '',
  example: 'budgets by month and team',
  settings: ['emails'],
  kind: async () => (await import('../../csv-files/index.ts')).budgetsFile,
});

/** `daywalk budget check`: the cost of each team so far and its forecast against the budget. */
const budgetCheck: Command = {
  name: 'budget check',
  group: budgetGroup,
  summary: 'compares the cost of each team so far, and its forecast, with the budget',
  description:
    'Compares the budgets of a month with the cost of all stored days, and with the forecast: the cost of the settled days, ' +
    'divided by the number of their working days (Mondays to Fridays that no event closes for all), times those of the month. Exit code 5 if a team is ' +
    'above its budget or its forecast exceeds it; 2 if a price is missing, prices and budget have different currencies, or the ' +
    'month has no budget; 2 outranks 5. Only reads the warehouse; sends nothing.',
  uses: usesOf('warehouse'),
  flags: {
    '--month <month>': 'the month, YYYY-MM (default: that of the newest loaded day)',
    ...organizationFlag,
    ...jsonFlag,
  },
  examples: {
    'daywalk budget check': 'the current month',
    'daywalk budget check --month 2026-10 --json': 'an earlier one, as JSON',
  },
  onlyReads: true,
  resultIsOutput: true,
  load: async () => (await import('../actions/money.ts')).checkBudgetAction,
};

/** `daywalk invoice check`: an invoice against what the warehouse has of its month. */
const invoiceCheck: Command = {
  name: 'invoice check',
  group: { name: 'invoice', summary: 'compares an invoice with the credits and costs of its month' },
  summary: 'compares the lines of an invoice with the credits and costs of its month',
  description:
    'Reads an invoice as CSV: team, model (empty: all), credits, amount, currency; or the FOCUS file of the month. Compares each line ' +
    'with the warehouse, shows the days that were restated after the date of the invoice, and what they do not explain. Exit code ' +
    '0 if all lines and the total agree within the tolerance, 5 if not; 2 if anything is wrong with the file, if a price is missing, or if ' +
    'the month is not over. Only reads the warehouse; sends nothing.',
  uses: usesOf('warehouse', 'emails'),
  operands: csvFileOperand,
  flags: {
    '--month <month>': 'the month of the invoice, YYYY-MM',
    '--columns <names>': 'what the invoice calls its columns, for example team=Cost Center,amount=Net',
    '--date <day>':
      'the date of the invoice, which knows no later change (default: the last day of the month)',
    '--tolerance <share>': 'how much a number may differ (default: 0.5%)',
    ...organizationFlag,
    ...jsonFlag,
  },
  required: ['--month'],
  examples: {
    'daywalk invoice check invoice.csv --month 2026-10': 'does the bill agree?',
    'daywalk invoice check invoice.csv --month 2026-10 --columns team=CostCenter,amount=Net':
      'an invoice with other names of columns',
    'daywalk invoice check focus-2026-10.csv --month 2026-10 --json': 'a FOCUS file, as JSON',
  },
  onlyReads: true,
  resultIsOutput: true,
  load: async () => (await import('../actions/money.ts')).checkInvoiceAction,
};

/** `daywalk events load` and `list`: what happened on a day, and the days on which nobody works. */
const events = csvCommands({
  group: {
    name: 'events',
    summary: 'loads or lists what happened on a day, and the days on which nobody works',
  },
  rows: 'events',
  content: 'what happened on a day, and the days on which nobody works',
  columns:
    'date, text, and optionally team (empty: all) and closed (yes on a day without work, else empty). Days that are closed for ' +
    'all are not working days. Events of the client tool are others, see daywalk hooks.',
  listed: ', one line per event',
  example: 'events by day and team',
  settings: ['emails'],
  kind: async () => (await import('../../csv-files/index.ts')).eventsFile,
});

/** Commands about people. */
export const peopleCommands: readonly Command[] = [people.load, peopleMissing, people.list];

/** Commands about prices, budgets and events. */
export const moneyCommands: readonly Command[] = [
  prices.load,
  prices.list,
  budgets.load,
  budgets.list,
  budgetCheck,
  invoiceCheck,
  events.load,
  events.list,
];
