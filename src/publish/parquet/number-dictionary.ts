import type { ByteWriter } from 'hyparquet-writer';
import { ROW_GROUP_ROWS_MAX } from '../limits.ts';
import type { Bounds, Dictionary } from './dictionary.ts';
import { appendPacked } from './run-lengths.ts';

/** How numbers of a column are written. */
export type NumberFormat = 'DOUBLE' | 'INT32' | 'INT64' | 'BOOLEAN';

/** Places of the hash table: at most a third of them is taken. */
const SLOT_BITS = bitsFor(ROW_GROUP_ROWS_MAX * 3);
const SLOTS = 2 ** SLOT_BITS;

/** Counts below this have a place of their own, found without a hash: most metrics of most users are small. */
const SMALL_MAX = 4_096;

const double = new Float64Array(1);
const words = new Uint32Array(double.buffer);

function bitsFor(count: number): number {
  return Math.ceil(Math.log2(count));
}

/** The place in the table where the search for a number begins. */
function slotOf(number: number): number {
  double[0] = number;
  const low = words[0] ?? 0;
  const high = words[1] ?? 0;
  const mixed = Math.imul(low, 0x9e3779b1) ^ Math.imul(high ^ (high >>> 16), 0x85ebca77);
  return Math.imul(mixed ^ (mixed >>> 15), 0x9e3779b1) >>> (32 - SLOT_BITS);
}

/** Different numbers. A table of its own takes a third of the time of a Map, and numbers are most of what there is. */
export class NumberDictionary implements Dictionary {
  readonly #format: NumberFormat;
  readonly #values = new Float64Array(ROW_GROUP_ROWS_MAX);
  /** One more than the number of the value at each place; 0 where there is none. */
  readonly #slots = new Uint32Array(SLOTS);
  /** The same for small counts, by the count itself. */
  readonly #small = new Uint32Array(SMALL_MAX);
  #count = 0;

  constructor(format: NumberFormat) {
    this.#format = format;
  }

  get count(): number {
    return this.#count;
  }

  get isAllowed(): boolean {
    return this.#format !== 'BOOLEAN';
  }

  numberOf(value: number): number {
    const small = value >>> 0;
    if (small !== value || small >= SMALL_MAX) return this.#searched(value);
    const taken = this.#small[small] ?? 0;
    if (taken !== 0) return taken - 1;
    const number = this.#added(value);
    this.#small[small] = number + 1;
    return number;
  }

  #searched(value: number): number {
    const slots = this.#slots;
    const values = this.#values;
    let slot = slotOf(value);
    for (;;) {
      const taken = slots[slot] ?? 0;
      if (taken === 0) break;
      if (values[taken - 1] === value) return taken - 1;
      slot = (slot + 1) % SLOTS;
    }
    const number = this.#added(value);
    slots[slot] = number + 1;
    return number;
  }

  #added(value: number): number {
    const number = this.#count;
    this.#values[number] = value;
    this.#count += 1;
    return number;
  }

  plainLength(numbers: Uint32Array): number {
    return this.#lengthOf(numbers.length);
  }

  length(): number {
    return this.#lengthOf(this.#count);
  }

  appendPlain(out: ByteWriter, numbers: Uint32Array): void {
    const values = new Float64Array(numbers.length);
    for (let at = 0; at < numbers.length; at += 1) values[at] = this.#values[numbers[at] ?? 0] ?? 0;
    appendNumbers(out, this.#format, values);
  }

  append(out: ByteWriter): void {
    appendNumbers(out, this.#format, this.#values.subarray(0, this.#count));
  }

  bounds(): Bounds {
    if (this.#count === 0) return { min: undefined, max: undefined };
    const values = this.#values.subarray(0, this.#count);
    return { min: values.reduce((a, b) => Math.min(a, b)), max: values.reduce((a, b) => Math.max(a, b)) };
  }

  clear(): void {
    this.#slots.fill(0);
    this.#small.fill(0);
    this.#count = 0;
  }

  #lengthOf(count: number): number {
    if (this.#format === 'BOOLEAN') return Math.ceil(count / 8);
    return count * (this.#format === 'INT32' ? 4 : 8);
  }
}

function appendNumbers(out: ByteWriter, format: NumberFormat, values: Float64Array): void {
  switch (format) {
    case 'DOUBLE':
      appendDoubles(out, values);
      return;
    case 'INT32':
      for (const value of values) out.appendInt32(value);
      return;
    case 'INT64':
      for (const value of values) out.appendInt64(BigInt(value));
      return;
    case 'BOOLEAN':
      appendPacked(out, Uint8Array.from(values), 1);
  }
}

function appendDoubles(out: ByteWriter, values: Float64Array): void {
  const bytes = values.length * 8;
  out.ensure(bytes);
  const view = new DataView(out.buffer, out.index, bytes);
  for (let at = 0; at < values.length; at += 1) view.setFloat64(at * 8, values[at] ?? 0, true);
  out.offset += bytes;
  out.index += bytes;
}
