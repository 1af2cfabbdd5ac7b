import { SETTINGS } from '../../../settings/settings-table.ts';
import { warehouseSettings } from '../../arguments/setting-groups.ts';
import type { Command } from '../../program/command.ts';

/** `daywalk status`: what the warehouse holds. */
export const status: Command = {
  name: 'status',
  summary: 'what the warehouse holds and lacks, day by day',
  description:
    'Prints what the warehouse holds, up to yesterday: units by stream and state, holes, the oldest unsettled day, ' +
    'quarantine, the last runs and, on a terminal, a calendar of the days. Only reads the warehouse; sends nothing. ' +
    'A run is complete if it left nothing out: exit code 0, or 5 without a failed unit. Backfills do not count.',
  uses: [SETTINGS.organizations, ...warehouseSettings],
  flags: {
    '--health':
      'print one line and exit with code 0 if a complete export of all streams ended within --max-age (default: 26) or a ' +
      'run is in progress, and no stream has fallen silent; with code 1 otherwise',
    '--max-age <hours>':
      'exit with code 4 unless a complete run ended within this time; with --health, the exit code is 1 instead',
    '--organization <name>':
      'only this organization, by its ID or its name in the organizations file; without --health',
    '--json': 'print one JSON document that includes every day',
  },
  examples: {
    'daywalk status': 'what is there, what is missing, and how recent it is',
    'daywalk status --health --max-age 26': 'a health check for a nightly job',
  },
  resultIsOutput: true,
  load: () => import('./action.ts'),
};
