import { CsvError } from 'csv-parse';
import { parse } from 'csv-parse/sync';
import { UsageError } from '../../core/errors.ts';

/** The most rows of a file. */
const ROWS_MAX = 500_000;

/** A record: the line on which it begins, and its trimmed cells. */
export interface CsvRecord {
  readonly line: number;
  readonly cells: readonly string[];
}

/**
 * Splits the text of a CSV file into records. Lines without a value are left out.
 * @throws {UsageError} that names file, line and remedy for a quote in the wrong place, or for too many rows.
 */
export function splitCsv(text: string, name: string): CsvRecord[] {
  const records: CsvRecord[] = [];
  parseText(text, name, (cells, endLine) => {
    const breaks = cells.reduce((sum, cell) => sum + cell.split('\n').length - 1, 0);
    records.push({ line: endLine - breaks, cells: cells.map((cell) => cell.trim()) });
  });
  if (records.length <= ROWS_MAX) return records;
  throw new UsageError(`${name}: the file has ${records.length} rows, more than ${ROWS_MAX}`, {
    hint: 'leave out rows that are not needed',
  });
}

function parseText(
  text: string,
  name: string,
  take: (cells: readonly string[], endLine: number) => void,
): void {
  let endLine = 0;
  try {
    // The parser counts a line end of two characters within quotes as two lines.
    parse(text.replaceAll(/\r\n?/g, '\n'), {
      bom: true,
      relax_column_count: true,
      skip_empty_lines: true,
      skip_records_with_empty_values: true,
      trim: true,
      on_record: (cells: string[], { lines }) => {
        endLine = lines;
        take(cells, lines);
        return null;
      },
    });
  } catch (error) {
    if (!(error instanceof CsvError)) throw error;
    const { code } = error;
    const isOpen = code === 'CSV_QUOTE_NOT_CLOSED';
    const line: unknown = isOpen ? endLine + 1 : Reflect.get(error, 'lines');
    const what = isOpen ? 'a quoted value does not end' : 'a double quote is in the wrong place';
    throw new UsageError(`${name}:${typeof line === 'number' ? line : 1}: ${what}`, {
      cause: error,
      hint: 'put the whole value in double quotes, and write a quote within it twice',
    });
  }
}
