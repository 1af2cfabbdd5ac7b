import { isAscii, isUtf8 } from 'node:buffer';

/** Thrown when a body has, or decodes to, more bytes than allowed. */
export class BodyTooLargeError extends Error {
  constructor(bytesMax: number) {
    super(`the body decodes to more than ${bytesMax} bytes`);
  }
}

/** A body of more bytes is large: what it takes is given back as soon as it is read, not when it is collected. */
const LARGE_BYTES = 1024 * 1024;

/** The bytes of a body while they come in. */
export class BodyBytes {
  #chunks: Buffer[] = [];
  #large: ArrayBuffer | undefined;
  readonly #bytesMax: number;
  #bytes = 0;

  /** @param bytesMax bytes that are kept at most. */
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

  /** All of them, once: they are not kept. Hand them to {@link release} when they are read. */
  take(): Buffer {
    const [chunks, large] = [this.#chunks, this.#large];
    this.#chunks = [];
    this.#large = undefined;
    if (large !== undefined) return Buffer.from(large, 0, this.#bytes);
    const [first] = chunks;
    return chunks.length === 1 && first !== undefined ? first : Buffer.concat(chunks, this.#bytes);
  }

  /** The memory of a large body, with room for all bytes so far. Only what is written of it is really taken. */
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
 * Gives the memory of a large body back. A garbage collection would do it too, but the text and the values of the body
 * are made before the next one.
 */
export function release({ buffer }: Buffer): void {
  if (buffer instanceof ArrayBuffer && buffer.resizable) buffer.resize(0);
}

/** Text of UTF-8 bytes; undefined when they are not valid UTF-8, which a lenient decoder would alter silently. */
export function decodeUtf8(bytes: Buffer): string | undefined {
  if (isAscii(bytes)) return bytes.toString('latin1');
  return isUtf8(bytes) ? bytes.toString('utf8') : undefined;
}
