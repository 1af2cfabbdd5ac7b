import { SETTINGS } from '../../../../settings/settings-table.ts';
import { csvFileOperand } from '../../../arguments/load-request.ts';
import { organizationFlag } from '../../../arguments/organization-flag.ts';
import { warehouseSettings } from '../../../arguments/setting-groups.ts';
import { type Command, jsonFlag } from '../../../program/command.ts';
import { peopleGroup } from '../group.ts';

/** `daywalk people load`: who belongs to which team, from a CSV file. */
export const peopleLoad: Command = {
  name: 'people load',
  group: peopleGroup,
  summary: 'loads who belongs to which team, and when, from a CSV file',
  description:
    'Replaces all people of an organization by those of a CSV file, and prints what has changed. Columns: user_id or ' +
    'user_email, team, and optionally name, department, cost_center, manager_email, valid_from, valid_to. A person who ' +
    'moves has one line per period, so a move in May does not change April. If anything is wrong with the file, nothing ' +
    'is stored, and the exit code is 2. Loading the same file again changes nothing. May run beside daywalk run.',
  uses: [SETTINGS.emails, SETTINGS.emailSalt, ...warehouseSettings],
  operands: csvFileOperand,
  flags: {
    ...organizationFlag,
    '--dry-run': 'check the file and print what would change; store nothing',
    '--allow-empty': 'accept a file without people, which removes all people',
    ...jsonFlag,
  },
  examples: {
    'daywalk people load people.csv --dry-run': 'what would change',
    'daywalk people load people.csv': 'store it',
  },
  resultIsOutput: false,
  load: () => import('./action.ts'),
};
