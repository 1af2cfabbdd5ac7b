import type { Value } from '../../../schema/row.ts';
import type { Foreign } from './each-database.ts';

/** Inserts rows into a table as another program would. Columns that a row does not name are NULL. */
export async function insertRows(
  place: Foreign,
  table: string,
  rows: readonly Readonly<Record<string, Value>>[],
): Promise<void> {
  for (const row of rows) {
    const names = Object.keys(row).map((name) => `"${name}"`);
    const places = names.map(() => '?');
    await place.execute(
      `INSERT INTO ${table} (${names.join(', ')}) VALUES (${places.join(', ')})`,
      ...Object.values(row),
    );
  }
}
