import { commonSettings } from '../../../arguments/setting-groups.ts';
import { type Command, jsonFlag } from '../../../program/command.ts';
import { fileFlag } from '../file-flag.ts';
import { hooksGroup } from '../group.ts';

/** `daywalk hooks remove`: removes the receiver from the client tool's hooks file. */
export const hooksRemove: Command = {
  name: 'hooks remove',
  group: hooksGroup,
  summary: "removes the receiver from the client tool's hooks file",
  description:
    'Removes the hooks whose command is daywalk hook, with any flags and from any installation, and entries that become ' +
    'empty. Nothing else in the file changes. The file is replaced atomically; its previous content is kept beside it, ' +
    'with .bak added to the name.',
  uses: commonSettings,
  flags: {
    ...fileFlag,
    '--event <name...>': 'only from these events, separated by spaces or commas',
    '--command <command>': 'remove the hooks with exactly this command instead',
    ...jsonFlag,
  },
  required: ['--file'],
  examples: {
    'daywalk hooks remove --file ~/.agent/hooks.json': 'stops receiving events',
    'daywalk hooks remove --file hooks.json --event Stop': 'stops receiving one event',
  },
  resultIsOutput: false,
  load: () => import('./action.ts'),
};
