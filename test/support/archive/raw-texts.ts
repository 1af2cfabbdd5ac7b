import { existsSync, readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { brotliDecompressSync, constants, zstdDecompressSync } from 'node:zlib';

/** Leftovers are short, and objects follow each other; more steps than this between two of them are an error of a test. */
const TORN_BYTES_MAX = 1_000_000;
/** The first bytes of each text that zstd has compressed (RFC 8878, 3.1.1). */
const ZSTD_MAGIC = Buffer.from('28b52ffd', 'hex');

/** A text that stands in a data file. */
interface Found {
  readonly offset: number;
  readonly text: string;
}

/** Every text in the data files of an archive, by its place, also what no line names and what a kill has torn. */
export function rawTexts(archive: string): [place: string, text: string][] {
  const folder = join(archive, 'objects');
  if (!existsSync(folder)) return [];
  return readdirSync(folder).flatMap((name) => {
    const bytes = readFileSync(join(folder, name));
    const found = name.endsWith('.zst') ? zstdTextsIn(bytes) : brotliTextsIn(bytes);
    return found.map(({ offset, text }): [string, string] => [`${name}:${offset} raw`, text]);
  });
}

/** The texts in bytes, one after the other, with whatever can be read of a torn one. */
function zstdTextsIn(bytes: Buffer): Found[] {
  const found: Found[] = [];
  for (let offset = bytes.indexOf(ZSTD_MAGIC); offset >= 0; ) {
    const next = bytes.indexOf(ZSTD_MAGIC, offset + 1);
    found.push({ offset, text: zstdText(bytes.subarray(offset, next < 0 ? bytes.length : next)) });
    offset = next;
  }
  return found;
}

function zstdText(bytes: Buffer): string {
  try {
    return String(zstdDecompressSync(bytes));
  } catch {
    // Nobody can read it.
    return '';
  }
}

function brotliTextsIn(bytes: Buffer): Found[] {
  const found: Found[] = [];
  let skipped = 0;
  for (let offset = 0; offset < bytes.length; ) {
    const next = brotliTextAt(bytes, offset);
    if (next === null) {
      skipped += 1;
      offset += 1;
      if (skipped > TORN_BYTES_MAX) throw new Error('the bytes of a data file are no objects');
    } else {
      found.push({ offset, text: next.text });
      offset += next.length;
    }
  }
  return found;
}

function brotliTextAt(bytes: Buffer, offset: number): { length: number; text: string } | null {
  // What can be read of a torn text comes too.
  const options = { finishFlush: constants.BROTLI_OPERATION_FLUSH, info: true };
  try {
    const result: unknown = brotliDecompressSync(bytes.subarray(offset), options);
    const { buffer, engine } = Object(result);
    const length = Number(engine.bytesWritten);
    return length === 0 ? null : { length, text: String(buffer) };
  } catch {
    return null;
  }
}
