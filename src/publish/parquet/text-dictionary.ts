import type { ByteWriter } from 'hyparquet-writer';
import { compareUtf8 } from '../../../schema/order.ts';
import type { Bounds, Dictionary } from './dictionary.ts';

/** Bytes that the buffer begins with, and goes back to after a row group of long texts. */
const BUFFER_BYTES = 128 * 1024;
const BUFFER_BYTES_KEPT = 2 * 1024 * 1024;

/** The format writes the length of a text before it. */
const LENGTH_BYTES = 4;
/** A UTF-16 unit has three bytes in UTF-8 at most. */
const BYTES_PER_UNIT_MAX = 3;

/** Different texts, as UTF-8. */
export class TextDictionary implements Dictionary {
  readonly isAllowed = true;
  readonly #numbers = new Map<string, number>();
  #buffer = Buffer.allocUnsafe(BUFFER_BYTES);
  /** Where each text ends in the buffer. */
  readonly #ends: number[] = [];

  get count(): number {
    return this.#ends.length;
  }

  numberOf(text: string): number {
    const known = this.#numbers.get(text);
    if (known !== undefined) return known;
    const number = this.#ends.length;
    this.#numbers.set(text, number);
    const start = this.length();
    this.#makeRoom(start + LENGTH_BYTES + text.length * BYTES_PER_UNIT_MAX);
    const written = this.#buffer.write(text, start + LENGTH_BYTES);
    this.#buffer.writeUInt32LE(written, start);
    this.#ends.push(start + LENGTH_BYTES + written);
    return number;
  }

  plainLength(numbers: Uint32Array): number {
    let length = 0;
    for (const number of numbers) length += this.#endOf(number) - this.#endOf(number - 1);
    return length;
  }

  length(): number {
    return this.#endOf(this.#ends.length - 1);
  }

  appendPlain(out: ByteWriter, numbers: Uint32Array): void {
    for (const number of numbers) {
      out.appendBytes(this.#buffer.subarray(this.#endOf(number - 1), this.#endOf(number)));
    }
  }

  append(out: ByteWriter): void {
    out.appendBytes(this.#buffer.subarray(0, this.length()));
  }

  bounds(): Bounds {
    let [min, max]: (string | undefined)[] = [];
    for (const text of this.#numbers.keys()) {
      if (min === undefined || compareUtf8(text, min) < 0) min = text;
      if (max === undefined || compareUtf8(text, max) > 0) max = text;
    }
    return { min, max };
  }

  clear(): void {
    this.#numbers.clear();
    this.#ends.length = 0;
    if (this.#buffer.length > BUFFER_BYTES_KEPT) this.#buffer = Buffer.allocUnsafe(BUFFER_BYTES);
  }

  #endOf(number: number): number {
    return number < 0 ? 0 : (this.#ends[number] ?? 0);
  }

  #makeRoom(bytes: number): void {
    if (bytes <= this.#buffer.length) return;
    const larger = Buffer.allocUnsafe(Math.max(bytes, this.#buffer.length * 2));
    this.#buffer.copy(larger);
    this.#buffer = larger;
  }
}
