import { stringify } from 'csv-stringify/sync';

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

/** The first characters by which spreadsheets recognize a formula. */
const FORMULA = String.raw`[=+\-@\t\r\uFF1D\uFF0B\uFF0D\uFF20]`;
const QUOTED_FORMULA = new RegExp(`^'+${FORMULA}`);

/** True for a text that looks like the result of {@link escapeFormula}: quotes, then what may begin a formula. */
export function isEscapedFormula(text: string): boolean {
  return QUOTED_FORMULA.test(text);
}

/** Takes away the quote that {@link isEscapedFormula} found, so that what was written is read again. */
export function unescapeFormula(text: string): string {
  return isEscapedFormula(text) ? text.slice(1) : text;
}
