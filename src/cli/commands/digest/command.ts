import { EXIT } from '../../../core/exit-code.ts';
import { warehouseSettings } from '../../arguments/setting-groups.ts';
import type { Command } from '../../program/command.ts';

/** `daywalk digest`: what the content of the warehouse comes to. */
export const digest: Command = {
  name: 'digest',
  summary: 'one SHA-256 per table, one for the warehouse, over content alone',
  description:
    'Computes a SHA-256 of each table and of the whole warehouse. It covers the content alone: the same content has ' +
    'the same digest in SQLite and PostgreSQL, whatever order it came in and however many runs it took.',
  uses: warehouseSettings,
  flags: [{ syntax: '--json', doc: 'print one JSON document' }],
  examples: [
    { line: 'daywalk digest', does: 'the digests of the warehouse in daywalk.db' },
    {
      line: 'test "$(daywalk digest --json --warehouse a.db)" = "$(daywalk digest --json --warehouse b.db)"',
      does: 'whether two warehouses hold the same',
    },
  ],
  resultIsOutput: true,
  act: async ({ settings, job, flags, out }) => {
    const { digestWarehouse } = await import('../../../../jobs/digest.ts');
    const { renderTable } = await import('../../text/table.ts');
    const result = await digestWarehouse(settings, job);
    if (flags.isOn('--json')) {
      out.json(result);
      return EXIT.ok;
    }
    const { style } = out.terminal;
    const rows = [
      ...Object.entries(result.tables),
      [{ content: 'warehouse', paint: style.bold }, result.warehouse],
    ];
    const columns = [{ header: 'table' }, { header: 'sha-256', shrinks: true }];
    out.print(renderTable(columns, rows, { width: out.terminal.columns(), style }));
    return EXIT.ok;
  },
};
