import type { PublishReport } from '../../../../jobs/publish.ts';
import type { LakeReport } from '../../../publish/publish.ts';
import { escapeForTerminal } from '../../text/escape.ts';
import { counted, formatBytes } from '../../text/quantity.ts';
import { renderTable, right, shrinking, type TableFrame } from '../../text/table.ts';

const NUMBERS = ['rows', 'size', 'written', 'unchanged', 'removed'].map(right);
const COLUMNS = [shrinking('table'), ...NUMBERS];

/** Draws what was published: the files of each table, and the copy. */
export function renderPublished({ parquet, sqlite }: PublishReport, frame: TableFrame): string[] {
  const copy =
    sqlite === null ? [] : [`${escapeForTerminal(sqlite.path)}: a copy of ${formatBytes(sqlite.bytes)}`];
  return [...(parquet === null ? [] : renderLake(parquet, frame)), ...copy];
}

function renderLake({ directory, tables }: LakeReport, frame: TableFrame): string[] {
  const rows = tables.map(({ table, rows, bytes, written, unchanged, removed }) => [
    table,
    rows,
    formatBytes(bytes),
    written,
    unchanged,
    removed,
  ]);
  const total = { rows: 0, bytes: 0, written: 0, unchanged: 0, removed: 0 };
  for (const table of tables) {
    total.rows += table.rows;
    total.bytes += table.bytes;
    total.written += table.written;
    total.unchanged += table.unchanged;
    total.removed += table.removed;
  }
  return [
    ...renderTable(COLUMNS, rows, frame),
    `${escapeForTerminal(directory)}: ${counted(total.rows, 'row')} in ${formatBytes(total.bytes)}`,
    `${counted(total.written, 'file')} written, ${total.unchanged} unchanged, ${total.removed} removed`,
  ];
}
