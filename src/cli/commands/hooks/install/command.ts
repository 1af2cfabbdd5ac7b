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
    '"hooks". Everything else in the file stays as it is: order, other entries, unknown keys, comments, indentation. ' +
    'A hook that is already installed is not installed twice. The file is replaced atomically; its previous content is ' +
    'kept beside it, with .bak added to the name.',
  uses: spoolSettings,
  flags: [
    { syntax: '--file <path>', doc: 'the hooks file; created if it does not exist', required: true },
    {
      syntax: '--event <name...>',
      doc: 'events to receive, separated by spaces or commas; all for every known event (default: Notification, Stop, SubagentStop, SessionEnd)',
    },
    {
      syntax: '--command <command>',
      doc: 'install this command (default: daywalk hook with the spool of this warehouse)',
    },
    {
      syntax: '--timeout <seconds>',
      doc: 'time limit that the client tool sets for the command (default: 10)',
    },
    jsonFlag,
  ],
  examples: [
    {
      line: 'daywalk hooks install --file ~/.agent/hooks.json --warehouse /var/lib/daywalk/daywalk.db',
      does: 'receives four events into the spool of that warehouse',
    },
    {
      line: 'daywalk hooks install --file hooks.json --event all --timeout 5',
      does: 'receives every known event, including the use of tools',
    },
  ],
  resultIsOutput: false,
  load: () => import('./action.ts'),
};
