import { encoderOf } from '../../../schema/row.ts';
import { tables } from '../../../schema/tables.ts';
import type { SessionRow } from '../port.ts';
import type { Connection } from './connection.ts';
import { putRows } from './rows.ts';

const encode = encoderOf(tables.sessions);

/** Stores a created session, see `Warehouse.recordSession`. Call inside a transaction. */
export function recordSession(connection: Connection, row: SessionRow): void {
  putRows(connection, { table: tables.sessions, rows: [encode(row)] });
}
