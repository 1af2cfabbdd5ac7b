import type { Columns } from '../define.ts';
import { KINDS } from '../kinds.ts';
import { allTables } from '../tables.ts';
import { allViews } from '../views.ts';
import { exampleQueries } from './examples.ts';

/** A column, as `daywalk schema --format json` prints it. */
export interface ColumnDocument {
  readonly name: string;
  readonly meaning: string;
  readonly type: { readonly sqlite: string; readonly postgres: string };
  readonly nullable: boolean;
  /** Whether its values may be summed over days and groups; null if it is not a published number. */
  readonly additive: boolean | null;
}

/** The whole schema as one JSON document: tables, views and example queries. */
export function schemaDocument() {
  return {
    tables: allTables.map(({ name, doc, role, stream, key, columns }) => ({
      name,
      meaning: doc,
      role,
      stream,
      key,
      columns: columnsOf(columns),
    })),
    views: allViews.map(({ name, doc, columns }) => ({ name, meaning: doc, columns: columnsOf(columns) })),
    examples: Object.values(exampleQueries),
  };
}

function columnsOf(columns: Columns): ColumnDocument[] {
  return Object.entries(columns).map(([name, { kind, doc, additive }]) => ({
    name,
    meaning: doc,
    type: { sqlite: KINDS[kind].sqlite, postgres: KINDS[kind].postgres },
    nullable: KINDS[kind].isNullable,
    additive: additive ?? null,
  }));
}
