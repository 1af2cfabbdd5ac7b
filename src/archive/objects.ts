import { createHash, webcrypto } from 'node:crypto';
import { promisify } from 'node:util';
import { constants, zstdCompress, zstdDecompress } from 'node:zlib';
import type { KeptObject } from '../core/archive-port.ts';
import { DamagedError, messageOf } from '../core/errors.ts';
import { elementTexts } from '../core/json-text.ts';
import { answersBetween, eachReadable, readContents } from './answer-queries.ts';
import { objectsIn } from './answers.ts';
import type { ArchiveFile, Patience } from './archive-file.ts';

const CODEC = 'zstd';
/** The fastest level: half the time of the default one, for a tenth more bytes. */
const OPTIONS = { [constants.ZSTD_c_compressionLevel]: 1 };
/** Far above any day, so that a damaged object does not fill the memory. */
const BYTES_MAX = 2 ** 31 - 1;
const CHUNK_BYTES_MIN = 1_024;
/** Rows are compressed at least by this, nearly always. */
const RATIO_EXPECTED = 4;

const compress = promisify(zstdCompress);
const decompress = promisify(zstdDecompress);

/** Compresses a text in UTF-8, and computes its digest, in other threads. */
export async function compressed(text: Buffer): Promise<KeptObject> {
  // Room for the result, so that the thread that compresses need not return for more.
  const chunkSize = Math.max(CHUNK_BYTES_MIN, Math.ceil(text.length / RATIO_EXPECTED));
  const digest = await webcrypto.subtle.digest('SHA-256', text);
  const bytes = await compress(text, { chunkSize, params: OPTIONS });
  return { sha256: Buffer.from(digest).toString('hex'), bytes };
}

/** The SHA-256 of a text. */
export function digestOf(text: Buffer | string): string {
  return createHash('sha256').update(text).digest('hex');
}

/** Keeps an object, unless it is there. Call it in the transaction that notes an answer that needs it. */
export function putObject(file: ArchiveFile, { sha256, bytes }: KeptObject): void {
  if (hasObject(file, sha256)) return;
  file
    .prepare('INSERT INTO objects (sha256, codec, bytes) VALUES (?, ?, ?)')
    .run(Buffer.from(sha256, 'hex'), CODEC, bytes);
}

/** Reads the objects of an archive. */
export class ObjectReader {
  readonly #file: ArchiveFile;
  /** IDs by digests, found without the index. */
  #ids: ReadonlyMap<string, readonly number[]> | undefined;

  constructor(file: ArchiveFile) {
    this.#file = file;
  }

  /**
   * The text of an object.
   * @throws {DamagedError} with the reason `archive-damaged` if it is missing or damaged.
   */
  async get(sha256: string): Promise<string> {
    return (await this.read(sha256)).text.toString();
  }

  /** An object as it is stored, and its text in UTF-8. Throws what {@link get} throws. */
  async read(sha256: string): Promise<KeptObject & { readonly text: Buffer }> {
    let reason = 'it is missing';
    for (const find of [() => this.#byIndex(sha256), () => this.#byScan(sha256)]) {
      try {
        for (const bytes of find()) {
          const text = await decompress(bytes, { maxOutputLength: BYTES_MAX });
          if (digestOf(text) === sha256) return { sha256, bytes, text };
          reason = 'its content has another SHA-256';
        }
      } catch (error) {
        reason = messageOf(error);
      }
    }
    throw new DamagedError(`read the archived rows ${sha256} in ${this.#file.path}: ${reason}`, {
      hint: 'restore the archive from a backup; daywalk archive verify lists what else is damaged',
      reason: 'archive-damaged',
    });
  }

  #byIndex(sha256: string): Buffer[] {
    const rows = this.#file.prepare('SELECT codec, bytes FROM objects WHERE sha256 = ?');
    return rows.all(Buffer.from(sha256, 'hex')).flatMap(bytesOf);
  }

  /** Finds an object whose index is damaged. */
  *#byScan(sha256: string): Generator<Buffer> {
    this.#ids ??= idsByDigest(this.#file);
    for (const id of this.#ids.get(sha256) ?? [])
      yield* bytesOf(this.#file.prepare('SELECT codec, bytes FROM objects NOT INDEXED WHERE id = ?').get(id));
  }
}

/** True if there is a row for an object, whether it can be read or not. */
export function hasObject(file: ArchiveFile, sha256: string): boolean {
  return file.prepare('SELECT 1 FROM objects WHERE sha256 = ?').get(Buffer.from(sha256, 'hex')) !== undefined;
}

function bytesOf(row: unknown): Buffer[] {
  if (!Array.isArray(row)) return [];
  const [codec, bytes] = row;
  return codec === CODEC && Buffer.isBuffer(bytes) ? [bytes] : [];
}

/** The IDs of all objects by their digests, as far as the file can be read. */
export function idsByDigest(file: ArchiveFile): Map<string, number[]> {
  const ids = new Map<string, number[]>();
  for (const [id, key] of eachReadable(file, { table: 'objects', id: 'id', columns: ['sha256'] })) {
    if (!Buffer.isBuffer(key)) continue;
    const sha256 = key.toString('hex');
    ids.set(sha256, [...(ids.get(sha256) ?? []), Number(id)]);
  }
  return ids;
}

/** Precedes the rows of each page. It cannot occur in JSON, so rows stay as they were received, line breaks included (RFC 7464). */
const SEPARATOR = '\u001e';
const LINE_BREAK = '\n';

/** Joins the rows of pages into one text in UTF-8: of each page, one row or several with commas between. */
export function joinRows(rows: readonly string[]): Buffer {
  // Written in one go: the text of a day would only be copied.
  const marks = SEPARATOR.length + LINE_BREAK.length;
  const bytes = Buffer.allocUnsafeSlow(rows.reduce((sum, row) => sum + Buffer.byteLength(row) + marks, 0));
  let at = 0;
  for (const row of rows) {
    for (const part of [SEPARATOR, row, LINE_BREAK]) at += bytes.write(part, at);
  }
  return bytes;
}

/** The rows of each page in a text of {@link joinRows}. */
export function splitPages(text: string): string[] {
  return text === ''
    ? []
    : text
        .slice(1)
        .split(SEPARATOR)
        .map((row) => row.slice(0, -1));
}

/** Each row in a text of {@link joinRows}. */
export function splitRows(text: string): string[] {
  return splitPages(text).flatMap((page) => elementTexts(`{"data":[${page}]}`, 'data'));
}

/** Objects that are removed in one transaction; runs write between two. */
const BATCH = 256;

interface StoredObject {
  readonly id: number;
  readonly sha256: string;
  /** Compressed. */
  readonly bytes: number;
}

/** The objects that are not among the needed ones. */
export function unneededObjects(file: ArchiveFile, needed: ReadonlySet<string>): StoredObject[] {
  const found: StoredObject[] = [];
  const all = { table: 'objects', id: 'id', columns: ['sha256', 'length(bytes)'] } as const;
  for (const [id, key, bytes] of eachReadable(file, all)) {
    const sha256 = Buffer.isBuffer(key) ? key.toString('hex') : '';
    if (!needed.has(sha256)) found.push({ id: Number(id), sha256, bytes: Number(bytes) });
  }
  return found;
}

/**
 * Removes the objects that no answer needs. Runs may note answers meanwhile that need one of them.
 * @returns how many there were.
 */
export async function removeUnneeded(file: ArchiveFile, patience: Patience): Promise<number> {
  const { unneeded, lastId } = file.inSnapshot(() => ({
    unneeded: unneededObjects(file, objectsIn(readContents(file).answers)),
    lastId: file.lastId(),
  }));
  for (let start = 0; start < unneeded.length; start += BATCH)
    await file.transact('remove objects from', patience, () => {
      const needed = objectsIn(answersBetween(file, lastId, file.lastId()));
      for (const { id, sha256 } of unneeded.slice(start, start + BATCH))
        if (!needed.has(sha256)) file.prepare('DELETE FROM objects WHERE id = ?').run(id);
    });
  return unneeded.length;
}
