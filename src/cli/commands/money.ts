import {
  type Command,
  type CommandGroup,
  csvFileOperand,
  jsonFlag,
  organizationFlag,
  usesOf,
} from '../program/command.ts';

/** `daywalk prices`. */
const pricesGroup: CommandGroup = {
  name: 'prices',
  summary: 'loads or lists what a million billable tokens cost, and when',
};

/** `daywalk budget`. */
const budgetGroup: CommandGroup = {
  name: 'budget',
  summary: 'loads, lists or checks the budget of each team and month',
};

/** Commands about prices and budgets. */
export const moneyCommands: readonly Command[] = [
  {
    name: 'prices load',
    group: pricesGroup,
    summary: 'loads what a million billable tokens cost, and when, from a CSV file',
    description:
      'Replaces all prices of an organization by those of a CSV file, and prints what has changed. Columns: valid_from, ' +
      'valid_to (empty if the price has no end), currency (ISO 4217), price_per_million. A day without a price has no cost, ' +
      'not a cost of 0. If anything is wrong with the file, nothing is stored, and the exit code is 2. Loading the same file ' +
      'again changes nothing. May run beside daywalk run.',
    uses: usesOf('warehouse'),
    operands: csvFileOperand,
    flags: {
      ...organizationFlag,
      '--dry-run': 'check the file and print what would change; store nothing',
      '--allow-empty': 'accept a file without prices, which removes all prices',
      ...jsonFlag,
    },
    examples: {
      'daywalk prices load prices.csv --dry-run': 'what would change',
      'daywalk prices load prices.csv': 'store it',
    },
    resultIsOutput: false,
    load: async () => (await import('../actions/money.ts')).loadPricesAction,
  },
  {
    name: 'prices list',
    group: pricesGroup,
    summary: 'lists what a million billable tokens cost, and when',
    description:
      'Lists the prices that were loaded, one line per period. --csv prints a file that daywalk prices load accepts. Only ' +
      'reads the warehouse; sends nothing.',
    uses: usesOf('warehouse'),
    flags: { ...organizationFlag, '--csv': 'print a CSV file that can be loaded again', ...jsonFlag },
    examples: {
      'daywalk prices list': 'prices and periods',
      'daywalk prices list --csv > prices.csv': 'to edit the file and load it again',
    },
    resultIsOutput: true,
    load: async () => (await import('../actions/money.ts')).listPricesAction,
  },
  {
    name: 'budget load',
    group: budgetGroup,
    summary: 'loads the budget of each team and month from a CSV file',
    description:
      'Replaces all budgets of an organization by those of a CSV file, and prints what has changed. Columns: month (YYYY-MM), ' +
      'team, amount, currency (ISO 4217). The team unassigned means users without a team. If anything is wrong with the ' +
      'file, nothing is stored, and the exit code is 2. Loading the same file again changes nothing. May run beside daywalk run.',
    uses: usesOf('warehouse'),
    operands: csvFileOperand,
    flags: {
      ...organizationFlag,
      '--dry-run': 'check the file and print what would change; store nothing',
      '--allow-empty': 'accept a file without budgets, which removes all budgets',
      ...jsonFlag,
    },
    examples: {
      'daywalk budget load budgets.csv --dry-run': 'what would change',
      'daywalk budget load budgets.csv': 'store it',
    },
    resultIsOutput: false,
    load: async () => (await import('../actions/money.ts')).loadBudgetAction,
  },
  {
    name: 'budget list',
    group: budgetGroup,
    summary: 'lists the budget of each team and month',
    description:
      'Lists the budgets that were loaded. --csv prints a file that daywalk budget load accepts. Only reads the warehouse; ' +
      'sends nothing.',
    uses: usesOf('warehouse'),
    flags: { ...organizationFlag, '--csv': 'print a CSV file that can be loaded again', ...jsonFlag },
    examples: {
      'daywalk budget list': 'budgets by month and team',
      'daywalk budget list --csv > budgets.csv': 'to edit the file and load it again',
    },
    resultIsOutput: true,
    load: async () => (await import('../actions/money.ts')).listBudgetAction,
  },
  {
    name: 'budget check',
    group: budgetGroup,
    summary: 'compares the cost of each team so far, and its forecast, with the budget',
    description:
      'Compares the budgets of a month with the cost of all stored days, and with the forecast: the cost of the settled days, ' +
      'divided by the number of their Mondays to Fridays, times the Mondays to Fridays of the month. Exit code 5 if a team is ' +
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
    resultIsOutput: true,
    load: async () => (await import('../actions/money.ts')).checkBudgetAction,
  },
];
