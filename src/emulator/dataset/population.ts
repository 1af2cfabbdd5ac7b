import { FIRST_DAY, startOfDayMs, weekdayOf } from '../../core/day.ts';
import { FIRST_NAMES, LAST_NAMES } from './catalog.ts';
import { hash, ulid, unitOf } from './pseudo-random.ts';

/** Milliseconds of a UTC day. */
export const DAY_MS = 86_400_000;

const FIRST_DAY_MS = startOfDayMs(FIRST_DAY);
/** Share of the users who are members on the first day. The others join during the first year. */
const FOUNDERS = 0.45;
const FOUNDING_MS = 300 * DAY_MS;
const GROWTH_MS = 365 * DAY_MS;
const LEAVER_SHARE = 0.12;
const NEVER = 2_000_000_000;
/** Activity by weekday, Monday first. */
const WEEKDAY_FACTOR = [1, 1.06, 1.08, 1.03, 0.9, 0.22, 0.18] as const;
const EMAIL_DOMAINS = ['example.com', 'eng.example.com', 'example.org'] as const;

/** The properties of a user that a hash decides. Distinct numbers make the hashes independent. */
const ASPECT = { joined: 1, leaves: 2, rate: 3, active: 4, email: 5, rename: 6, level: 7 } as const;

/** The options that determine all users. */
interface PopulationOptions {
  readonly seed: number;
  readonly size: number;
  /** Every user is a member from the first day, stays, and is active every day. */
  readonly steady: boolean;
}

/** The users of the organization, numbered from 0 in the order of their ids and of joining. */
export interface Population {
  readonly seed: number;
  readonly size: number;
  /** The user's id. Ids increase strictly with the number. */
  idOf(user: number): string;
  /** The first user whose id comes after `id`, which may be any text; `size` if there is none. */
  firstAfter(id: string): number;
  /** The email on a day. It is null for some users and changes once for others. */
  emailOf(user: number, day: number): string | null;
  /** True from the day of joining until the user leaves. */
  isMember(user: number, day: number): boolean;
  /** True when the user works on the day. Days count from the first day with data. */
  isActive(user: number, day: number): boolean;
  /** How much the user does on an active day, above 0 and at most 1. Most users do little. */
  levelOf(user: number): number;
}

/** Builds the users, about 10 bytes each. They depend on the options alone. */
export function buildPopulation(options: PopulationOptions): Population {
  const { seed, size, steady } = options;
  const founders = steady ? size : Math.ceil(size * FOUNDERS);
  const joinDay = new Int32Array(size);
  const leaveDay = new Int32Array(size).fill(NEVER);
  // The probability of being active on an ordinary weekday, in 1/65536.
  const rate = new Uint16Array(size);

  function joinedAtMs(user: number): number {
    // Always before the next user's place, so that ids increase strictly.
    const place = user + 0.9 * unitOf(hash(seed, user, ASPECT.joined));
    const early = user < founders;
    const share = early ? place / founders : (place - founders) / (size - founders);
    return FIRST_DAY_MS + Math.floor(early ? (share - 1) * FOUNDING_MS : share * GROWTH_MS);
  }

  for (let user = 0; user < size; user++) {
    joinDay[user] = Math.floor((joinedAtMs(user) - FIRST_DAY_MS) / DAY_MS);
    if (!steady && unitOf(hash(seed, user, ASPECT.leaves)) < LEAVER_SHARE) {
      leaveDay[user] = Math.max(0, joinDay[user] ?? 0) + 20 + (hash(seed, user, ASPECT.leaves, 1) % 300);
    }
    rate[user] = Math.floor(65_535 * (0.06 + 0.84 * unitOf(hash(seed, user, ASPECT.rate))));
  }

  const idOf = (user: number): string => ulid('user_', joinedAtMs(user), seed, user);

  const isMember = (user: number, day: number): boolean =>
    day >= (joinDay[user] ?? 0) && day < (leaveDay[user] ?? 0);

  return {
    seed,
    size,
    idOf,
    isMember,
    firstAfter(id) {
      let low = 0;
      let high = size;
      while (low < high) {
        const middle = (low + high) >>> 1;
        if (idOf(middle) > id) high = middle;
        else low = middle + 1;
      }
      return low;
    },
    emailOf: (user, day) => emailOf(seed, user, day),
    isActive(user, day) {
      if (steady) return true;
      if (!isMember(user, day)) return false;
      const chance = (rate[user] ?? 0) * (WEEKDAY_FACTOR[(day + FIRST_WEEKDAY) % 7] ?? 1);
      return hash(seed, user, ASPECT.active, day) >>> 16 < chance;
    },
    levelOf(user) {
      const unit = unitOf(hash(seed, user, ASPECT.level));
      return 0.08 + 0.92 * unit * unit;
    },
  };
}

const FIRST_WEEKDAY = weekdayOf(FIRST_DAY) - 1;

function emailOf(seed: number, user: number, day: number): string | null {
  const draw = unitOf(hash(seed, user, ASPECT.email));
  if (draw < 0.04) return null;
  const changes = draw > 0.96 && day >= 20 + (hash(seed, user, ASPECT.rename) % 200);
  const first = FIRST_NAMES[hash(seed, user, ASPECT.email, 1) % FIRST_NAMES.length] ?? '';
  const last = LAST_NAMES[hash(seed, user, ASPECT.email, changes ? 3 : 2) % LAST_NAMES.length] ?? '';
  const domain = EMAIL_DOMAINS[hash(seed, user, ASPECT.email, changes ? 5 : 4) % EMAIL_DOMAINS.length] ?? '';
  return `${first}.${last}.${user + 1}@${domain}`;
}
