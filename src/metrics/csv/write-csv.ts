import { stringify } from 'csv-stringify/sync';
import { isEscapedFormula } from './formulas.ts';

/**
 * Writes rows as CSV: a header, then one line per row; NULL is an empty cell. A text that a spreadsheet would take for a
 * formula gets a quote in front, which {@link readCsv} takes away again.
 *
 * @example
 * writeCsv(['user_id', 'team'], [{ user_id: 'u-1', team: '=1+1' }]); // user_id,team\nu-1,'=1+1\n
 */
export function writeCsv<Column extends string>(
  columns: readonly Column[],
  rows: readonly { readonly [Name in Column]: string | number | null }[],
): string {
  return stringify([...rows], {
    header: true,
    columns: [...columns],
    escape_formulas: true,
    cast: { string: (text) => (isEscapedFormula(text) ? `'${text}` : text) },
  });
}
