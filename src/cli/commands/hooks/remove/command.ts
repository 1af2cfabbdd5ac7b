import { resolve } from 'node:path';
import { EXIT } from '../../../../core/exit-code.ts';
import { commonSettings } from '../../../arguments/setting-groups.ts';
import type { Command } from '../../../program/command.ts';
import { hooksGroup } from '../group.ts';

/** `daywalk hooks remove`: takes the receiver out of the client tool's hooks file. */
export const hooksRemove: Command = {
  name: 'hooks remove',
  group: hooksGroup,
  summary: "takes the receiver out of the client tool's hooks file",
  description:
    'Removes the hooks whose command is daywalk hook, with whatever flags and wherever it is installed, and the ' +
    'entries that this leaves empty. Everything else stays as it is. The file is replaced at once, and what it held ' +
    'before is kept beside it with .bak after its name.',
  uses: commonSettings,
  flags: [
    { syntax: '--file <path>', doc: 'the hooks file', required: true },
    { syntax: '--event <name...>', doc: 'only from these events, several or separated by commas' },
    { syntax: '--command <command>', doc: 'the hooks with this very command instead' },
    { syntax: '--json', doc: 'print one JSON document' },
  ],
  examples: [
    { line: 'daywalk hooks remove --file ~/.agent/hooks.json', does: 'no event is received any more' },
    { line: 'daywalk hooks remove --file hooks.json --event Stop', does: 'the others are still received' },
  ],
  resultIsOutput: false,
  act: async ({ flags, job, directory, out }) => {
    const { removeHooks } = await import('../hooks-file.ts');
    const result = await removeHooks({
      clock: job.clock,
      file: resolve(directory, flags.text('--file') ?? ''),
      events: flags.texts('--event'),
      command: flags.text('--command') ?? null,
    });
    if (flags.isOn('--json')) out.json(result);
    else out.print(result.lines);
    return EXIT.ok;
  },
};
