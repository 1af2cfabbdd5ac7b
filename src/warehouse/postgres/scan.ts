import type { AnyTable } from '../../../schema/define.ts';
import type { ScanScope, Values } from '../port.ts';
import { scanRowsMax } from '../scan-chunk.ts';
import type { Link } from './link.ts';
import { selectWhere } from './statements.ts';

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
  const conditions = conditionsOf(scope);
  const sql = selectWhere(
    link,
    table,
    conditions.map(([condition], index) => `${condition}$${index + 1}`),
    columns,
  );
  await link.declare(
    `DECLARE ${cursor} NO SCROLL CURSOR FOR ${sql}`,
    conditions.map(([, value]) => value),
  );
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

function conditionsOf(scope: ScanScope | undefined): [condition: string, value: string][] {
  if (scope === undefined) return [];
  const { orgId, firstDay, lastDay } = scope;
  const conditions: [string, string | undefined][] = [
    ['"org_id" = ', orgId],
    ['"date" >= ', firstDay],
    ['"date" <= ', lastDay],
  ];
  return conditions.flatMap(([condition, value]) => (value === undefined ? [] : [[condition, value]]));
}
