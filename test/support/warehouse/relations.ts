import type { Relation } from './each-database.ts';

/** A column, as a query on the catalog of a database tells it. */
export interface CatalogColumn {
  readonly relation: string;
  readonly is_view: number;
  readonly name: string;
  readonly type: string;
  readonly is_required: number;
  /** Its place in the primary key, from 1; 0 or null outside of it. */
  readonly pk: number | null;
}

/** Columns, in order, by the table or view that they belong to. */
export function relationsOf(columns: readonly CatalogColumn[]): Relation[] {
  const names = [...new Set(columns.map(({ relation }) => relation))];
  return names.map((name) => {
    const own = columns.filter(({ relation }) => relation === name);
    return {
      name,
      isView: own.some(({ is_view }) => is_view === 1),
      columns: own.map((column) => ({
        name: column.name,
        type: column.type,
        isRequired: column.is_required === 1,
      })),
      key: own
        .filter(({ pk }) => (pk ?? 0) > 0)
        .toSorted((a, b) => (a.pk ?? 0) - (b.pk ?? 0))
        .map((column) => column.name),
    };
  });
}
