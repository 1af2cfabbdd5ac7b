import type { Relation } from './each-database.ts';

/** A column as the catalog of a database describes it. */
export interface CatalogColumn {
  readonly relation: string;
  readonly is_view: number;
  readonly name: string;
  readonly type: string;
  readonly is_required: number;
  /** Its position in the primary key, from 1; 0 or null if it is not part of it. */
  readonly pk: number | null;
}

/** Groups columns, in order, by their table or view. */
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
