import { EXIT } from '../../../../core/exit-code.ts';
import { warehouseSettings } from '../../../arguments/setting-groups.ts';
import type { Command } from '../../../program/command.ts';
import { quarantineGroup } from '../group.ts';

/** `daywalk quarantine list`: what could not be stored. */
export const quarantineList: Command = {
  name: 'quarantine list',
  group: quarantineGroup,
  summary: 'the records that could not be stored, and why',
  description:
    'Prints every record in quarantine: its unit, where in the record the trouble is, why it was set aside, since when ' +
    'it is known, and when it was accepted. Reads only; sends nothing. --json also prints the records as they were sent.',
  uses: warehouseSettings,
  flags: [{ syntax: '--json', doc: 'print one JSON document with the records themselves' }],
  examples: [
    { line: 'daywalk quarantine list', does: 'what was set aside, and why' },
    {
      line: 'daywalk quarantine list --json > quarantine.json',
      does: 'the records themselves, to report them',
    },
  ],
  resultIsOutput: true,
  act: async ({ settings, job, flags, out }) => {
    const { listQuarantine } = await import('../../../../../jobs/quarantine-list.ts');
    const { renderTable } = await import('../../../text/table.ts');
    const { counted } = await import('../../../text/quantity.ts');
    const list = await listQuarantine(settings, job);
    if (flags.isOn('--json')) {
      out.json(list);
      return EXIT.ok;
    }
    const { terminal, redact } = out;
    const columns = [
      { header: 'stream' },
      { header: 'date' },
      { header: 'first seen' },
      { header: 'accepted' },
      { header: 'path', shrinks: true },
      { header: 'reason', shrinks: true },
    ];
    const dayOf = (instant: string | null) => instant?.slice(0, 'YYYY-MM-DD'.length) ?? null;
    const rows = list.records.map(({ stream, date, firstSeenAt, acceptedAt, path, reason }) => [
      stream,
      date === '' ? null : date,
      dayOf(firstSeenAt),
      dayOf(acceptedAt),
      redact(path),
      redact(reason),
    ]);
    const table = renderTable(columns, rows, { width: terminal.columns(), style: terminal.style });
    out.print(rows.length === 0 ? ['quarantine is empty'] : table);
    if (list.more > 0) out.print([`and ${counted(list.more, 'record')} more`]);
    return EXIT.ok;
  },
};
