import type { TableRows, Value } from '../../schema/row.ts';

/** One array literal per column, built faster than pg does. */
export function arrays({ table, rows }: TableRows): string[] {
  return Object.keys(table.columns).map((_, at) => {
    let text = '{';
    for (const row of rows) text += text.length > 1 ? `,${element(row[at])}` : element(row[at]);
    return `${text}}`;
  });
}

const SPECIAL = /["\\]/;

function element(value: Value | undefined): string {
  if (typeof value !== 'string') return value === null || value === undefined ? 'NULL' : `${value}`;
  return SPECIAL.test(value) ? `"${value.replace(/["\\]/g, '\\$&')}"` : `"${value}"`;
}

/** One array of JSON objects. */
export function jsonText({ table, rows }: TableRows): string[] {
  const columns = Object.entries(table.columns).map(([name, { kind }]) => ({ name, raw: kind === 'json' }));
  const objects = rows.map((row) => {
    const fields = columns.map(({ name, raw }, at) => {
      const value = row[at];
      return `"${name}":${raw && typeof value === 'string' ? value : JSON.stringify(value)}`;
    });
    return `{${fields.join(',')}}`;
  });
  return [`[${objects.join(',')}]`];
}
