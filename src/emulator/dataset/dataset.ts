import type { DailyStream } from '../../core/stream.ts';
import {
  addBit,
  type Bitset,
  countBits,
  dropBit,
  emptyBitset,
  membersOf,
  nextBit,
  uniteBits,
} from './bitset.ts';
import { fillUserDay } from './fill-user-day.ts';
import { openLru } from './lru.ts';
import { type OrgDay, sumOrgDay } from './org-day.ts';
import type { Population } from './population.ts';
import { createUserDay, type UserDay } from './user-day.ts';
import { type DayVariant, isAmong } from './variant.ts';

/** Weight of all cached activity bits, and of all cached day sums, at most. */
const BITS_BYTES_MAX = 16 * 1024 * 1024;
const ORG_DAY_BYTES_MAX = 4 * 1024 * 1024;
const ORG_DAY_BYTES = 4 * 1024;
const SET_OVERHEAD_BYTES = 128;

/**
 * Every number that the emulator answers with, generated on demand. Days count from the first day with data; a day
 * is asked for by stream, because a revision may have reached only some of the streams.
 */
export interface Dataset {
  readonly population: Population;
  /** Who was active on the day. Do not change the set. */
  activeOn(day: number, stream: DailyStream): Bitset;
  /** Who was active on any day of a range, both ends included. The set is the caller's. */
  activeWithin(firstDay: number, lastDay: number, stream: DailyStream): Bitset;
  /** How many distinct users were active in the `days` days that end with `lastDay`. */
  distinctUsers(lastDay: number, days: number, stream: DailyStream): number;
  /** What an active user did. The result is valid until the next call of any method. */
  userDay(user: number, day: number, stream: DailyStream): UserDay;
  /** Visits the active users in order of id; the facts are valid during the visit. */
  eachUser(day: number, stream: DailyStream, visit: (facts: UserDay, user: number) => void): void;
  /** The sums of a day, or null when nobody was active. */
  orgDay(day: number, stream: DailyStream): OrgDay | null;
}

/** Opens the data set. `variantOf` says what a revision did to a day; memory is bounded whatever is asked. */
export function openDataset(
  population: Population,
  variantOf: (day: number, stream: DailyStream) => DayVariant,
): Dataset {
  const bits = openLru<Bitset>(BITS_BYTES_MAX);
  const sums = openLru<OrgDay>(ORG_DAY_BYTES_MAX);
  const facts = createUserDay();

  function activeOn(day: number, stream: DailyStream): Bitset {
    const variant = variantOf(day, stream);
    const key = `${day} ${variant.key}`;
    const known = bits.get(key);
    if (known !== undefined) return known;
    const set = generateActivity(population, day, variant);
    bits.set(key, set, set.byteLength + SET_OVERHEAD_BYTES);
    return set;
  }

  function activeWithin(firstDay: number, lastDay: number, stream: DailyStream): Bitset {
    const union = emptyBitset(population.size);
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
      const known = sums.get(key);
      if (known !== undefined) return known;
      const org = sumOrgDay(countBits(active), (visit) => eachUser(day, stream, visit));
      sums.set(key, org, ORG_DAY_BYTES);
      return org;
    },
  };
}

function generateActivity(population: Population, day: number, variant: DayVariant): Bitset {
  const set = emptyBitset(population.size);
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
