import type { AnyTable } from '../../../schema/define.ts';
import { contentTables } from '../../../schema/tables.ts';

/** How generated migrations add a column, in either database. */
const ADD_COLUMN = /ALTER TABLE [`"](\w+)[`"] ADD (?:COLUMN )?[`"](\w+)[`"]/g;

/** The columns that migrations add to tables with unknown fields. */
export function addedColumns(
  migrations: readonly { readonly sql: readonly string[] }[],
): ReadonlyMap<AnyTable, ReadonlySet<string>> {
  const added = new Map<AnyTable, Set<string>>();
  for (const [, name, column] of migrations.flatMap(({ sql }) => [...sql.join('\n').matchAll(ADD_COLUMN)])) {
    const table = contentTables.find((content) => content.name === name);
    if (table === undefined || column === undefined) continue;
    // A later migration may have removed it.
    if (!Object.hasOwn(table.columns, column) || !Object.hasOwn(table.columns, 'extra')) continue;
    added.set(table, (added.get(table) ?? new Set()).add(column));
  }
  return added;
}
