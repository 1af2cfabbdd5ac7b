import { readFile, stat } from 'node:fs/promises';
import { messageOf, UsageError } from '../../core/errors.ts';
import { checkHeader, SAVE_AS } from './check-header.ts';
import type { CsvColumn } from './columns.ts';
import { unescapeFormula } from './formulas.ts';
import { Mistakes } from './mistakes.ts';
import { type CsvRecord, splitCsv } from './split-csv.ts';

/** The largest file: 50,000 people with ten moves each. */
const BYTES_MAX = 64 * 1024 * 1024;

/** The columns that a file may have, by name. */
export type CsvColumns = Readonly<Record<string, CsvColumn<unknown>>>;

/** The value of a cell: never null in a required column. */
type CellOf<Column> = Column extends {
  readonly presence: 'value';
  readonly parse: (text: string) => infer Value;
}
  ? Value
  : Column extends CsvColumn<infer Value>
    ? Value
    : never;

/** A row of a file: the line on which it begins, and its values by column. */
export interface CsvRow<Columns extends CsvColumns> {
  readonly line: number;
  readonly cells: { readonly [Name in keyof Columns]: CellOf<Columns[Name]> };
}

/** A file: where it is, and how messages call it. */
export interface CsvFile {
  readonly path: string;
  readonly name: string;
}

/** What a CSV file must look like. */
export interface CsvFormat<Columns extends CsvColumns> {
  readonly columns: Columns;
  /** Columns of which every row needs one. */
  readonly oneOf?: readonly (keyof Columns & string)[];
}

/**
 * Reads a CSV file (RFC 4180): UTF-8 with or without BOM, commas, any line ends, 64 MiB and 500,000 rows at most. Values
 * are trimmed; lines without a value are left out.
 * @throws {UsageError} that names file, line and remedy for every mistake, ten at most.
 */
export async function readCsv<Columns extends CsvColumns>(
  file: CsvFile,
  format: CsvFormat<Columns>,
): Promise<CsvRow<Columns>[]> {
  return parseCsv(await readText(file), file.name, format);
}

/** As {@link readCsv}, from a text. */
export function parseCsv<Columns extends CsvColumns>(
  text: string,
  name: string,
  format: CsvFormat<Columns>,
): CsvRow<Columns>[] {
  const [header, ...records] = splitCsv(text, name);
  if (header === undefined) {
    const columns = Object.keys(format.columns).join(',');
    throw new UsageError(`${name}:1: the file is empty`, { hint: `begin it with a header line: ${columns}` });
  }
  checkHeader(header, name, format);
  const mistakes = new Mistakes(name);
  const rows = records.flatMap((record) => rowOf(record, header.cells, format, mistakes) ?? []);
  mistakes.refuse();
  return rows;
}

async function readText({ path, name }: CsvFile): Promise<string> {
  try {
    const { size } = await stat(path);
    if (size > BYTES_MAX) throw new UsageError(`it has ${size} bytes, more than ${BYTES_MAX}`);
    return new TextDecoder('utf-8', { fatal: true }).decode(await readFile(path));
  } catch (error) {
    const isText = error instanceof TypeError;
    throw new UsageError(`read ${name}: ${isText ? 'it is not UTF-8 text' : messageOf(error)}`, {
      cause: error,
      hint: isText ? SAVE_AS : 'give the path of a CSV file, 64 MiB at most',
    });
  }
}

function rowOf<Columns extends CsvColumns>(
  { line, cells }: CsvRecord,
  header: readonly string[],
  { columns, oneOf }: CsvFormat<Columns>,
  mistakes: Mistakes,
): CsvRow<Columns> | null {
  if (cells.length !== header.length) {
    const message = `the line has ${cells.length} fields, the header has ${header.length}`;
    mistakes.add({ line, message, hint: 'put values that contain a comma in double quotes' });
    return null;
  }
  const texts = new Map(header.map((column, index) => [column, unescapeFormula(cells[index] ?? '')]));
  if (oneOf?.every((column) => (texts.get(column) ?? '') === '')) {
    mistakes.add({ line, message: `${oneOf.join(' and ')} are empty`, hint: `give one of them` });
  }
  const row: Record<string, unknown> = {};
  for (const [column, { presence, parse, absent }] of Object.entries(columns)) {
    const text = texts.get(column) ?? '';
    try {
      if (text === '' && presence === 'value') throw new UsageError('is empty', { hint: `give a ${column}` });
      row[column] = text === '' ? absent : parse(text);
    } catch (error) {
      if (!(error instanceof UsageError)) throw error;
      const message = `${column}${text === '' ? '' : ` "${shortened(text)}"`} ${error.message}`;
      mistakes.add({ line, message, hint: error.hint ?? '' });
    }
  }
  return { line, cells: row as CsvRow<Columns>['cells'] };
}

/** Enough of a cell to recognize it in a message. */
const SHOWN_CHARS_MAX = 60;

function shortened(text: string): string {
  return text.length <= SHOWN_CHARS_MAX ? text : `${text.slice(0, SHOWN_CHARS_MAX)}…`;
}
