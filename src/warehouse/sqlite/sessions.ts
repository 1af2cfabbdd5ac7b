import { tables } from '../../../schema/tables.ts';
import type { Row } from '../port.ts';
import type { Connection } from './connection.ts';
import { putRows } from './rows.ts';

/** Stores a created session, see `Warehouse.recordSession`. Call inside a transaction. */
export function recordSession(connection: Connection, row: Row): void {
  putRows(connection, { table: tables.sessions, rows: [row] });
}
