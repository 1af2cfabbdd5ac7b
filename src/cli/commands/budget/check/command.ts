import { organizationFlag } from '../../../arguments/organization-flag.ts';
import { warehouseSettings } from '../../../arguments/setting-groups.ts';
import { type Command, jsonFlag } from '../../../program/command.ts';
import { budgetGroup } from '../group.ts';

/** `daywalk budget check`: the cost of each team so far and its forecast against the budget. */
export const budgetCheck: Command = {
  name: 'budget check',
  group: budgetGroup,
  summary: 'compares the cost of each team so far, and its forecast, with the budget',
  description:
    'Compares the budgets of a month with the cost of all stored days, and with the forecast: the cost of the settled days, ' +
    'divided by the number of their Mondays to Fridays, times the Mondays to Fridays of the month. Exit code 5 if a team is ' +
    'above its budget or its forecast exceeds it; 2 if a price is missing, prices and budget have different currencies, or the ' +
    'month has no budget; 2 outranks 5. Only reads the warehouse; sends nothing.',
  uses: warehouseSettings,
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
  load: () => import('./action.ts'),
};
