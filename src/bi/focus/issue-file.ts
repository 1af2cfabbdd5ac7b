import { type FileHandle, open, rename, rm, stat } from 'node:fs/promises';
import { basename, dirname, join } from 'node:path';
import { stringify } from 'csv-stringify/sync';
import { collectorOf } from '../../../schema/row.ts';
import { UsageError } from '../../core/errors.ts';
import { explainWriteError, hasCode, syncPath } from '../../core/files.ts';
import { isEscapedFormula } from '../../metrics/write-csv.ts';
import type { Batch, LakeColumn, LakeType } from '../../publish/parquet-columns.ts';
import { writeParquet } from '../../publish/write-parquet.ts';
import { COLUMN_NAMES, COLUMNS, type FocusRow, type FocusType } from './columns.ts';
import { digestOfFile, formatOf } from './files.ts';

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
export async function writeFocusParquet(
  path: string,
  batches: AsyncIterable<readonly FocusRow[]>,
): Promise<void> {
  await writeParquet(path, { name: 'focus', columns: lakeColumns() }, encoded(batches));
}

function lakeColumns(): LakeColumn[] {
  return COLUMN_NAMES.map((name, position) => {
    const { type, isNullable } = COLUMNS[name];
    const isText = type === 'String' || type === 'JSON';
    const isOrdered = name === 'ChargePeriodStart' || name === 'ChargePeriodEnd';
    return { name, position, type: TYPES[type], isRequired: !isNullable, isOrdered, isRepetitive: isText };
  });
}

async function* encoded(batches: AsyncIterable<readonly FocusRow[]>): AsyncGenerator<Batch> {
  const encode = collectorOf<[FocusRow]>(COLUMN_NAMES, () => 0);
  for await (const rows of batches) yield { rows: rows.map(encode) };
}
