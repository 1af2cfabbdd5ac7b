import type { Column, Columns } from '../define.ts';
import { allTables } from '../tables.ts';
import { allViews } from '../views.ts';

/**
 * The statements that give every table, view and column of a PostgreSQL warehouse its description as its comment. May be
 * repeated. Names are without a schema, as in the migrations.
 */
export function commentsSql(): string {
  const statements = [
    ...allTables.flatMap(({ name, doc, columns }) => commentsOf('TABLE', name, doc, columns)),
    ...allViews.flatMap(({ name, doc, columns }) => commentsOf('VIEW', name, doc, columns)),
  ];
  return `${statements.join('\n')}\n`;
}

function commentsOf(kind: 'TABLE' | 'VIEW', name: string, doc: string, columns: Columns): string[] {
  return [
    `COMMENT ON ${kind} "${name}" IS ${literal(doc)};`,
    ...Object.entries(columns).map(
      ([column, spec]) => `COMMENT ON COLUMN "${name}"."${column}" IS ${literal(columnComment(spec))};`,
    ),
  ];
}

/** The description of a column, with a warning if its values must not be added up. */
export function columnComment({ doc, additive }: Column): string {
  return additive === false ? `${doc}. Do not sum.` : doc;
}

function literal(text: string): string {
  return `'${text.replaceAll("'", "''")}'`;
}
