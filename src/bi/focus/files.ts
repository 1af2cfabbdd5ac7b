import { createHash } from 'node:crypto';
import { createReadStream } from 'node:fs';
import { UsageError } from '../../core/errors.ts';

/** The formats of a file, by the ending of its name. */
type FileFormat = 'csv' | 'parquet';

/**
 * The format of a file to write, by the ending of its name.
 * @throws {UsageError} for any other ending.
 */
export function formatOf(path: string): FileFormat {
  if (isParquet(path)) return 'parquet';
  if (path.toLowerCase().endsWith('.csv')) return 'csv';
  throw new UsageError(`${path} names no format`, { hint: 'end the name of the file with .csv or .parquet' });
}

/** True for the name of a Parquet file. */
export function isParquet(path: string): boolean {
  return path.toLowerCase().endsWith('.parquet');
}

/** The digests of files as one text, the same in any order; null for none. */
export function digestsText(digests: readonly string[]): string | null {
  return digests.length === 0 ? null : digests.toSorted().join(' ');
}

/** The digests in a text of {@link digestsText}. */
export function digestsIn(text: string | null | undefined): string[] {
  return text === null || text === undefined ? [] : text.split(' ');
}

/**
 * The SHA-256 of a file, in hexadecimal.
 * @throws {Error} of the file system.
 */
export async function digestOfFile(path: string): Promise<string> {
  const hash = createHash('sha256');
  for await (const bytes of createReadStream(path)) hash.update(bytes);
  return hash.digest('hex');
}
