import { parseWarehouse } from '../../../settings/parsers/warehouse.ts';
import { warehouseSettings } from '../../arguments/setting-groups.ts';
import type { Command } from '../../program/command.ts';

/** `daywalk copy`: the whole warehouse, into another database. */
export const copy: Command = {
  name: 'copy',
  summary: 'copies the warehouse with its ledger into another database',
  description:
    'Copies every table of the warehouse, the ledger too, into another: SQLite or PostgreSQL, either way. Each day is ' +
    'moved whole. A copy that was interrupted goes on where it was, and a later one moves only what has changed. It ' +
    'ends by comparing digests of all tables: exit code 5 if they differ. The warehouse may be at work meanwhile, the ' +
    'destination may not. What only the destination holds is never lost without --replace.',
  uses: warehouseSettings,
  flags: [
    {
      syntax: '--to <location>',
      doc: 'the destination: a SQLite path, or postgres://…; created where it does not exist',
      required: true,
      mayHoldPassword: true,
    },
    {
      syntax: '--replace',
      doc: 'make the destination the same whatever it holds: compare every row, delete what only it has',
    },
    { syntax: '--wait', doc: 'wait for a run on the destination to end instead of exiting with 75' },
    { syntax: '--json', doc: 'print the report as one JSON document' },
  ],
  examples: [
    {
      line: 'daywalk copy --warehouse daywalk.db --to postgres://daywalk@db.example.com/analytics',
      does: 'from SQLite to PostgreSQL; the password comes from PGPASSWORD or ~/.pgpass',
    },
    {
      line: 'daywalk copy --warehouse postgres://daywalk@db.example.com/analytics --to daywalk.db',
      does: 'and back',
    },
  ],
  resultIsOutput: false,
  act: async ({ settings, job, flags, out }) => {
    const { copyWarehouse } = await import('../../../../jobs/copy.ts');
    const { renderCopy } = await import('./screen.ts');
    const report = await copyWarehouse(
      settings,
      {
        to: flags.parse('--to', parseWarehouse) ?? '',
        replace: flags.isOn('--replace'),
        wait: flags.isOn('--wait'),
      },
      job,
    );
    const { terminal } = out;
    if (flags.isOn('--json')) out.json(report);
    else out.present(renderCopy(report, { width: terminal.columns(), style: terminal.style }));
    return report.exitCode;
  },
};
