import { resolve } from 'node:path';
import { EXIT } from '../../../../core/exit-code.ts';
import { commonSettings } from '../../../arguments/setting-groups.ts';
import type { Command } from '../../../program/command.ts';
import { hooksGroup } from '../group.ts';

/** `daywalk hooks list`: what is configured in the client tool's hooks file. */
export const hooksList: Command = {
  name: 'hooks list',
  group: hooksGroup,
  summary: "what is configured in the client tool's hooks file",
  description:
    'Prints every hook of the file, in its order, and which of them are receivers of this program.',
  uses: commonSettings,
  flags: [
    { syntax: '--file <path>', doc: 'the hooks file', required: true },
    { syntax: '--json', doc: 'print one JSON document' },
  ],
  examples: [
    {
      line: 'daywalk hooks list --file ~/.agent/hooks.json',
      does: 'every hook with its matcher and time-out',
    },
    { line: 'daywalk hooks list --file hooks.json --json', does: 'the same, for a script' },
  ],
  resultIsOutput: true,
  act: async ({ flags, directory, out }) => {
    const { listHooks } = await import('../hooks-file.ts');
    const { renderTable } = await import('../../../text/table.ts');
    const result = listHooks(resolve(directory, flags.text('--file') ?? ''));
    if (flags.isOn('--json')) {
      out.json(result);
      return EXIT.ok;
    }
    const columns = [
      { header: 'event' },
      { header: 'matcher' },
      { header: 'seconds', align: 'right' as const },
      { header: 'receiver' },
      { header: 'command', shrinks: true },
    ];
    const rows = result.hooks.map(({ event, matcher, timeout, isReceiver, command }) => [
      event,
      matcher,
      timeout,
      isReceiver ? 'yes' : 'no',
      command,
    ]);
    out.print(
      rows.length === 0
        ? ['no hook is configured']
        : renderTable(columns, rows, { width: out.terminal.columns(), style: out.terminal.style }),
    );
    return EXIT.ok;
  },
};
