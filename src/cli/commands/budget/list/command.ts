import { organizationFlag } from '../../../arguments/organization-flag.ts';
import { warehouseSettings } from '../../../arguments/setting-groups.ts';
import { type Command, jsonFlag } from '../../../program/command.ts';
import { budgetGroup } from '../group.ts';

/** `daywalk budget list`: the budget of each team and month. */
export const budgetList: Command = {
  name: 'budget list',
  group: budgetGroup,
  summary: 'lists the budget of each team and month',
  description:
    'Lists the budgets that were loaded. --csv prints a file that daywalk budget load accepts. Only reads the warehouse; ' +
    'sends nothing.',
  uses: warehouseSettings,
  flags: { ...organizationFlag, '--csv': 'print a CSV file that can be loaded again', ...jsonFlag },
  examples: {
    'daywalk budget list': 'budgets by month and team',
    'daywalk budget list --csv > budgets.csv': 'to edit the file and load it again',
  },
  resultIsOutput: true,
  load: () => import('./action.ts'),
};
