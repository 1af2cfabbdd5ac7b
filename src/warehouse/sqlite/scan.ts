import type { AnyTable } from '../../../schema/define.ts';
import type { Row, ScanScope } from '../port.ts';
import { scanRowsMax } from '../scan-chunk.ts';
import type { Connection } from './connection.ts';
import { storageError } from './errors.ts';
import { takenRows } from './row-taker.ts';
import { selectWhere } from './statements.ts';

/** All rows of a table in key order, streamed, see `Warehouse.scan`. */
export async function* scan(
  connection: Connection,
  table: AnyTable,
  scope?: ScanScope,
  columns: readonly string[] = Object.keys(table.columns),
): AsyncGenerator<readonly Row[]> {
  const conditions = conditionsOf(scope);
  try {
    const sql = selectWhere(
      table,
      conditions.map(([condition]) => condition),
      columns,
    );
    const values = conditions.map(([, value]) => value);
    yield* takenRows(connection.db, { sql, columns, values, rowsMax: scanRowsMax(table) });
  } catch (error) {
    throw storageError(error, `read ${table.name} of`, connection.path);
  }
}

function conditionsOf(scope: ScanScope | undefined): [condition: string, value: string][] {
  if (scope === undefined) return [];
  const { orgId, firstDay, lastDay } = scope;
  const conditions: [string, string | undefined][] = [
    ['"org_id" = ?', orgId],
    ['"date" >= ?', firstDay],
    ['"date" <= ?', lastDay],
  ];
  return conditions.flatMap(([condition, value]) => (value === undefined ? [] : [[condition, value]]));
}
