import { csvFileOperand } from '../../../arguments/load-request.ts';
import { organizationFlag } from '../../../arguments/organization-flag.ts';
import { warehouseSettings } from '../../../arguments/setting-groups.ts';
import { type Command, jsonFlag } from '../../../program/command.ts';
import { budgetGroup } from '../group.ts';

/** `daywalk budget load`: the budget of each team and month, from a CSV file. */
export const budgetLoad: Command = {
  name: 'budget load',
  group: budgetGroup,
  summary: 'loads the budget of each team and month from a CSV file',
  description:
    'Replaces all budgets of an organization by those of a CSV file, and prints what has changed. Columns: month (YYYY-MM), ' +
    'team, amount, currency (ISO 4217). The team unassigned means users without a team. If anything is wrong with the ' +
    'file, nothing is stored, and the exit code is 2. Loading the same file again changes nothing. May run beside daywalk run.',
  uses: warehouseSettings,
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
  load: () => import('./action.ts'),
};
