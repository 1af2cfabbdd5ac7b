import { dayOf, daysBetween, isDay, shiftDay, type UtcDay } from '../core/day.ts';

/** A unit settles once this many looks in a row equal what is stored. */
export const LOOKS = 3;
/** So many looks in a row a unit needs whose answers go back and forth, see {@link isUnstable}. */
export const LOOKS_UNSTABLE = 5;
/** Looks on one UTC day, or less than this apart, count once. */
export const NEXT_LOOK_AFTER_MS = 12 * 60 * 60 * 1000;

/** Looks are kept for this many days, … */
const KEPT_DAYS = 14;
/** … at most so many of them. */
const LOOKS_MAX = 15;
/** Hexadecimal digits of a digest that are kept: 8 bytes. */
const DIGEST_CHARS = 16;

/** The content of a unit on one UTC day, from a request of its own: the day, and the beginning of the digest. */
export type Look = readonly [day: UtcDay, digest: string];

/** The looks at a unit, oldest first. */
export interface Looks {
  readonly looks?: readonly Look[];
  /** When the newest of them was taken, as an ISO instant. */
  readonly lookedAt?: string;
}

/**
 * True if an answer to a request that begins now is another look. A service that answers from a cache or from a replica
 * repeats itself within hours.
 */
export function countsAsLook({ lookedAt }: Looks, now: Date): boolean {
  if (lookedAt === undefined) return true;
  const [then, today] = [dayOf(new Date(lookedAt)), dayOf(now)];
  // A look from a later day was taken with a clock that was ahead.
  if (then > today) return true;
  return then < today && now.getTime() - Date.parse(lookedAt) >= NEXT_LOOK_AFTER_MS;
}

/**
 * The looks after an answer. An equal answer that is no further look adds nothing; another answer is always recorded, and no
 * answer removes an earlier one. Looks of the last 14 days are kept, and always the newest three, so that a unit also
 * settles by a job that runs once a month.
 */
export function withLook(known: Looks, sha256: string, now: Date): Looks {
  const today = dayOf(now);
  // Looks from the future count for nothing: the clock was ahead.
  const before = (known.looks ?? []).filter(([day]) => day <= today);
  const digest = sha256.slice(0, DIGEST_CHARS);
  if (before.at(-1)?.[1] === digest && !countsAsLook(known, now)) return known;
  const all: Look[] = [...before, [today, digest]];
  const isKept = ([day]: Look, index: number) =>
    index >= all.length - LOOKS || daysBetween(day, today) <= KEPT_DAYS;
  return { looks: all.filter(isKept).slice(-LOOKS_MAX), lookedAt: now.toISOString() };
}

/** The looks under another digest of the content that one of them may show: an upgrade has given it new columns. */
export function renamedLooks(
  { looks, lookedAt }: Looks,
  { from, to }: { readonly from: string; readonly to: string },
): Looks {
  if (looks === undefined || lookedAt === undefined) return {};
  const [before, after] = [from.slice(0, DIGEST_CHARS), to.slice(0, DIGEST_CHARS)];
  return { looks: looks.map(([day, seen]) => [day, seen === before ? after : seen]), lookedAt };
}

/** How many of the newest looks equal a content. */
export function equalLooks({ looks = [] }: Looks, sha256: string | null): number {
  const digest = sha256?.slice(0, DIGEST_CHARS);
  return looks.length - 1 - looks.findLastIndex(([, seen]) => seen !== digest);
}

/**
 * True if an answer came back after another one within two weeks: the service contradicts itself. A single look that differs
 * is a single wrong night.
 * @param stored the content of a settled unit, which was stored before the looks. @default none, for an unsettled unit
 */
export function isUnstable({ looks = [] }: Looks, stored: string | null = null): boolean {
  const newest = looks.at(-1)?.[0];
  const recent = looks.filter(([day]) => newest !== undefined && daysBetween(day, newest) <= KEPT_DAYS);
  const before = stored === null ? [] : [stored.slice(0, DIGEST_CHARS)];
  const digests = [...before, ...recent.map(([, seen]) => seen)];
  const known = before[0] ?? digests.at(-1);
  if (digests.filter((digest) => digest !== known).length < 2) return false;
  const changes = digests.filter((digest, index) => digest !== digests[index - 1]);
  return new Set(changes).size < changes.length;
}

/** How many equal looks a unit needs. */
export function looksNeeded(known: Looks, stored: string | null = null): number {
  return isUnstable(known, stored) ? LOOKS_UNSTABLE : LOOKS;
}

/**
 * The day on which a unit settles at the earliest, if it is in its first looks: the day was old when it was first seen, and
 * every look since has found the same. Undefined for days that were young then, and after a change.
 */
export function settlesOn(day: UtcDay, { looks = [] }: Looks): UtcDay | undefined {
  const [first] = looks;
  const last = looks.at(-1);
  if (first === undefined || last === undefined || daysBetween(day, first[0]) < LOOKS) return undefined;
  if (looks.length >= LOOKS || looks.some(([, seen]) => seen !== first[1])) return undefined;
  return shiftDay(last[0], LOOKS - looks.length);
}

/** The looks in a JSON value; none if someone edited it into something else. */
export function parseLooks(looks: unknown, lookedAt: unknown): Looks {
  if (!Array.isArray(looks) || typeof lookedAt !== 'string' || Number.isNaN(Date.parse(lookedAt))) return {};
  const known = looks.filter(isLook);
  return known.length === 0 ? {} : { looks: known, lookedAt };
}

function isLook(value: unknown): value is Look {
  return Array.isArray(value) && value.length === 2 && isDay(value[0]) && typeof value[1] === 'string';
}
