import { parseDay } from '../../../../core/day.ts';
import { UsageError } from '../../../../core/errors.ts';
import { EXIT } from '../../../../core/exit-code.ts';
import { isStream, STREAMS, type Stream } from '../../../../core/stream.ts';
import type { QuarantineScope } from '../../../../warehouse/port.ts';
import type { Flags } from '../../../arguments/flags.ts';
import { warehouseSettings } from '../../../arguments/setting-groups.ts';
import type { Command } from '../../../program/command.ts';
import { quarantineGroup } from '../group.ts';

/** `daywalk quarantine accept`: records that nobody will repair no longer count. */
export const quarantineAccept: Command = {
  name: 'quarantine accept',
  group: quarantineGroup,
  summary: 'lets known records no longer count for the exit code',
  description:
    'Accepts records in quarantine: they stay listed, and no longer count for the exit code of run and backfill. A ' +
    'record that changes counts again. The unit is still pulled in every run, and the record leaves quarantine when the ' +
    'service answers right. Sends nothing.',
  uses: warehouseSettings,
  flags: [
    { syntax: '--stream <name>', doc: 'accept the records of this stream' },
    { syntax: '--date <day>', doc: 'accept the records of this UTC day' },
    { syntax: '--all', doc: 'accept every record' },
    { syntax: '--json', doc: 'print one JSON document' },
  ],
  examples: [
    {
      line: 'daywalk quarantine accept --stream users --date 2026-03-02',
      does: 'the records of one unit no longer count',
    },
    { line: 'daywalk quarantine accept --all', does: 'what is known today no longer counts' },
  ],
  resultIsOutput: false,
  act: async ({ settings, job, flags, out }) => {
    const { acceptQuarantine } = await import('../../../../../jobs/quarantine-accept.ts');
    const { counted } = await import('../../../text/quantity.ts');
    const accepted = await acceptQuarantine(settings, scopeOf(flags), job);
    if (flags.isOn('--json')) out.json({ accepted });
    else out.print([`${counted(accepted, 'record')} accepted`]);
    return EXIT.ok;
  },
};

function scopeOf(flags: Flags): QuarantineScope {
  const stream = flags.parse('--stream', streamNamed);
  const day = flags.parse('--date', parseDay);
  const isNarrow = stream !== undefined || day !== undefined;
  if (isNarrow === flags.isOn('--all')) {
    throw new UsageError(isNarrow ? '--all was given with --stream or --date' : 'which records is not said', {
      hint: 'name --stream and --date, or --all; daywalk quarantine list shows what there is',
    });
  }
  return { stream, day };
}

function streamNamed(text: string): Stream {
  if (isStream(text)) return text;
  throw new UsageError(`"${text}" is not a stream`, { hint: `choose from ${STREAMS.join(', ')}` });
}
