import { commonSettings } from '../../../arguments/setting-groups.ts';
import type { Command } from '../../../program/command.ts';
import { fileFlag } from '../file-flag.ts';
import { hooksGroup } from '../group.ts';

/** `daywalk hooks fire`: runs configured hooks as the client tool does. */
export const hooksFire: Command = {
  name: 'hooks fire',
  group: hooksGroup,
  summary: 'runs the configured hooks of an event, as the client tool would',
  description:
    'Runs the hooks that a file configures for an event, as the client tool would. All hooks whose matcher accepts the ' +
    'tool run at the same time; identical commands run once. Each hook gets the event as JSON on standard input, and has ' +
    'its time limit. Prints what each hook did. Exit code 2 of a hook blocks PreToolUse, UserPromptSubmit, Stop and ' +
    'SubagentStop; any other failure has no effect. This command exits with code 0 even if a hook blocks or fails.',
  uses: commonSettings,
  operands: { '<event>': 'name of the event, for example Stop' },
  flags: {
    ...fileFlag,
    '--tool <name>': 'the tool, for PreToolUse and PostToolUse',
    '--payload <path>': 'JSON file with an object of further fields; - reads standard input',
    '--json': 'print one JSON document that includes the output of each hook',
  },
  required: ['--file'],
  examples: {
    'daywalk hooks fire Stop --file ~/.agent/hooks.json': 'what happens when the agent has finished',
    'daywalk hooks fire PostToolUse --tool Edit --file hooks.json --payload event.json --json':
      'what happens after a tool was used, with fields of your own',
  },
  resultIsOutput: true,
  load: () => import('./action.ts'),
};
