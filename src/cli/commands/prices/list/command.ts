import { organizationFlag } from '../../../arguments/organization-flag.ts';
import { warehouseSettings } from '../../../arguments/setting-groups.ts';
import { type Command, jsonFlag } from '../../../program/command.ts';
import { pricesGroup } from '../group.ts';

/** `daywalk prices list`: what a million billable tokens cost, and when. */
export const pricesList: Command = {
  name: 'prices list',
  group: pricesGroup,
  summary: 'lists what a million billable tokens cost, and when',
  description:
    'Lists the prices that were loaded, one line per period. --csv prints a file that daywalk prices load accepts. Only ' +
    'reads the warehouse; sends nothing.',
  uses: warehouseSettings,
  flags: { ...organizationFlag, '--csv': 'print a CSV file that can be loaded again', ...jsonFlag },
  examples: {
    'daywalk prices list': 'prices and periods',
    'daywalk prices list --csv > prices.csv': 'to edit the file and load it again',
  },
  resultIsOutput: true,
  load: () => import('./action.ts'),
};
