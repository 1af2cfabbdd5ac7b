import type { DailyStream } from '../../core/stream.ts';
import { createUserDay, type OrgDay, sumOrgDay, type UserDay } from './day-numbers.ts';
import { fillUserDay } from './fill-user-day.ts';
import { openLru } from './lru.ts';
import type { Population } from './population.ts';
import { type DayVariant, isAmong } from './variant.ts';

/** Maximum weight of all cached activity bits, and of all cached day sums. */
const BITS_BYTES_MAX = 16 * 1024 * 1024;
const ORG_DAY_BYTES_MAX = 4 * 1024 * 1024;
const ORG_DAY_BYTES = 4 * 1024;
const SET_OVERHEAD_BYTES = 128;

/**
 * Every number that the emulator serves, generated on demand. Days count from the first day with data. Methods need the
 * stream of a day, because a revision may have changed only some streams.
 */
export interface Dataset {
  readonly population: Population;
  /** The users who were active on the day. Do not change the set. */
  activeOn(day: number, stream: DailyStream): Bitset;
  /** The users who were active on any day of a range, including both ends. The caller may change the set. */
  activeWithin(firstDay: number, lastDay: number, stream: DailyStream): Bitset;
  /** The number of distinct users who were active in the `days` days that end with `lastDay`. */
  distinctUsers(lastDay: number, days: number, stream: DailyStream): number;
  /** Returns the numbers of an active user. The result is valid until the next call of any method. */
  userDay(user: number, day: number, stream: DailyStream): UserDay;
  /** Visits the active users in the order of their ids. The facts are valid only during the visit. */
  eachUser(day: number, stream: DailyStream, visit: (facts: UserDay, user: number) => void): void;
  /** The sums of a day, or null when nobody was active. */
  orgDay(day: number, stream: DailyStream): OrgDay | null;
}

/** Opens the data set. `variantOf` returns the changes to a day. Memory is bounded for any requests. */
export function openDataset(
  population: Population,
  variantOf: (day: number, stream: DailyStream) => DayVariant,
): Dataset {
  const bits = openLru<Bitset>(BITS_BYTES_MAX, (set) => set.byteLength + SET_OVERHEAD_BYTES);
  const sums = openLru<OrgDay>(ORG_DAY_BYTES_MAX, () => ORG_DAY_BYTES);
  const facts = createUserDay();

  function activeOn(day: number, stream: DailyStream): Bitset {
    const variant = variantOf(day, stream);
    return bits.remember(`${day} ${variant.key}`, () => generateActivity(population, day, variant));
  }

  function activeWithin(firstDay: number, lastDay: number, stream: DailyStream): Bitset {
    const union = createBitset(population.size);
    for (let day = Math.max(0, firstDay); day <= lastDay; day++) uniteBits(union, activeOn(day, stream));
    return union;
  }

  function eachUser(day: number, stream: DailyStream, visit: (facts: UserDay, user: number) => void): void {
    const variant = variantOf(day, stream);
    for (const user of membersOf(activeOn(day, stream))) {
      fillUserDay(population, user, day, variant, facts);
      visit(facts, user);
    }
  }

  return {
    population,
    activeOn,
    activeWithin,
    distinctUsers: (lastDay, days, stream) => countBits(activeWithin(lastDay - days + 1, lastDay, stream)),
    userDay(user, day, stream) {
      fillUserDay(population, user, day, variantOf(day, stream), facts);
      return facts;
    },
    eachUser,
    orgDay(day, stream) {
      const active = activeOn(day, stream);
      if (nextBit(active, 0) < 0) return null;
      const key = `${day} ${variantOf(day, stream).key}`;
      return sums.remember(key, () => sumOrgDay(countBits(active), (visit) => eachUser(day, stream, visit)));
    },
  };
}

function generateActivity(population: Population, day: number, variant: DayVariant): Bitset {
  const set = createBitset(population.size);
  if (variant.empty || day < 0) return set;
  const { hidden } = variant;
  for (let user = 0; user < population.size; user++) {
    if (!population.isActive(user, day)) continue;
    if (hidden === null || !isAmong(hidden, population.seed, user)) addBit(set, user);
  }
  for (const user of variant.withUsers) addBit(set, user);
  for (const user of variant.withoutUsers) dropBit(set, user);
  for (const user of variant.createdSessions?.keys() ?? []) addBit(set, user);
  return set;
}

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
function dropBit(set: Bitset, index: number): void {
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
