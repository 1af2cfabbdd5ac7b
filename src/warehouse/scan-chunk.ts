import type { AnyTable } from '../../schema/define.ts';

/** Maximum number of rows in a chunk of a scan. */
const ROWS = 1000;
/** The same for tables in which one row may hold a whole record of the service or of a client, up to 8 MB. */
const RECORD_ROWS = 32;

/** Maximum number of rows in memory during a scan of a table. It is smaller for tables with large rows. */
export function scanRowsMax(table: AnyTable): number {
  return Object.values(table.columns).some(({ kind }) => kind === 'record') ? RECORD_ROWS : ROWS;
}
