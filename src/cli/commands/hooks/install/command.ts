import { spoolSettings } from '../../../arguments/setting-groups.ts';
import { type Command, jsonFlag } from '../../../program/command.ts';
import { hooksGroup } from '../group.ts';

/** `daywalk hooks install`: adds the receiver to the client tool's hooks file. */
export const hooksInstall: Command = {
  name: 'hooks install',
  group: hooksGroup,
  summary: "adds the receiver to the client tool's hooks file",
  description:
    "Adds the receiver to the client tool's hooks file. The file may be a map of events, or hold one under the key " +
    '"hooks". Nothing else in the file changes: order, other entries, unknown keys, comments and indentation stay. ' +
    'A hook that is already installed is not installed twice. The file is replaced atomically; its previous content is ' +
    'kept beside it, with .bak added to the name.',
  uses: spoolSettings,
  flags: {
    '--file <path>': 'the hooks file; created if it does not exist',
    '--event <name...>':
      'events to receive, separated by spaces or commas; all for every known event (default: Notification, Stop, SubagentStop, SessionEnd)',
    '--command <command>': 'install this command (default: daywalk hook with the spool of this warehouse)',
    '--timeout <seconds>': 'time limit that the client tool sets for the command (default: 10)',
    ...jsonFlag,
  },
  required: ['--file'],
  examples: {
    'daywalk hooks install --file ~/.agent/hooks.json --warehouse /var/lib/daywalk/daywalk.db':
      'receives four events into the spool of that warehouse',
    'daywalk hooks install --file hooks.json --event all --timeout 5':
      'receives every known event, including the use of tools',
  },
  resultIsOutput: false,
  load: () => import('./action.ts'),
};
