import { exportSettings } from '../../arguments/setting-groups.ts';
import type { Command } from '../../program/command.ts';

/** `daywalk verify`: checks the content of the warehouse. */
export const verify: Command = {
  name: 'verify',
  summary: 'checks the stored rows against the ledger',
  description:
    'Recomputes the digest of every unit from the stored rows and compares it with the ledger. This finds flipped bytes, ' +
    'edited rows and deleted days. Also compares the endpoints with each other, day by day. The exit code is 5 for ' +
    'changed content, holes and differences from the service, 6 for a damaged file, and 4 for units that could not be ' +
    'pulled again. Inconsistent figures of the service are only warnings.',
  uses: exportSettings,
  flags: {
    '--against-api <units>':
      'also pull this many units of each organization again and compare them with the stored ones',
    '--organization <name>': 'verify only this organization, by its ID or its name in the organizations file',
    '--seed <number>': 'chooses the units to pull again (default: random)',
    '--json': 'print one JSON document that includes the findings',
  },
  examples: {
    'daywalk verify': 'checks the whole warehouse; sends nothing',
    'daywalk verify --against-api 20': 'also compares twenty units with the service',
  },
  resultIsOutput: true,
  load: () => import('./action.ts'),
};
