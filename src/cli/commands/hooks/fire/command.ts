import { EXIT } from '../../../../core/exit-code.ts';
import { commonSettings } from '../../../arguments/setting-groups.ts';
import type { Command } from '../../../program/command.ts';
import { hooksGroup } from '../group.ts';

/** `daywalk hooks fire`: runs configured hooks as the client tool does. */
export const hooksFire: Command = {
  name: 'hooks fire',
  group: hooksGroup,
  summary: 'runs the configured hooks of an event, as the client tool would',
  description:
    'Runs the hooks that a file configures for an event, as the client tool would: those whose matcher takes the ' +
    'tool, all at once, identical commands once, with the event as JSON on standard input, each with its time-out. ' +
    'Says what each did. Exit code 2 of a hook blocks PreToolUse, UserPromptSubmit, Stop and SubagentStop; any ' +
    'other failure changes nothing. That a hook blocks or fails is a result: this command exits with 0 all the same.',
  uses: commonSettings,
  operands: [{ syntax: '<event>', doc: 'name of the event, for example Stop' }],
  flags: [
    { syntax: '--file <path>', doc: 'the hooks file', required: true },
    { syntax: '--tool <name>', doc: 'the tool, for PreToolUse and PostToolUse' },
    { syntax: '--payload <path>', doc: 'more fields of the event, as a JSON object; - is standard input' },
    { syntax: '--json', doc: 'print one JSON document, with what each hook said' },
  ],
  examples: [
    {
      line: 'daywalk hooks fire Stop --file ~/.agent/hooks.json',
      does: 'what happens when the agent has finished',
    },
    {
      line: 'daywalk hooks fire PostToolUse --tool Edit --file hooks.json --payload event.json --json',
      does: 'the same for a tool, with an event of your own',
    },
  ],
  resultIsOutput: true,
  act: async (context) => {
    const { performFire } = await import('./action.ts');
    await performFire(context);
    return EXIT.ok;
  },
};
