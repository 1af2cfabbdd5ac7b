import { isAscii, isUtf8 } from 'node:buffer';
import { promisify } from 'node:util';
import { gunzip } from 'node:zlib';

/** Thrown when a body has, or decodes to, more bytes than allowed. */
export class BodyTooLargeError extends Error {
  constructor(bytesMax: number) {
    super(`the body decodes to more than ${bytesMax} bytes`);
  }
}

/** The bytes of a body while they come in. */
export class BodyBytes {
  #chunks: Buffer[] = [];
  readonly #bytesMax: number;
  #bytes = 0;

  /** @param bytesMax bytes that are kept at most. */
  constructor(bytesMax: number) {
    this.#bytesMax = bytesMax;
  }

  /** @throws {BodyTooLargeError} at the first byte too many. */
  add(chunk: Buffer): void {
    this.#bytes += chunk.length;
    if (this.#bytes > this.#bytesMax) throw new BodyTooLargeError(this.#bytesMax);
    this.#chunks.push(chunk);
  }

  /** All of them, once: they are not kept. */
  take(): Buffer {
    const chunks = this.#chunks;
    this.#chunks = [];
    const [first] = chunks;
    return chunks.length === 1 && first !== undefined ? first : Buffer.concat(chunks, this.#bytes);
  }
}

const unzip = promisify(gunzip);

/**
 * The decoded bytes of a body; decoding ends at the first byte too many, so a compressed bomb never unfolds in memory.
 * @throws {BodyTooLargeError} beyond `bytesMax`; the error of zlib for one that is cut or broken.
 */
export async function decodeBody(
  bytes: Buffer,
  encoding: string | undefined,
  bytesMax: number,
): Promise<Buffer> {
  if (encoding !== 'gzip' && encoding !== 'x-gzip') return bytes;
  try {
    return await unzip(bytes, { maxOutputLength: bytesMax });
  } catch (error) {
    if (error instanceof RangeError) throw new BodyTooLargeError(bytesMax);
    throw error;
  }
}

/** Text of UTF-8 bytes; undefined when they are not valid UTF-8, which a lenient decoder would alter silently. */
export function decodeUtf8(bytes: Buffer): string | undefined {
  if (isAscii(bytes)) return bytes.toString('latin1');
  return isUtf8(bytes) ? bytes.toString('utf8') : undefined;
}
