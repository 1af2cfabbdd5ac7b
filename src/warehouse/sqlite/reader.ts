import type { WarehouseReader } from '../port.ts';
import { Connection, type ConnectionOptions } from './connection.ts';
import { scan } from './scan.ts';

/** A second connection to a SQLite file that is open as a warehouse, see `openReader`. */
export function openSqliteReader(path: string, { clock }: Pick<ConnectionOptions, 'clock'>): WarehouseReader {
  const connection = new Connection(path, { clock, create: false });
  return {
    scan: (table, scope, columns) => scan(connection, table, scope, columns),
    inSnapshot: (read) =>
      connection.snapshot(() => {
        // A transaction has the state of its first read, not of its beginning.
        connection.prepare('SELECT 1 FROM sqlite_master LIMIT 1').get();
        return read();
      }),
    close: async () => connection.close(),
  };
}
