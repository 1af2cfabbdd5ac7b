import type { Columns } from '../../../schema/define.ts';
import { allTables } from '../../../schema/tables.ts';
import { allViews } from '../../../schema/views.ts';
import { columnNote } from '../dictionary/column-note.ts';
import { columnUnits } from '../dictionary/column-units.ts';

/** What Datasette shows above a table or a view. */
export interface TableNotes {
  readonly description: string;
  readonly columns: Readonly<Record<string, string>>;
}

/** The notes on every table and view, by its name. */
export function tableNotes(): Readonly<Record<string, TableNotes>> {
  const units = columnUnits();
  return Object.fromEntries(
    [...allTables, ...allViews].map(({ name, doc, columns }) => [
      name,
      { description: doc, columns: columnNotes(name, columns, units) },
    ]),
  );
}

function columnNotes(
  table: string,
  columns: Columns,
  units: ReadonlyMap<string, string>,
): Readonly<Record<string, string>> {
  return Object.fromEntries(
    Object.entries(columns).map(([name, column]) => [
      name,
      columnNote(column, units.get(`${table}.${name}`)),
    ]),
  );
}
