import { createReadStream } from 'node:fs';
import { type FileHandle, open, rename, rm, stat } from 'node:fs/promises';
import { basename, dirname, join } from 'node:path';
import { zstdDecompressSync } from 'node:zlib';
import { CsvError, parse } from 'csv-parse';
import { stringify } from 'csv-stringify/sync';
import { asyncBufferFromFile, parquetMetadataAsync, parquetReadObjects, parquetSchema } from 'hyparquet';
import { collectorOf } from '../../../schema/row.ts';
import { adviceOf, messageOf, UsageError } from '../../core/errors.ts';
import { explainWriteError, hasCode, syncPath } from '../../core/files.ts';
import { isEscapedFormula, unescapeFormula } from '../../csv-files/index.ts';
import { type Batch, type LakeColumn, type LakeType, writeParquet } from '../../publish/index.ts';
import type { Charge } from './charge.ts';
import { COLUMN_NAMES, COLUMNS, type FocusRow, type FocusType } from './columns.ts';
import { Issued } from './corrections.ts';
import { digestOfFile, digestsIn, digestsText, formatOf, isParquet } from './files.ts';
import { type ExpectedBill, expectLayout, type ParsedRow, parseRow, type ReadRow } from './row.ts';

/** Readable only by its owner, because it tells what each user costs. */
const FILE_MODE = 0o600;

/** A file after {@link issueFile}. */
export interface IssuedFile {
  readonly path: string;
  readonly bytes: number;
  /** True if the file was there already, with the same bytes. */
  readonly isUnchanged: boolean;
}

/**
 * Writes rows to a new file and puts it in place at once: it is whole or not there. A file that was issued is never
 * replaced, because corrections need it; the same rows again leave it as it is.
 * @throws {UsageError} if there is a file with another content, or no such folder.
 * @throws {StorageError} if the file cannot be written.
 */
export async function issueFile(
  path: string,
  batches: AsyncIterable<readonly FocusRow[]>,
): Promise<IssuedFile> {
  const part = join(dirname(path), `.${basename(path)}.${process.pid}.part`);
  try {
    await rm(part, { force: true });
    await write(part, path, batches);
    const { size: bytes } = await stat(part);
    const isUnchanged = await expectNewOrSame(path, part);
    if (isUnchanged) return { path, bytes, isUnchanged };
    await rename(part, path);
    syncPath(dirname(path));
    return { path, bytes, isUnchanged };
  } catch (error) {
    throw explainWriteError(error, path);
  } finally {
    await rm(part, { force: true }).catch(() => undefined);
  }
}

async function write(part: string, path: string, batches: AsyncIterable<readonly FocusRow[]>): Promise<void> {
  const created = await open(part, 'wx', FILE_MODE);
  await created.close();
  await (formatOf(path) === 'csv' ? writeFocusCsv(part, batches) : writeFocusParquet(part, batches));
}

async function expectNewOrSame(path: string, part: string): Promise<boolean> {
  const existing = await stat(path).catch((error: unknown) => {
    if (hasCode(error, 'ENOENT')) return null;
    throw error;
  });
  if (existing === null) return false;
  if (existing.isFile() && (await digestOfFile(path)) === (await digestOfFile(part))) return true;
  throw new UsageError(`${path} exists, and is not the file that would be written`, {
    hint: 'name a new file. To correct a file that was issued, write its corrections to a new file; to replace one that was not, remove it first',
  });
}

/**
 * Writes rows to a CSV file with a header, replaces what is there, and syncs it. Equal rows give equal bytes.
 * @throws {Error} of the file system.
 */
async function writeFocusCsv(path: string, batches: AsyncIterable<readonly FocusRow[]>): Promise<void> {
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
function decimalText(value: number): string {
  const text = String(value);
  if (text.includes('e')) return text.replace('e+', 'E').replace('e', 'E');
  return text.includes('.') ? text : `${text}.0`;
}

const TYPES: Readonly<Record<FocusType, LakeType>> = {
  String: 'string',
  Decimal: 'double',
  'Date/Time': 'timestamp',
  JSON: 'string',
};

/**
 * Writes rows as a Parquet file, and syncs it. Equal rows give equal bytes.
 * @throws {Error} of the file system.
 */
async function writeFocusParquet(path: string, batches: AsyncIterable<readonly FocusRow[]>): Promise<void> {
  await writeParquet(path, { name: 'focus', columns: lakeColumns() }, encoded(batches));
}

function lakeColumns(): LakeColumn[] {
  return COLUMN_NAMES.map((name, position) => {
    const { type, isNullable } = COLUMNS[name];
    const isText = type === 'String' || type === 'JSON';
    return { name, position, type: TYPES[type], isRequired: !isNullable, isRepetitive: isText };
  });
}

async function* encoded(batches: AsyncIterable<readonly FocusRow[]>): AsyncGenerator<Batch> {
  const encode = collectorOf<[FocusRow]>(COLUMN_NAMES, () => 0);
  for await (const rows of batches) yield { rows: rows.map(encode) };
}

/** What was issued for a month. */
export interface IssuedFiles {
  readonly issued: Issued;
  /** Null if no file has a row. */
  readonly currency: string | null;
  /** The digests of the files that have rows, as a new file of corrections records them; null if none has. */
  readonly digests: string | null;
  /** The total of all files. */
  readonly tokens: number;
  readonly cost: number;
}

/** What was read of one file. */
interface ReadFile {
  readonly path: string;
  readonly digest: string;
  readonly kind: 'original' | 'correction' | 'empty';
  readonly currency: string | null;
  /** The digests of the files that it corrects. */
  readonly corrects: readonly string[];
}

/**
 * Reads the files that were issued for a month: the original, and every correction since, in the order in which they were
 * issued.
 * @param passed a charge as it would be stored now, so that the corrections name nobody again of whom nothing is kept
 * @throws {UsageError} if they are not exactly these files, as they were issued, and of this bill.
 */
export async function readIssued(
  paths: readonly string[],
  bill: ExpectedBill,
  passed: (charge: Charge) => Charge,
): Promise<IssuedFiles> {
  const issued = new Issued();
  const total = { tokens: 0, cost: 0 };
  const files: ReadFile[] = [];
  for (const path of paths) {
    const file = await readFile(path, bill, ({ charge }) => {
      issued.add(passed(charge));
      total.tokens += charge.tokens;
      total.cost += charge.cost;
    });
    expectNew(files, file);
    files.push(file);
  }
  expectChain(files);
  const withRows = files.filter(({ kind }) => kind !== 'empty');
  const digests = digestsText(withRows.map(({ digest }) => digest));
  return { issued, currency: currencyOf(files), digests, ...total };
}

async function readFile(path: string, bill: ExpectedBill, add: (row: ParsedRow) => void): Promise<ReadFile> {
  let line = 0;
  let first: ParsedRow | undefined;
  try {
    const digest = await digestOfFile(path);
    for await (const read of readRows(path)) {
      line = read.line;
      const row = parseRow(read.row, bill);
      first ??= row;
      expectUniform(first, row);
      add(row);
    }
    const kind = first === undefined ? 'empty' : first.charge.reason === null ? 'original' : 'correction';
    return {
      path,
      digest,
      kind,
      currency: first?.currency ?? null,
      corrects: digestsIn(first?.correctedFiles),
    };
  } catch (error) {
    throw explained(error, line === 0 ? path : `${path}:${line}`);
  }
}

function readRows(path: string): AsyncGenerator<{ row: ReadRow; line: number }> {
  return isParquet(path) ? readParquet(path) : readCsv(path);
}

/** All rows of a file are original or all are corrections, of the same files, and in one currency. */
function expectUniform(first: ParsedRow, row: ParsedRow): void {
  const isSame =
    (first.charge.reason === null) === (row.charge.reason === null) &&
    first.currency === row.currency &&
    first.correctedFiles === row.correctedFiles;
  if (isSame) return;
  throw new UsageError('the row belongs to another file than the rows before', {
    hint: 'give every file as it was issued, not several in one',
  });
}

function expectNew(files: readonly ReadFile[], { path, digest, kind }: ReadFile): void {
  const same = files.find((file) => file.digest === digest && kind !== 'empty');
  if (same !== undefined) {
    throw new UsageError(`${path} has the same content as ${same.path}`, { hint: 'give each file once' });
  }
  const original = files.find((file) => file.kind === 'original');
  if (kind !== 'original' || original === undefined) return;
  throw new UsageError(`${original.path} and ${path} are both originals of the month`, {
    hint: 'give the one that was issued, and its corrections',
  });
}

/** A correction adds up only together with the files that it corrects, as they were. */
function expectChain(files: readonly ReadFile[]): void {
  const known = new Set<string>();
  for (const { path, digest, corrects } of files) {
    known.add(digest);
    const missing = corrects.find((digest) => !known.has(digest));
    if (missing === undefined) continue;
    throw new UsageError(`${path} corrects a file that is not given before it: SHA-256 ${missing}`, {
      hint: 'give every file that was issued for the month, unchanged and in the order in which they were issued',
    });
  }
}

function currencyOf(files: readonly ReadFile[]): string | null {
  const currencies = [...new Set(files.flatMap(({ currency }) => currency ?? []))];
  if (currencies.length <= 1) return currencies[0] ?? null;
  throw new UsageError(`the files have several currencies: ${currencies.join(', ')}`, {
    hint: 'give the files of one bill',
  });
}

function explained(error: unknown, place: string): unknown {
  if (error instanceof UsageError) {
    return new UsageError(`${place}: ${error.message}`, { cause: error, ...adviceOf(error) });
  }
  if (hasCode(error, 'ENOENT', 'EISDIR', 'EACCES', 'ENOTDIR')) {
    return new UsageError(`read the issued file ${place}: ${messageOf(error)}`, {
      cause: error,
      hint: 'give a file that exists and that this user may read',
    });
  }
  return new UsageError(`read the issued file ${place}: ${messageOf(error)}`, {
    cause: error,
    hint: 'give the file as it was issued: CSV, or Parquet with a name that ends with .parquet',
  });
}

/** The longest row, so that a file without line breaks does not fill the memory. */
const ROW_CHARACTERS_MAX = 1_000_000;

/**
 * Reads the rows of a CSV file that this program has written, with the lines on which they end.
 * @throws {UsageError} without the name of the file, if it is not such a file.
 * @throws {Error} of the file system.
 */
async function* readCsv(path: string): AsyncGenerator<{ row: ReadRow; line: number }> {
  const parser = createReadStream(path).pipe(
    parse({
      columns: (header: readonly string[]) => [...expectLayout(header)],
      bom: true,
      info: true,
      max_record_size: ROW_CHARACTERS_MAX,
      cast: (text, { header }) => (header ? text : text === '' ? null : unescapeFormula(text)),
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

/**
 * Reads the rows of a Parquet file that this program has written, with their numbers. Memory holds one row group.
 * @throws {UsageError} without the name of the file, if it has other columns.
 * @throws {Error} of the file system, or if it is not a Parquet file.
 */
async function* readParquet(path: string): AsyncGenerator<{ row: ReadRow; line: number }> {
  const file = await asyncBufferFromFile(path);
  const metadata = await parquetMetadataAsync(file);
  expectLayout(parquetSchema(metadata).children.map(({ element }) => element.name));
  let start = 0;
  for (const group of metadata.row_groups) {
    const end = start + Number(group.num_rows);
    const part = { file, metadata, rowStart: start, rowEnd: end };
    const rows = await parquetReadObjects({
      ...part,
      compressors: { ZSTD: (bytes) => zstdDecompressSync(bytes) },
    });
    for (const [at, row] of rows.entries()) yield { row: readRowOf(row), line: start + at + 1 };
    start = end;
  }
}

function readRowOf(row: Readonly<Record<string, unknown>>): ReadRow {
  return Object.fromEntries(Object.entries(row).map(([name, value]) => [name, parquetValue(value)]));
}

function parquetValue(value: unknown): string | number | null {
  if (value instanceof Date) return value.toISOString().replace('.000Z', 'Z');
  return typeof value === 'string' || typeof value === 'number' ? value : null;
}
