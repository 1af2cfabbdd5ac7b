import type { AnyTable } from '../../../schema/define.ts';
import type { Row, ScanScope } from '../port.ts';
import { scanRowsMax } from '../scan-chunk.ts';
import type { Connection } from './connection.ts';
import { storageError } from './errors.ts';
import { selectWhere } from './statements.ts';

/** All rows of a table in key order, streamed, see `Warehouse.scan`. */
export async function* scan(
  connection: Connection,
  table: AnyTable,
  scope?: ScanScope,
): AsyncGenerator<readonly Row[]> {
  const conditions = conditionsOf(scope);
  const rowsMax = scanRowsMax(table);
  let chunk: Row[] = [];
  try {
    // A statement of its own: a cached one cannot be iterated twice at once.
    const sql = selectWhere(
      table,
      conditions.map(([condition]) => condition),
    );
    const rows = connection.db.prepare<unknown[], Row>(sql).raw();
    for (const row of rows.iterate(...conditions.map(([, value]) => value))) {
      chunk.push(row);
      if (chunk.length === rowsMax) {
        yield chunk;
        chunk = [];
      }
    }
  } catch (error) {
    throw storageError(error, `read ${table.name} of`, connection.path);
  }
  if (chunk.length > 0) yield chunk;
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
