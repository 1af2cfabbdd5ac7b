/** One bit per user, in the order of user ids. */
export type Bitset = Uint32Array;

/** Creates an empty set for the numbers below `size`. */
export function createBitset(size: number): Bitset {
  return new Uint32Array(Math.ceil(size / 32));
}

/** Adds a member. */
export function addBit(set: Bitset, index: number): void {
  set[index >>> 5] = (set[index >>> 5] ?? 0) | (1 << (index & 31));
}

/** Removes a member. */
export function dropBit(set: Bitset, index: number): void {
  set[index >>> 5] = (set[index >>> 5] ?? 0) & ~(1 << (index & 31));
}

/** True for a member. */
export function hasBit(set: Bitset, index: number): boolean {
  return (((set[index >>> 5] ?? 0) >>> (index & 31)) & 1) === 1;
}

/** Finds the smallest member that is at least `from`; -1 without one. */
export function nextBit(set: Bitset, from: number): number {
  let word = from >>> 5;
  let bits = (set[word] ?? 0) & (-1 << (from & 31));
  while (bits === 0) {
    word += 1;
    if (word >= set.length) return -1;
    bits = set[word] ?? 0;
  }
  return word * 32 + (31 - Math.clz32(bits & -bits));
}

/** Counts the members below `end`; by default all members. */
export function countBits(set: Bitset, end = set.length * 32): number {
  const whole = Math.min(set.length, end >>> 5);
  let count = 0;
  for (let word = 0; word < whole; word++) count += ones(set[word] ?? 0);
  if (whole < set.length) count += ones((set[whole] ?? 0) & ~(-1 << (end & 31)));
  return count;
}

/** Adds every member of `other` to `set`. */
export function uniteBits(set: Bitset, other: Bitset): void {
  for (let word = 0; word < set.length; word++) set[word] = (set[word] ?? 0) | (other[word] ?? 0);
}

/** Lists the members in order. */
export function* membersOf(set: Bitset): Generator<number> {
  for (let index = nextBit(set, 0); index >= 0; index = nextBit(set, index + 1)) yield index;
}

function ones(word: number): number {
  let bits = word - ((word >>> 1) & 0x55555555);
  bits = (bits & 0x33333333) + ((bits >>> 2) & 0x33333333);
  return Math.imul((bits + (bits >>> 4)) & 0x0f0f0f0f, 0x01010101) >>> 24;
}
