import {
  type Command,
  type CommandGroup,
  csvFileOperand,
  jsonFlag,
  organizationFlag,
  usesOf,
} from '../program/command.ts';

/** `daywalk people`. */
const peopleGroup: CommandGroup = {
  name: 'people',
  summary: 'loads or lists who belongs to which team, and when',
};

/** Commands about people and their teams. */
export const peopleCommands: readonly Command[] = [
  {
    name: 'people load',
    group: peopleGroup,
    summary: 'loads who belongs to which team, and when, from a CSV file',
    description:
      'Replaces all people of an organization by those of a CSV file, and prints what has changed. Columns: user_id or ' +
      'user_email, team, and optionally name, department, cost_center, manager_email, valid_from, valid_to. A person who ' +
      'moves has one line per period, so a move in May does not change April. If anything is wrong with the file, nothing ' +
      'is stored, and the exit code is 2. Loading the same file again changes nothing. May run beside daywalk run.',
    uses: usesOf('warehouse', 'emails'),
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
    load: async () => (await import('../actions/people.ts')).loadAction,
  },
  {
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
    resultIsOutput: true,
    load: async () => (await import('../actions/people.ts')).missingAction,
  },
  {
    name: 'people list',
    group: peopleGroup,
    summary: 'lists who belongs to which team, and when',
    description:
      'Lists the people that were loaded, one line per period, with the number of users that each of them is. --csv prints ' +
      'a file that daywalk people load accepts. Only reads the warehouse; sends nothing.',
    uses: usesOf('warehouse'),
    flags: { ...organizationFlag, '--csv': 'print a CSV file that can be loaded again', ...jsonFlag },
    examples: {
      'daywalk people list': 'people, teams and periods',
      'daywalk people list --csv > people.csv': 'to edit the file and load it again',
    },
    resultIsOutput: true,
    load: async () => (await import('../actions/people.ts')).listAction,
  },
];
