import { type FileHandle, open } from 'node:fs/promises';
import { stringify } from 'csv-stringify/sync';
import { isEscapedFormula } from '../../metrics/write-csv.ts';
import { COLUMN_NAMES, type FocusRow } from './columns.ts';

/**
 * Writes rows to a CSV file with a header, replaces what is there, and syncs it. Equal rows give equal bytes.
 * @throws {Error} of the file system.
 */
export async function writeFocusCsv(
  path: string,
  batches: AsyncIterable<readonly FocusRow[]>,
): Promise<void> {
  const file = await open(path, 'w');
  try {
    await append(file, [], true);
    for await (const rows of batches) await append(file, rows, false);
    await file.sync();
  } finally {
    await file.close();
  }
}

async function append(file: FileHandle, rows: readonly FocusRow[], header: boolean): Promise<void> {
  const text = stringify([...rows], {
    header,
    columns: [...COLUMN_NAMES],
    escape_formulas: true,
    cast: { number: decimalText, string: (value) => (isEscapedFormula(value) ? `'${value}` : value) },
  });
  await file.writeFile(text);
}

/**
 * A number as FOCUS wants it: with a decimal point, so that readers take a column of whole numbers for decimals, and with
 * an exponent without a plus sign. It has all digits that are needed to read the same number again.
 */
export function decimalText(value: number): string {
  const text = String(value);
  if (text.includes('e')) return text.replace('e+', 'E').replace('e', 'E');
  return text.includes('.') ? text : `${text}.0`;
}
