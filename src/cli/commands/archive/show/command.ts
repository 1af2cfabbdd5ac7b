import { STREAMS } from '../../../../core/stream.ts';
import { archiveSettings } from '../../../arguments/setting-groups.ts';
import { type Command, jsonFlag } from '../../../program/command.ts';
import { archiveGroup } from '../group.ts';

/** `daywalk archive show`: what came about a unit, and when. */
export const archiveShow: Command = {
  name: 'archive show',
  group: archiveGroup,
  summary: 'what came about one day of a stream, and when',
  description:
    'Lists the archived answers about one day of a stream, oldest first: when each came, whether it was believed, and what ' +
    'became of it. With --rows, prints the rows of the newest committed one, as they were received, one JSON text after the ' +
    'other.',
  uses: archiveSettings,
  flags: {
    '--stream <name>': `one of ${STREAMS.join(', ')}`,
    '--date <day>': 'the UTC day; readiness has none',
    '--rows': 'print the rows of the newest committed answer instead',
    ...jsonFlag,
  },
  required: ['--stream'],
  examples: {
    'daywalk archive show --archive /var/lib/daywalk/archive --stream users --date 2026-03-02':
      'how often the users of a day came, and what was stored',
    'daywalk archive show --archive /var/lib/daywalk/archive --stream tokens --date 2026-03-02 --rows':
      'the row of that day as the service sent it',
  },
  resultIsOutput: true,
  load: () => import('./action.ts'),
};
