import { warehouseSettings } from '../../../arguments/setting-groups.ts';
import type { Command } from '../../../program/command.ts';
import { quarantineGroup } from '../group.ts';

/** `daywalk quarantine list`: the records that could not be stored. */
export const quarantineList: Command = {
  name: 'quarantine list',
  group: quarantineGroup,
  summary: 'lists the records that could not be stored, with the reasons',
  description:
    'Lists every quarantined record: its unit, the field in question, the reason, when it was first seen, and when it was ' +
    'accepted. Only reads the warehouse; sends nothing. --json also prints the records as they were received.',
  uses: warehouseSettings,
  flags: { '--json': 'print one JSON document that includes the records themselves' },
  examples: {
    'daywalk quarantine list': 'what was quarantined, and why',
    'daywalk quarantine list --json > quarantine.json': 'the records, for a report',
  },
  resultIsOutput: true,
  load: () => import('./action.ts'),
};
