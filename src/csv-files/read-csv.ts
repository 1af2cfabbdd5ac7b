import { constants } from 'node:fs';
import { type FileHandle, open } from 'node:fs/promises';
import { CsvError } from 'csv-parse';
import { parse } from 'csv-parse/sync';
import { messageOf, nearestName, UsageError } from '../core/errors.ts';
import { type CsvColumn, Mistakes } from './csv-columns.ts';
import { unescapeFormula } from './write-csv.ts';

/** The largest file: 50,000 people with ten moves each. Messages and docs/people.md name it. */
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
interface CsvFile {
  readonly path: string;
  readonly name: string;
}

/** What a CSV file must look like. */
export interface CsvFormat<Columns extends CsvColumns> {
  readonly columns: Columns;
  /** Columns of which every row needs one. */
  readonly oneOf?: readonly (keyof Columns & string)[];
  /**
   * What a file with this header calls the columns.
   * @default as they are called here
   */
  named?(header: readonly string[]): Readonly<Partial<Record<keyof Columns & string, string>>>;
  /**
   * True if a file may have further columns, which are not read.
   * @default false
   */
  readonly allowsOthers?: boolean;
}

/**
 * Reads a CSV file (RFC 4180): UTF-8 with or without BOM, commas, any line ends, 64 MiB and 500,000 rows at most. Values
 * are trimmed; lines without a value are left out.
 * @throws {UsageError} that names file, line and remedy for every mistake, ten at most; or if it is not a regular file.
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
    const columns = (format.allowsOthers ? (format.oneOf ?? []) : Object.keys(format.columns)).join(',');
    throw new UsageError(`${name}:1: the file is empty`, { hint: `begin it with a header line: ${columns}` });
  }
  const separator = otherSeparator(header.cells);
  if (separator !== undefined) {
    throw new UsageError(`${name}:${header.line}: the columns are separated by ${separator}`, {
      hint: `${SAVE_AS}, with commas`,
    });
  }
  const names: Names = { ...format.named?.(header.cells) };
  checkHeader(header, name, { ...format, names });
  const mistakes = new Mistakes(name);
  const rows = records.flatMap((record) => rowOf(record, header.cells, { ...format, names }, mistakes) ?? []);
  mistakes.refuse();
  return rows;
}

/** Without waiting: opening a FIFO would wait for a writer. */
const READING = constants.O_RDONLY | (constants.O_NONBLOCK ?? 0);

async function readText({ path, name }: CsvFile): Promise<string> {
  try {
    const file = await open(path, READING);
    try {
      return new TextDecoder('utf-8', { fatal: true }).decode(await readBytes(file));
    } finally {
      await file.close();
    }
  } catch (error) {
    const isText = error instanceof TypeError;
    throw new UsageError(`read ${name}: ${isText ? 'it is not UTF-8 text' : messageOf(error)}`, {
      cause: error,
      hint: isText
        ? SAVE_AS
        : 'give the path of a CSV file, 64 MiB at most; a FIFO, a device or a folder is not read',
    });
  }
}

/** Reading a FIFO or a device may never end, and a file may grow after its size was read. */
async function readBytes(file: FileHandle): Promise<Buffer> {
  const status = await file.stat();
  if (!status.isFile()) throw new UsageError('it is not a regular file');
  if (status.size > BYTES_MAX) throw new UsageError(`it has ${status.size} bytes, more than ${BYTES_MAX}`);
  const chunks: Buffer[] = [];
  for await (const chunk of file.createReadStream({ end: BYTES_MAX, autoClose: false })) chunks.push(chunk);
  const bytes = Buffer.concat(chunks);
  if (bytes.length > BYTES_MAX) throw new UsageError(`it has more than ${BYTES_MAX} bytes`);
  return bytes;
}

/** What a file calls the columns that it calls otherwise. */
type Names = Readonly<Record<string, string | undefined>>;

function rowOf<Columns extends CsvColumns>(
  { line, cells }: CsvRecord,
  header: readonly string[],
  { columns, oneOf, names }: CsvFormat<Columns> & { readonly names: Names },
  mistakes: Mistakes,
): CsvRow<Columns> | null {
  if (cells.length !== header.length) {
    const message = `the line has ${cells.length} fields, the header has ${header.length}`;
    mistakes.add({ line, message, hint: 'put values that contain a comma in double quotes' });
    return null;
  }
  const texts = new Map(header.map((column, index) => [column, unescapeFormula(cells[index] ?? '')]));
  const textIn = (column: string) => texts.get(names[column] ?? column) ?? '';
  if (oneOf?.every((column) => textIn(column) === '')) {
    mistakes.add({ line, message: `${oneOf.join(' and ')} are empty`, hint: `give one of them` });
  }
  const row: Record<string, unknown> = {};
  for (const [column, { presence, parse, absent }] of Object.entries(columns)) {
    const text = textIn(column);
    try {
      if (text === '' && presence === 'value') throw new UsageError('is empty', { hint: `give a ${column}` });
      row[column] = text === '' ? absent : parse(text);
    } catch (error) {
      if (!(error instanceof UsageError)) throw error;
      const shown = text.length <= SHOWN_CHARS_MAX ? text : `${text.slice(0, SHOWN_CHARS_MAX)}…`;
      const message = `${names[column] ?? column}${text === '' ? '' : ` "${shown}"`} ${error.message}`;
      mistakes.add({ line, message, hint: error.hint ?? '' });
    }
  }
  return { line, cells: row as CsvRow<Columns>['cells'] };
}

/** Enough of a cell to recognize it in a message. */
const SHOWN_CHARS_MAX = 60;

/** What to do about a file that a spreadsheet has saved in another format. */
const SAVE_AS = 'save it as "CSV UTF-8 (comma delimited)"';

const SEPARATORS: Readonly<Record<string, string>> = { ';': 'semicolons', '\t': 'tabs', '|': 'bars' };

/**
 * Checks the names of the columns.
 * @throws {UsageError} for columns that are unknown, occur twice or are missing.
 */
function checkHeader(
  { line, cells }: CsvRecord,
  name: string,
  format: {
    readonly columns: Readonly<Record<string, CsvColumn<unknown>>>;
    readonly oneOf?: readonly string[];
    readonly allowsOthers?: boolean;
    readonly names: Names;
  },
): void {
  const { columns, allowsOthers = false, names } = format;
  const inFile = (column: string) => names[column] ?? column;
  const oneOf = (format.oneOf ?? []).map(inFile);
  const mistakes = new Mistakes(name);
  const known = Object.keys(columns).map(inFile);
  for (const [index, column] of cells.entries()) {
    const isOther = !known.includes(column);
    if (isOther && allowsOthers) continue;
    if (cells.indexOf(column) < index) {
      mistakes.add({ line, message: `the column "${column}" occurs twice`, hint: 'remove one of them' });
    } else if (isOther) {
      const near = nearestName(column, known);
      const hint = near === undefined ? `the columns are ${known.join(', ')}` : `write ${near}`;
      mistakes.add({ line, message: `unknown column "${column}"`, hint });
    }
  }
  for (const [own, { presence }] of Object.entries(columns)) {
    const column = inFile(own);
    if (presence === 'optional' || cells.includes(column)) continue;
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

/** The most rows of a file. */
const ROWS_MAX = 500_000;

/** A record: the line on which it begins, and its trimmed cells. */
interface CsvRecord {
  readonly line: number;
  readonly cells: readonly string[];
}

/**
 * Splits the text of a CSV file into records. Lines without a value are left out.
 * @throws {UsageError} that names file, line and remedy for a quote in the wrong place, or for too many rows.
 */
function splitCsv(text: string, name: string): CsvRecord[] {
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
