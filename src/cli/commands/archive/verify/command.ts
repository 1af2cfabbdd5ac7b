import { archiveSettings } from '../../../arguments/setting-groups.ts';
import { type Command, jsonFlag } from '../../../program/command.ts';
import { archiveGroup } from '../group.ts';

/** `daywalk archive verify`: every line and every object. */
export const archiveVerify: Command = {
  name: 'archive verify',
  group: archiveGroup,
  summary: 'reads every line of the index and every object, and compares them',
  description:
    'Reads the whole archive: every line of its index, and every object, whose SHA-256 the line names. Exit code 5 if ' +
    'something is damaged or missing, with the units that cannot be replayed. A run may write meanwhile.',
  uses: archiveSettings,
  flags: { ...jsonFlag },
  examples: {
    'daywalk archive verify --archive /var/lib/daywalk/archive': 'after a copy to another disk',
    'daywalk archive verify --archive /var/lib/daywalk/archive --json': 'the same, for a program',
  },
  resultIsOutput: true,
  load: () => import('./action.ts'),
};
