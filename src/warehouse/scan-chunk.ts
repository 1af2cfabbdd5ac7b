import type { AnyTable } from '../../schema/define.ts';

/** Rows that a scan hands out at once. */
const ROWS = 1000;
/** The same where one row may hold a whole record of the service or of a client, which may be 8 MB. */
const RECORD_ROWS = 32;

/** How many rows of a table a scan holds at most: memory stays bounded, whatever was stored. */
export function scanRowsMax(table: AnyTable): number {
  return Object.values(table.columns).some(({ kind }) => kind === 'record') ? RECORD_ROWS : ROWS;
}
