import { archiveSettings } from '../../../arguments/setting-groups.ts';
import { type Command, jsonFlag } from '../../../program/command.ts';
import { archiveGroup } from '../group.ts';

/** `daywalk archive prune`: removes what no later replay needs. */
export const archivePrune: Command = {
  name: 'archive prune',
  group: archiveGroup,
  summary: 'removes old answers that were replaced since',
  description:
    'Removes answers that are older than the given age and were replaced by then. The newest committed answer of each unit ' +
    'stays however old it is, and so do open doubts. A replay as of an instant before that age is refused afterwards. Exit ' +
    'code 75 while a run writes the archive.',
  uses: archiveSettings,
  flags: {
    '--older-than <age>': 'the age in days, for example 400d',
    '--dry-run': 'remove nothing, and say what would be removed',
    ...jsonFlag,
  },
  required: ['--older-than'],
  examples: {
    'daywalk archive prune --archive /var/lib/daywalk/archive --older-than 400d':
      'keeps thirteen months of changes',
    'daywalk archive prune --archive /var/lib/daywalk/archive --older-than 400d --dry-run':
      'what that would remove',
  },
  resultIsOutput: true,
  load: () => import('./action.ts'),
};
