import { csvFileOperand } from '../../../arguments/load-request.ts';
import { organizationFlag } from '../../../arguments/organization-flag.ts';
import { warehouseSettings } from '../../../arguments/setting-groups.ts';
import { type Command, jsonFlag } from '../../../program/command.ts';
import { pricesGroup } from '../group.ts';

/** `daywalk prices load`: what a million billable tokens cost, from a CSV file. */
export const pricesLoad: Command = {
  name: 'prices load',
  group: pricesGroup,
  summary: 'loads what a million billable tokens cost, and when, from a CSV file',
  description:
    'Replaces all prices of an organization by those of a CSV file, and prints what has changed. Columns: valid_from, ' +
    'valid_to (empty if the price has no end), currency (ISO 4217), price_per_million. A day without a price has no cost, ' +
    'not a cost of 0. If anything is wrong with the file, nothing is stored, and the exit code is 2. Loading the same file ' +
    'again changes nothing. May run beside daywalk run.',
  uses: warehouseSettings,
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
  load: () => import('./action.ts'),
};
