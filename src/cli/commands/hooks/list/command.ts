import { commonSettings } from '../../../arguments/setting-groups.ts';
import { type Command, jsonFlag } from '../../../program/command.ts';
import { fileFlag } from '../file-flag.ts';
import { hooksGroup } from '../group.ts';

/** `daywalk hooks list`: the hooks in the client tool's hooks file. */
export const hooksList: Command = {
  name: 'hooks list',
  group: hooksGroup,
  summary: "lists the hooks in the client tool's hooks file",
  description:
    'Lists every hook of the file in its order, and marks those that are receivers of this program.',
  uses: commonSettings,
  flags: { ...fileFlag, ...jsonFlag },
  required: ['--file'],
  examples: {
    'daywalk hooks list --file ~/.agent/hooks.json': 'every hook with its matcher and time limit',
    'daywalk hooks list --file hooks.json --json': 'the same, for a script',
  },
  resultIsOutput: true,
  load: () => import('./action.ts'),
};
