import { isAscii, isUtf8 } from 'node:buffer';

/** A body has, or decodes to, more bytes than allowed. */
export class BodyTooLargeError extends Error {
  constructor(bytesMax: number) {
    super(`the body decodes to more than ${bytesMax} bytes`);
  }
}

/** The memory of a larger body is released as soon as it is parsed, without waiting for the garbage collector. */
const LARGE_BYTES = 1024 * 1024;

/** Collects the bytes of a body. */
export class BodyBytes {
  #chunks: Buffer[] = [];
  #large: ArrayBuffer | undefined;
  readonly #bytesMax: number;
  #bytes = 0;

  /** @param bytesMax maximum number of bytes. */
  constructor(bytesMax: number) {
    this.#bytesMax = bytesMax;
  }

  /** @throws {BodyTooLargeError} at the first byte too many. */
  add(chunk: Buffer): void {
    const start = this.#bytes;
    this.#bytes += chunk.length;
    if (this.#bytes > this.#bytesMax) throw new BodyTooLargeError(this.#bytesMax);
    if (this.#bytes <= LARGE_BYTES) this.#chunks.push(chunk);
    else new Uint8Array(this.#room()).set(chunk, start);
  }

  /** All bytes; call it once. Pass them to {@link release} when they are parsed. */
  take(): Buffer {
    const [chunks, large] = [this.#chunks, this.#large];
    this.#chunks = [];
    this.#large = undefined;
    if (large !== undefined) return Buffer.from(large, 0, this.#bytes);
    const [first] = chunks;
    return chunks.length === 1 && first !== undefined ? first : Buffer.concat(chunks, this.#bytes);
  }

  /** A buffer for all bytes so far. The system allocates only the pages that are written. */
  #room(): ArrayBuffer {
    let large = this.#large;
    if (large === undefined) {
      large = new ArrayBuffer(0, { maxByteLength: this.#bytesMax });
      this.#large = large;
    }
    if (this.#bytes > large.byteLength) large.resize(Math.min(this.#bytesMax, 2 * this.#bytes));
    let start = 0;
    for (const chunk of this.#chunks) {
      new Uint8Array(large).set(chunk, start);
      start += chunk.length;
    }
    this.#chunks = [];
    return large;
  }
}

/**
 * Releases the memory of a large body. The garbage collector would release it too, but only after the text and the values
 * of the body were allocated.
 */
export function release({ buffer }: Buffer): void {
  if (buffer instanceof ArrayBuffer && buffer.resizable) buffer.resize(0);
}

/** Text of UTF-8 bytes; undefined if they are not valid, because a lenient decoder would alter them silently. */
export function decodeUtf8(bytes: Buffer): string | undefined {
  if (isAscii(bytes)) return bytes.toString('latin1');
  return isUtf8(bytes) ? bytes.toString('utf8') : undefined;
}
