import { existsSync, readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { brotliDecompressSync, constants } from 'node:zlib';

/** Leftovers are short, and objects follow each other; more steps than this between two of them are an error of a test. */
const TORN_BYTES_MAX = 1_000_000;

/** A text that stands in a data file. */
interface Found {
  readonly offset: number;
  readonly length: number;
  readonly text: string;
}

/** Every text in the data files of an archive, by its place, also what no line names and what a kill has torn. */
export function rawTexts(archive: string): [place: string, text: string][] {
  const folder = join(archive, 'objects');
  if (!existsSync(folder)) return [];
  return readdirSync(folder).flatMap((name) =>
    textsIn(readFileSync(join(folder, name))).map(({ offset, text }): [string, string] => [
      `${name}:${offset} raw`,
      text,
    ]),
  );
}

/** The compressed texts in bytes, one after the other, with whatever can be read of a torn one. */
export function textsIn(bytes: Buffer): Found[] {
  const found: Found[] = [];
  let skipped = 0;
  for (let offset = 0; offset < bytes.length; ) {
    const next = textAt(bytes, offset);
    if (next === null) {
      skipped += 1;
      offset += 1;
      if (skipped > TORN_BYTES_MAX) throw new Error('the bytes of a data file are no objects');
    } else {
      found.push(next);
      offset += next.length;
    }
  }
  return found;
}

function textAt(bytes: Buffer, offset: number): Found | null {
  // What can be read of a torn text comes too.
  const options = { finishFlush: constants.BROTLI_OPERATION_FLUSH, info: true };
  try {
    const result: unknown = brotliDecompressSync(bytes.subarray(offset), options);
    const { buffer, engine } = Object(result);
    const length = Number(engine.bytesWritten);
    return length === 0 ? null : { offset, length, text: String(buffer) };
  } catch {
    return null;
  }
}
