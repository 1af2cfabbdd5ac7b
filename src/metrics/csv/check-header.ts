import { nearestName } from '../../core/nearest.ts';
import type { CsvColumn } from './columns.ts';
import { Mistakes } from './mistakes.ts';
import type { CsvRecord } from './split-csv.ts';

/** What to do about a file that a spreadsheet has saved in another format. */
export const SAVE_AS = 'save it as "CSV UTF-8 (comma delimited)"';

const SEPARATORS: Readonly<Record<string, string>> = { ';': 'semicolons', '\t': 'tabs', '|': 'bars' };

/**
 * Checks the names of the columns.
 * @throws {UsageError} for columns that are unknown, occur twice or are missing.
 */
export function checkHeader(
  { line, cells }: CsvRecord,
  name: string,
  format: {
    readonly columns: Readonly<Record<string, CsvColumn<unknown>>>;
    readonly oneOf?: readonly string[];
  },
): void {
  const { columns, oneOf = [] } = format;
  const mistakes = new Mistakes(name);
  const found = otherSeparator(cells);
  if (found !== undefined) {
    mistakes.add({ line, message: `the columns are separated by ${found}`, hint: `${SAVE_AS}, with commas` });
    mistakes.refuse();
  }
  const known = Object.keys(columns);
  for (const [index, column] of cells.entries()) {
    if (cells.indexOf(column) < index) {
      mistakes.add({ line, message: `the column "${column}" occurs twice`, hint: 'remove one of them' });
    } else if (!known.includes(column)) {
      const near = nearestName(column, known);
      const hint = near === undefined ? `the columns are ${known.join(', ')}` : `write ${near}`;
      mistakes.add({ line, message: `unknown column "${column}"`, hint });
    }
  }
  for (const column of known) {
    if (columns[column]?.presence === 'optional' || cells.includes(column)) continue;
    mistakes.add({ line, message: `the column ${column} is missing`, hint: `add the column ${column}` });
  }
  if (oneOf.length > 0 && !oneOf.some((column) => cells.includes(column))) {
    const message = `the file needs a column ${oneOf.join(' or ')}`;
    mistakes.add({ line, message, hint: `add a column ${oneOf[0]}` });
  }
  mistakes.refuse();
}

/** The separator of a header that has no comma. */
function otherSeparator([only = '', ...others]: readonly string[]): string | undefined {
  const separator = /[;\t|]/.exec(only)?.[0];
  return separator === undefined || others.length > 0 ? undefined : SEPARATORS[separator];
}
