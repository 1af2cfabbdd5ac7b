import type { ByteWriter } from 'hyparquet-writer';

/** Numbers as Parquet packs them: the levels of a page, or the places of its values in a dictionary. */
export type Numbers = Uint8Array | Uint32Array;

/** Parquet packs numbers in groups of eight; a run that is no longer would not be smaller. */
const GROUP = 8;

/** Bits of the greatest number up to `max`. */
export function bitsOf(max: number): number {
  return 32 - Math.clz32(max);
}

/**
 * Appends numbers of so many bits, 24 at most, in Parquet's mix of runs and packed groups. Answers how many bytes they
 * took.
 */
export function appendRuns(out: ByteWriter, numbers: Numbers, bits: number): number {
  const start = out.offset;
  const count = numbers.length;
  let packedFrom = 0;
  let at = 0;
  while (at < count) {
    const run = runAt(numbers, at);
    if (run < GROUP) {
      at = Math.min(at + GROUP, count);
      continue;
    }
    appendGroups(out, numbers.subarray(packedFrom, at), bits);
    out.appendVarInt(run << 1);
    appendLittleEndian(out, numbers[at] ?? 0, bits);
    at += run;
    packedFrom = at;
  }
  appendGroups(out, numbers.subarray(packedFrom), bits);
  return out.offset - start;
}

/** Appends numbers one after the other, each in so many bits, and zeros up to the last whole byte. */
export function appendPacked(out: ByteWriter, numbers: Numbers, bits: number): void {
  appendBits(out, numbers, { bits, bytes: Math.ceil((numbers.length * bits) / 8) });
}

function appendGroups(out: ByteWriter, numbers: Numbers, bits: number): void {
  const groups = Math.ceil(numbers.length / GROUP);
  if (groups === 0) return;
  out.appendVarInt((groups << 1) | 1);
  appendBits(out, numbers, { bits, bytes: groups * bits });
}

function appendBits(
  out: ByteWriter,
  numbers: Numbers,
  { bits, bytes }: { readonly bits: number; readonly bytes: number },
): void {
  out.ensure(bytes);
  const into = new Uint8Array(out.buffer, out.index, bytes);
  let [place, held, heldBits] = [0, 0, 0];
  for (let at = 0; at < numbers.length; at += 1) {
    held |= (numbers[at] ?? 0) << heldBits;
    heldBits += bits;
    while (heldBits >= 8) {
      into[place] = held;
      place += 1;
      held >>>= 8;
      heldBits -= 8;
    }
  }
  if (place < bytes) into[place] = held;
  into.fill(0, place + 1);
  out.offset += bytes;
  out.index += bytes;
}

/** How often the number at a place is there one after the other. */
function runAt(numbers: Numbers, at: number): number {
  const number = numbers[at];
  let end = at + 1;
  while (end < numbers.length && numbers[end] === number) end += 1;
  return end - at;
}

function appendLittleEndian(out: ByteWriter, number: number, bits: number): void {
  for (let shift = 0; shift < bits; shift += 8) out.appendUint8((number >>> shift) & 0xff);
}
