import type { AnyTable } from '../../schema/define.ts';
import { readerOf } from '../../schema/row.ts';
import { tablesOf } from '../../schema/tables.ts';
import type { LedgerReadiness, TableRows, Values } from './port.ts';

/** The tables of the readiness reports, the reports first. */
export const READINESS_TABLES = tablesOf('readiness');

/** Reads the ID of the report from the rows of one of {@link READINESS_TABLES}. */
export function reportIdOf(table: AnyTable): (row: Values) => string {
  const read = readerOf(table, 'report_id');
  return (row) => String(read(row));
}

/** The rows of a page by report: for each, every table with its rows of that report, in key order. */
export function rowsByReport(page: readonly TableRows[]): Map<string, TableRows[]> {
  const reports = new Map<string, { table: TableRows['table']; rows: Values[] }[]>();
  for (const [index, { table, rows }] of page.entries()) {
    const idOf = reportIdOf(table);
    for (const row of rows) {
      const id = idOf(row);
      let parts = reports.get(id);
      if (parts === undefined) {
        parts = page.map(({ table }) => ({ table, rows: [] }));
        reports.set(id, parts);
      }
      parts[index]?.rows.push(row);
    }
  }
  return reports;
}

export interface PageChanges {
  /** The reports to write, by id: the rows of each table, in key order. */
  readonly reports: ReadonlyMap<string, readonly TableRows[]>;
  /** Reports that are stored with the same content. */
  readonly known: ReadonlySet<string>;
  /** A stored report has other content now. */
  readonly restated: boolean;
}

/**
 * Compares a page with the stored rows of its reports.
 * @param stored the tables of the page, with rows in key order.
 */
export function comparePage(page: readonly TableRows[], stored: readonly TableRows[]): PageChanges {
  const before = rowsByReport(stored);
  const reports = rowsByReport(page);
  const known = new Set<string>();
  for (const [id, parts] of reports) if (isSameReport(before.get(id), parts)) known.add(id);
  for (const id of known) reports.delete(id);
  return { reports, known, restated: [...reports.keys()].some((id) => before.has(id)) };
}

function isSameReport(stored: readonly TableRows[] | undefined, parts: readonly TableRows[]): boolean {
  return parts.every(({ table, rows }, index) => {
    const other = stored?.[index];
    return other?.table === table && JSON.stringify(other.rows) === JSON.stringify(rows);
  });
}

/** True if the stored digest is still right at the end of a walk: neither a page nor the end changed a row. */
export function isDigestKnown({ contentSha256 }: LedgerReadiness, rowsWritten: number): boolean {
  return rowsWritten === 0 && contentSha256 !== null;
}
