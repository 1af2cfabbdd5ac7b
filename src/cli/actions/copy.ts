import { copyWarehouse } from '../../../jobs/copy.ts';
import type { CopiedTable, CopyReport } from '../../copy/index.ts';
import { EXIT } from '../../core/exit-code.ts';
import { parseWarehouse } from '../../settings/index.ts';
import type { Action } from '../program/command.ts';
import { counted, formatDuration, formatNumber } from '../screens/numbers.ts';
import { namesOf, renderSteps, type Step } from '../screens/sections.ts';
import {
  type Field,
  renderFields,
  renderTable,
  right,
  shrinking,
  type TableFrame,
} from '../screens/table.ts';

export const copyAction: Action = async ({ settings, job, flags, out }) => {
  const request = {
    to: flags.parse('--to', parseWarehouse) ?? '',
    replace: flags.isOn('--replace'),
    wait: flags.isOn('--wait'),
  };
  const report = await copyWarehouse(settings, request, job);
  out.show(report, (frame) => renderCopy(report, frame), { afterLog: true });
  return report.exitCode;
};

/** Draws what a copy did, table by table, and whether both sides are now the same. */
function renderCopy(report: CopyReport, frame: TableFrame): string[] {
  return [
    headline(report, frame),
    '',
    ...renderFields(fieldsOf(report), frame),
    '',
    ...renderTables(report, frame),
    ...renderSteps('Next', nextOf(report), frame),
  ];
}

function headline({ exitCode, rowsWritten, tables }: CopyReport, { style }: TableFrame): string {
  if (exitCode !== EXIT.ok) {
    const different = tables.filter(({ isSame }) => !isSame).map(({ table }) => table);
    return style.red(`copy: the two differ in ${different.join(', ')}`);
  }
  return style.green(
    rowsWritten === 0 ? 'copy: nothing to do, both are the same' : 'copy: complete, both are the same',
  );
}

function fieldsOf(report: CopyReport): Field[] {
  const { unitsMoved, unitsUnchanged, unitsRemoved, digest } = report;
  const isSameDigest = digest.from === digest.to;
  return [
    ['from', report.from],
    ['to', report.to],
    [
      'units',
      `${formatNumber(unitsMoved)} moved, ${formatNumber(unitsUnchanged)} unchanged, ${formatNumber(unitsRemoved)} removed`,
    ],
    ['rows written', report.rowsWritten],
    ['digest', isSameDigest ? digest.from : `${digest.from} at the source, ${digest.to} at the destination`],
    ['duration', formatDuration(report.durationMs)],
  ];
}

function renderTables({ tables }: CopyReport, frame: TableFrame): string[] {
  const numbers = ['rows', 'written', 'removed'].map(right);
  const columns = [shrinking('table'), ...numbers, 'compared'];
  const rows = tables
    .filter((table) => !isIdle(table))
    .map(({ table, rows, written, removed, isSame }) => [
      table,
      rows,
      written,
      removed,
      isSame ? 'same' : { content: 'differs', paint: frame.style.red },
    ]);
  const empty = tables.filter(isIdle).length;
  const rest = empty === 0 ? [] : [frame.style.dim(`  and ${counted(empty, 'empty table')}`)];
  return [...renderTable(columns, rows, { ...frame, indent: 2 }), ...rest];
}

function isIdle({ rows, written, removed, isSame }: CopiedTable): boolean {
  return isSame && rows === 0 && written === 0 && removed === 0;
}

function nextOf({ exitCode, from, to }: CopyReport): readonly Step[] {
  const [source, copy] = [namesOf(from, true), namesOf(to, true)];
  if (exitCode !== EXIT.ok) {
    const repair = `daywalk copy${source.flag} --to ${copy.name} --replace`;
    return [[repair, 'compares every row, and repairs what another program has changed']];
  }
  return [
    [`daywalk status${copy.flag}`, 'what the copy holds, day by day'],
    [`daywalk run${copy.flag}`, 'continues there; set DAYWALK_WAREHOUSE to make that permanent'],
  ];
}
