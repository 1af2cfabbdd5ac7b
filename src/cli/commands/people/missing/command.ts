import { organizationFlag } from '../../../arguments/organization-flag.ts';
import { warehouseSettings } from '../../../arguments/setting-groups.ts';
import { type Command, jsonFlag } from '../../../program/command.ts';
import { peopleGroup } from '../group.ts';

/** `daywalk people missing`: active users without a team. */
export const peopleMissing: Command = {
  name: 'people missing',
  group: peopleGroup,
  summary: 'lists active users without a team, as CSV to fill in',
  description:
    'Lists the users who had no team on the last day they were active: a table on a terminal, otherwise CSV. Fill in the ' +
    'teams, add the lines to your file of people, and load it. Users who are several people on one day, and people ' +
    'without activity, are reported below the table; with CSV, in the log. Only reads the warehouse; sends nothing.',
  uses: warehouseSettings,
  flags: { ...organizationFlag, '--csv': 'print CSV on a terminal, too', ...jsonFlag },
  examples: {
    'daywalk people missing': 'who has no team',
    'daywalk people missing > missing.csv': 'the lines to fill in',
    'daywalk people missing --json': 'also every conflict, and everyone without activity',
  },
  resultIsOutput: true,
  load: () => import('./action.ts'),
};
