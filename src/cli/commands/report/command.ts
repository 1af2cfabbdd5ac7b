import { organizationFlag } from '../../arguments/organization-flag.ts';
import { warehouseSettings } from '../../arguments/setting-groups.ts';
import { type Command, jsonFlag } from '../../program/command.ts';

/** `daywalk report`: the pages of the dashboard as one file. */
export const report: Command = {
  name: 'report',
  summary: 'writes the pages of the dashboard as one HTML file, for managers, teams or the public',
  description:
    'Writes one HTML file that can be mailed: it needs no server, no script and no other file. For managers it has ' +
    'everything, and a table of people. For a team or the public it names no person, shows weeks instead of days, and ' +
    'merges groups of fewer than --min-group active people, so that none follows by subtraction from numbers of the ' +
    'reports of one period. An existing file is replaced at once. The same warehouse and flags give the same bytes.',
  uses: warehouseSettings,
  flags: {
    '--out <file>': 'the file to write; its name ends with .html',
    '--each-team <folder>': 'write a file for each team into this folder, and index.html',
    '--from <day>': 'first day (default: the first day of the month of the last day)',
    '--until <day>': 'last day (default: the newest loaded day of users)',
    '--team <name>': 'only this team; unassigned means users without a team',
    '--audience <name>': 'who reads it: managers, team or public (default: managers)',
    '--min-group <number>': 'for team and public: the smallest group of people that is shown (default: 5)',
    ...organizationFlag,
    ...jsonFlag,
  },
  examples: {
    'daywalk report --out november.html': 'this month, for managers',
    'daywalk report --out platform.html --team platform --audience team': 'one team, without names',
    'daywalk report --each-team reports --audience team --from 2026-10-01 --until 2026-10-31':
      'a file for each team about October',
  },
  resultIsOutput: false,
  load: () => import('./action.ts'),
};
