import { resolve } from 'node:path';
import { EXIT } from '../../../../core/exit-code.ts';
import { spoolSettings } from '../../../arguments/setting-groups.ts';
import type { Command } from '../../../program/command.ts';
import { hooksGroup } from '../group.ts';

const TIMEOUT_SECONDS = { min: 1, max: 86_400 };

/** `daywalk hooks install`: makes the client tool call the receiver. */
export const hooksInstall: Command = {
  name: 'hooks install',
  group: hooksGroup,
  summary: "adds the receiver to the client tool's hooks file",
  description:
    "Adds the receiver to the client tool's hooks file, which may be a map of events or have it under the key " +
    '"hooks". Everything else in the file stays as it is: order, other entries, unknown keys, comments, indentation. ' +
    'What is installed already is not installed again. The file is replaced at once, and what it held before is ' +
    'kept beside it with .bak after its name.',
  uses: spoolSettings,
  flags: [
    { syntax: '--file <path>', doc: 'the hooks file; it is made where there is none', required: true },
    {
      syntax: '--event <name...>',
      doc: 'events to be received, several or separated by commas; all for every known one (default: Notification, Stop, SubagentStop, SessionEnd)',
    },
    {
      syntax: '--command <command>',
      doc: 'another command than daywalk hook with the spool of this warehouse',
    },
    { syntax: '--timeout <seconds>', doc: 'time that the client gives the command (default: 10)' },
    { syntax: '--json', doc: 'print one JSON document' },
  ],
  examples: [
    {
      line: 'daywalk hooks install --file ~/.agent/hooks.json --warehouse /var/lib/daywalk/daywalk.db',
      does: 'receives what asks for attention and what ended, into the spool of that warehouse',
    },
    {
      line: 'daywalk hooks install --file hooks.json --event all --timeout 5',
      does: 'receives every event that this version knows, the use of tools among them',
    },
  ],
  resultIsOutput: false,
  act: async ({ flags, job, settings, directory, self, log, out }) => {
    const { installHooks } = await import('../hooks-file.ts');
    const { spoolOf } = await import('../../../../hooks/spool/location.ts');
    const { shellQuote } = await import('../../../text/shell.ts');
    const spool = spoolOf({ spool: settings.spool ?? null, warehouse: settings.warehouse, directory });
    const result = await installHooks({
      clock: job.clock,
      file: resolve(directory, flags.text('--file') ?? ''),
      events: flags.texts('--event'),
      command: flags.text('--command') ?? `${self()} hook --spool ${shellQuote(spool)}`,
      timeoutSeconds: flags.number('--timeout', TIMEOUT_SECONDS) ?? null,
      warn: (message, hint) => log.write({ level: 'warn', event: 'hooks', message, hint }),
    });
    if (flags.isOn('--json')) out.json(result);
    else out.print(result.lines);
    return EXIT.ok;
  },
};
