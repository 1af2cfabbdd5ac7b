import type { AnyTable } from '../../../schema/define.ts';
import { keyOf } from '../../../schema/row.ts';
import type { ScanScope, Value, Values } from '../port.ts';
import { scanRowsMax } from '../scan-chunk.ts';
import type { Link } from './link.ts';
import { keyList, selectWhere } from './statements.ts';

/** Gives each cursor its own name: several may be open on one connection. */
let cursors = 0;

/** All rows of a table in key order, streamed, see `Warehouse.scan`. Call inside a transaction. */
export async function* scanRows(
  link: Link,
  table: AnyTable,
  scope?: ScanScope,
  columns?: readonly string[],
): AsyncGenerator<readonly Values[]> {
  const cursor = `scan_${++cursors}`;
  const rowsMax = scanRowsMax(table);
  const { conditions, values } = conditionsOf(table, scope);
  const sql = selectWhere(link, table, conditions, columns);
  await link.declare(`DECLARE ${cursor} NO SCROLL CURSOR FOR ${sql}`, values);
  try {
    for (;;) {
      const rows = await link.script(`FETCH ${rowsMax} FROM ${cursor}`);
      if (rows.length > 0) yield rows;
      if (rows.length < rowsMax) return;
    }
  } finally {
    // A failed transaction has closed it already.
    if (!link.isLost) await link.script(`CLOSE ${cursor}`).catch(() => undefined);
  }
}

function conditionsOf(table: AnyTable, scope: ScanScope | undefined) {
  const values: Value[] = [];
  if (scope === undefined) return { conditions: [], values };
  const { orgId, firstDay, lastDay, after } = scope;
  const place = (value: Value) => `$${values.push(value)}`;
  const conditions = [`"org_id" = ${place(orgId)}`];
  if (firstDay !== undefined) conditions.push(`"date" >= ${place(firstDay)}`);
  if (lastDay !== undefined) conditions.push(`"date" <= ${place(lastDay)}`);
  if (after !== undefined)
    conditions.push(`(${keyList(table)}) > (${keyOf(table)(after).map(place).join(', ')})`);
  return { conditions, values };
}
