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
  const sum = (part: (table: LakeReport['tables'][number]) => number) =>
    tables.reduce((total, table) => total + part(table), 0);
  const did = [
    `${counted(
      sum(({ written }) => written),
      'file',
    )} written`,
    `${sum(({ unchanged }) => unchanged)} unchanged`,
    `${sum(({ removed }) => removed)} removed`,
  ].join(', ');
  const size = `${counted(
    sum(({ rows }) => rows),
    'row',
  )} in ${formatBytes(sum(({ bytes }) => bytes))}`;
  return [...renderTable(COLUMNS, rows, frame), `${escapeForTerminal(directory)}: ${size}; ${did}`];
}
