import { organizationFlag } from '../../../arguments/organization-flag.ts';
import { warehouseSettings } from '../../../arguments/setting-groups.ts';
import { type Command, jsonFlag } from '../../../program/command.ts';
import { peopleGroup } from '../group.ts';

/** `daywalk people list`: who belongs to which team, and when. */
export const peopleList: Command = {
  name: 'people list',
  group: peopleGroup,
  summary: 'lists who belongs to which team, and when',
  description:
    'Lists the people that were loaded, one line per period, with the number of users that each of them is. --csv prints ' +
    'a file that daywalk people load accepts. Only reads the warehouse; sends nothing.',
  uses: warehouseSettings,
  flags: { ...organizationFlag, '--csv': 'print a CSV file that can be loaded again', ...jsonFlag },
  examples: {
    'daywalk people list': 'people, teams and periods',
    'daywalk people list --csv > people.csv': 'to edit the file and load it again',
  },
  resultIsOutput: true,
  load: () => import('./action.ts'),
};
