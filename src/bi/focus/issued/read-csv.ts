import { createReadStream } from 'node:fs';
import { CsvError, parse } from 'csv-parse';
import { UsageError } from '../../../core/errors.ts';
import { unescapeFormula } from '../../../metrics/write-csv.ts';
import { expectLayout } from './layout.ts';
import type { ReadRow } from './parse-row.ts';

/** The longest row, so that a file without line breaks does not fill the memory. */
const ROW_CHARACTERS_MAX = 1_000_000;

/**
 * Reads the rows of a CSV file that this program has written, with the lines on which they end.
 * @throws {UsageError} without the name of the file, if it is not such a file.
 * @throws {Error} of the file system.
 */
export async function* readCsv(path: string): AsyncGenerator<{ row: ReadRow; line: number }> {
  const parser = createReadStream(path).pipe(
    parse({
      columns: (header: readonly string[]) => [...expectLayout(header)],
      bom: true,
      info: true,
      max_record_size: ROW_CHARACTERS_MAX,
      cast: (text, { header }) => (header ? text : cellValue(text)),
    }),
  );
  try {
    for await (const { record, info } of parser) yield { row: record, line: info.lines };
  } catch (error) {
    if (!(error instanceof CsvError)) throw error;
    throw new UsageError(error.message, {
      cause: error,
      hint: 'another program has changed the file; give the file as it was issued',
    });
  }
}

function cellValue(text: string): string | null {
  return text === '' ? null : unescapeFormula(text);
}
