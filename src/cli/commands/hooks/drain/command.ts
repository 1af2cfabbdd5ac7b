import { drainSettings } from '../../../arguments/setting-groups.ts';
import { type Command, jsonFlag } from '../../../program/command.ts';
import { hooksGroup } from '../group.ts';

/** `daywalk hooks drain`: moves received events into the warehouse. */
export const hooksDrain: Command = {
  name: 'hooks drain',
  group: hooksGroup,
  summary: 'moves received hook events from the spool into the warehouse',
  description:
    'Moves received hook events from the spool into the table hook_events. Each event is stored once, however often the ' +
    'command is run or killed. Every daywalk run does the same. The command may run during a run, and while receivers write.',
  uses: drainSettings,
  flags: { ...jsonFlag },
  examples: {
    'daywalk hooks drain': 'stores all events received so far',
    'daywalk hooks drain --json --warehouse w.db': 'prints the number of events, for a script',
  },
  resultIsOutput: false,
  load: () => import('./action.ts'),
};
