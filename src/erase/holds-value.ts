import type { AnyTable } from '../../schema/define.ts';
import { type SQL, sql } from '../../schema/query.ts';
import { textColumnsOf } from '../erased/index.ts';

/** Parts of a value that every database compares alike. */
const ASCII_PARTS = /[\x21-\x7e]+/g;
/** A JSON text may write any character as an escape. */
const JSON_ESCAPE = '%\\u%';

/**
 * A condition that holds for every row of a table that may hold one of the values in any text, in any letter case; and for some
 * others. Null if the table has no text.
 */
export function mayHold(table: AnyTable, values: readonly string[]): SQL | null {
  const patterns = [...new Set(values.map(patternOf))];
  const conditions = textColumnsOf(table).flatMap(({ name, isJson }) => {
    const text = sql`LOWER(CAST(${sql.identifier(name)} AS TEXT))`;
    const wanted = isJson ? [...patterns, JSON_ESCAPE] : patterns;
    return wanted.map((pattern) => sql`${text} LIKE ${pattern} ESCAPE '!'`);
  });
  return conditions.length === 0 ? null : sql`(${sql.join(conditions, sql` OR `)})`;
}

/** The longest part in ASCII, as it may stand inside a longer text; quotes and backslashes may be escaped there. */
function patternOf(value: string): string {
  const parts =
    value
      .toLowerCase()
      .replace(/["\\/]/g, ' ')
      .match(ASCII_PARTS) ?? [];
  const longest = parts.reduce((a, b) => (b.length > a.length ? b : a), '');
  return `%${longest.replace(/[!%_]/g, '!$&')}%`;
}
