import type { AnyTable } from '../../../schema/define.ts';
import { keyOf } from '../../../schema/row.ts';
import type { ScanScope, Value, Values } from '../port.ts';
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
): AsyncGenerator<readonly Values[]> {
  try {
    yield* chunksOf(connection, table, scope, columns);
  } catch (error) {
    throw storageError(error, `read ${table.name} of`, connection.path);
  }
}

/** All rows of a table in key order at once, see `Warehouse.rowsOf`. */
export function readRows(
  connection: Connection,
  table: AnyTable,
  scope: ScanScope,
  columns: readonly string[] = Object.keys(table.columns),
): Promise<readonly Values[]> {
  return connection.readInTurn(`read ${table.name} of`, () =>
    [...chunksOf(connection, table, scope, columns)].flat(),
  );
}

function chunksOf(
  { db }: Connection,
  table: AnyTable,
  scope: ScanScope | undefined,
  columns: readonly string[],
): Generator<readonly Values[]> {
  const conditions = conditionsOf(table, scope);
  const sql = selectWhere(
    table,
    conditions.map(([condition]) => condition),
    columns,
  );
  const values = conditions.flatMap(([, value]) => value);
  return takenRows(db, { sql, columns, values, rowsMax: scanRowsMax(table) });
}

function conditionsOf(
  table: AnyTable,
  scope: ScanScope | undefined,
): [condition: string, values: readonly Value[]][] {
  if (scope === undefined) return [];
  const { orgId, firstDay, lastDay, after } = scope;
  const days: [string, string | undefined][] = [
    ['"org_id" = ?', orgId],
    ['"date" >= ?', firstDay],
    ['"date" <= ?', lastDay],
  ];
  const conditions = days.flatMap(([condition, value]): [string, Value[]][] =>
    value === undefined ? [] : [[condition, [value]]],
  );
  if (after === undefined) return conditions;
  const [names, places] = [table.key.map((name) => `"${name}"`), table.key.map(() => '?')];
  return [...conditions, [`(${names.join(', ')}) > (${places.join(', ')})`, keyOf(table)(after)]];
}
