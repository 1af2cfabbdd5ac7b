import { tablesOf } from '../../schema/tables.ts';
import type { Row, TableRows, UnitKey } from './port.ts';

/** The tables of the readiness reports, the reports before what hangs on them. */
export const READINESS_TABLES = tablesOf('readiness');

/** Position of `report_id` in the rows of each of them. */
const REPORT_ID = 1;

/** The one unit of an organization's reports. */
export function readinessKey(orgId: string): UnitKey {
  return { orgId, stream: 'readiness', day: '' };
}

/** The rows of a page by report: for each, every table with its rows of that report, in key order. */
export function rowsByReport(page: readonly TableRows[]): Map<string, TableRows[]> {
  const reports = new Map<string, { table: TableRows['table']; rows: Row[] }[]>();
  for (const [index, { rows }] of page.entries()) {
    for (const row of rows) {
      const id = String(row[REPORT_ID]);
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

/** True when `stored` are the same reports, tables and rows as `parts`. */
export function isSameReport(stored: readonly TableRows[], parts: readonly TableRows[]): boolean {
  return parts.every(({ table, rows }, index) => {
    const other = stored[index];
    return other?.table === table && JSON.stringify(other.rows) === JSON.stringify(rows);
  });
}
