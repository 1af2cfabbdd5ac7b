import { existsSync, readFileSync } from 'node:fs';
import { zstdDecompressSync } from 'node:zlib';

const PAGE_BYTES = 16_384;
/** Of the log, and of each page in it. */
const LOG_HEADER_BYTES = 32;
const FRAME_HEADER_BYTES = 24;
/** Overflow pages begin with the number of the next one. */
const POINTER_BYTES = 4;
/** The first bytes of each text that zstd has compressed (RFC 8878, 3.1.1). */
const ZSTD_MAGIC = Buffer.from('28b52ffd', 'hex');

interface Page {
  readonly number: number;
  readonly place: string;
  readonly bytes: Buffer;
}

/**
 * Every text in the pages of an archive and of its log: as it stands there, and decompressed, also what no row names. It reads
 * bytes and knows no table.
 */
export function rawTexts(file: string): [place: string, text: string][] {
  const pages = [...pagesOf(file), ...loggedPagesOf(`${file}-wal`)];
  const numbered = new Map(pages.map((page) => [page.number, page.bytes]));
  return pages.flatMap(({ place, bytes }) => {
    const found: [string, string][] = [[place, bytes.toString('latin1')]];
    for (let at = bytes.indexOf(ZSTD_MAGIC); at >= 0; at = bytes.indexOf(ZSTD_MAGIC, at + 1))
      for (const text of textsAt(bytes, at, numbered)) found.push([`${place}, byte ${at}, raw`, text]);
    return found;
  });
}

function pagesOf(path: string): Page[] {
  const bytes = existsSync(path) ? readFileSync(path) : Buffer.alloc(0);
  return Array.from({ length: Math.ceil(bytes.length / PAGE_BYTES) }, (_, index) => ({
    number: index + 1,
    place: `${path}, page ${index + 1}`,
    bytes: bytes.subarray(index * PAGE_BYTES, (index + 1) * PAGE_BYTES),
  }));
}

function loggedPagesOf(path: string): Page[] {
  const bytes = existsSync(path) ? readFileSync(path) : Buffer.alloc(0);
  const pages: Page[] = [];
  for (let at = LOG_HEADER_BYTES; at + FRAME_HEADER_BYTES < bytes.length; ) {
    const number = bytes.readUInt32BE(at);
    at += FRAME_HEADER_BYTES;
    pages.push({ number, place: `${path}, byte ${at}`, bytes: bytes.subarray(at, at + PAGE_BYTES) });
    at += PAGE_BYTES;
  }
  return pages;
}

/** What can be read from a place on: in its page, or in its page and those that may follow. */
function textsAt(page: Buffer, at: number, pages: ReadonlyMap<number, Buffer>): string[] {
  const own = decompressed([page.subarray(at)]);
  if (own !== null) return [own];
  const texts: string[] = [];
  for (let end = at + ZSTD_MAGIC.length; end + POINTER_BYTES <= page.length; end += 1) {
    const next = page.readUInt32BE(end);
    if (next < 2 || !pages.has(next)) continue;
    const text = decompressed([page.subarray(at, end), ...chainFrom(next, pages)]);
    if (text !== null) texts.push(text);
  }
  return texts;
}

function chainFrom(first: number, pages: ReadonlyMap<number, Buffer>): Buffer[] {
  const chain: Buffer[] = [];
  const seen = new Set<number>();
  for (let next = first; next !== 0 && !seen.has(next); ) {
    const page = pages.get(next);
    if (page === undefined) break;
    seen.add(next);
    chain.push(page.subarray(POINTER_BYTES));
    next = page.readUInt32BE(0);
  }
  return chain;
}

/** The text that begins with some bytes; null if nobody can read it. Bytes after its end are ignored. */
function decompressed(parts: readonly Buffer[]): string | null {
  try {
    const text = String(zstdDecompressSync(Buffer.concat(parts)));
    return text === '' ? null : text;
  } catch {
    return null;
  }
}
