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
  /** What was found before these looks, see {@link pastLooks}. */
  readonly past?: readonly Look[];
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
 * The looks after an answer, in the order in which they were taken. An equal answer that is no further look adds nothing;
 * another answer is always recorded, and no answer removes an earlier one. Looks of the last 14 days are kept, and always the
 * newest three, so that a unit also settles by a job that runs once a month. Looks of later days are kept too: if the clock
 * is behind today, they count again once it is right; if it was ahead then, see {@link inOrder}.
 */
export function withLook(known: Looks, sha256: string, now: Date): Looks {
  const today = dayOf(now);
  const before = known.looks ?? [];
  const digest = shorten(sha256);
  if (before.at(-1)?.[1] === digest && !countsAsLook(known, now)) return known;
  const all: Look[] = [...before, [today, digest]];
  const isKept = ([day]: Look, index: number) =>
    index >= all.length - LOOKS || day > today || isRecent(day, today);
  const { past } = known;
  return { looks: all.filter(isKept).slice(-LOOKS_MAX), lookedAt: now.toISOString(), ...(past && { past }) };
}

/**
 * What later looks must know of those that have done their work: each content in turn, with the last day on which it was
 * found, for two weeks. So a service that alternates slowly is noticed, although what it says is stored in between. Undefined
 * if nothing but the stored content was found.
 * @param stored the digest of the content that is stored now.
 * @param before the digest of what was stored when the first look was taken. @default one of the looks
 */
export function pastLooks(
  { past = [], looks = [] }: Looks,
  stored: string | null,
  before: string | null = null,
): readonly Look[] | undefined {
  const [first] = looks;
  const last = looks.at(-1);
  const held: Look[] = before === null || first === undefined ? [] : [[first[0], shorten(before)]];
  const all = [...past, ...held, ...looks].filter(([day]) => last === undefined || isRecent(day, last[0]));
  const turns = all.filter(([, seen], index) => seen !== all[index + 1]?.[1]);
  const others = stored !== null && turns.at(-1)?.[1] === shorten(stored) ? turns.slice(0, -1) : turns;
  return others.length === 0 ? undefined : others.slice(-LOOKS_MAX);
}

/** What was found before, with the content that another one replaces: if no look has found it, it was settled before them. */
export function pastWith(
  { looks = [], past = [] }: Looks,
  replaced: string | null,
  now: Date,
): readonly Look[] {
  if (replaced === null || looks.some(([, seen]) => seen === shorten(replaced))) return past;
  return [...past, [looks[0]?.[0] ?? dayOf(now), shorten(replaced)]];
}

/** True while looks that have done their work still count. */
export function isPastKept({ past = [] }: Looks, now: Date): boolean {
  const today = dayOf(now);
  // If the clock is behind, they count again tomorrow.
  return past.some(([day]) => day > today || isRecent(day, today));
}

function isRecent(day: UtcDay, today: UtcDay): boolean {
  return day <= today && daysBetween(day, today) <= KEPT_DAYS;
}

function shorten(sha256: string): string {
  return sha256.slice(0, DIGEST_CHARS);
}

/** The looks under another digest of the content that one of them may show. */
export function renamedLooks(
  { looks, lookedAt, past }: Looks,
  { from, to }: { readonly from: string; readonly to: string },
): Looks {
  const renamed = (known: readonly Look[]) =>
    known.map(([day, seen]): Look => [day, seen === shorten(from) ? shorten(to) : seen]);
  return {
    ...(looks && lookedAt && { looks: renamed(looks), lookedAt }),
    ...(past && { past: renamed(past) }),
  };
}

/**
 * The looks whose days follow each other, up to the newest one: the longest such sequence, so that looks with a wrong day are
 * left out, whether a clock was ahead or behind.
 */
export function inOrder(looks: readonly Look[]): readonly Look[] {
  const sequences: (readonly Look[])[] = [];
  for (const look of looks) {
    const before = sequences.filter((known) => (known.at(-1)?.[0] ?? '') <= look[0]);
    // Of two that are as long, the earlier one ends later.
    const [longest = []] = before.toSorted((a, b) => b.length - a.length);
    sequences.push([...longest, look]);
  }
  return sequences.at(-1) ?? [];
}

/** The newest looks, as far as they equal a content and their days are in order. */
export function newestEqual({ looks = [] }: Looks, sha256: string | null): readonly Look[] {
  const digest = sha256 === null ? null : shorten(sha256);
  const equal = looks.slice(looks.findLastIndex(([, seen]) => seen !== digest) + 1);
  const ordered = new Set(inOrder(looks));
  const counted = equal.filter((look) => ordered.has(look));
  return counted.filter(([day], index) => day !== counted[index - 1]?.[0]);
}

/** How many of the newest looks equal a content. */
export function equalLooks(known: Looks, sha256: string | null): number {
  return newestEqual(known, sha256).length;
}

/**
 * True if an answer came back after another one within two weeks: the service contradicts itself. A single look that differs
 * is a single wrong night.
 * @param stored the content of a settled unit, which was stored before the looks. @default none, for an unsettled unit
 */
export function isUnstable({ looks = [], past = [] }: Looks, stored: string | null = null): boolean {
  const newest = looks.at(-1)?.[0];
  const digestsOf = (known: readonly Look[]) =>
    known.flatMap(([day, seen]) => (newest !== undefined && isRecent(day, newest) ? [seen] : []));
  const before = stored === null ? [] : [shorten(stored)];
  const digests = [...digestsOf(past), ...before, ...digestsOf(looks)];
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
export function settlesOn(day: UtcDay, known: Looks): UtcDay | undefined {
  const looks = inOrder(known.looks ?? []);
  const [first] = looks;
  if (first === undefined || daysBetween(day, first[0]) < LOOKS) return undefined;
  if (looks.length >= LOOKS || looks.some(([, seen]) => seen !== first[1])) return undefined;
  const [last] = looks.at(-1) ?? first;
  return shiftDay(last, LOOKS - looks.length);
}

/** The looks in a JSON value; none if someone edited it into something else. */
export function parseLooks({ looks, lookedAt, past }: { readonly [Name in keyof Looks]: unknown }): Looks {
  const before = looksIn(past);
  const earlier = before.length === 0 ? {} : { past: before };
  const known = looksIn(looks);
  const isTimed = typeof lookedAt === 'string' && !Number.isNaN(Date.parse(lookedAt));
  return isTimed && known.length > 0 ? { ...earlier, looks: known, lookedAt } : earlier;
}

function looksIn(value: unknown): readonly Look[] {
  return Array.isArray(value) ? value.filter(isLook) : [];
}

function isLook(value: unknown): value is Look {
  return Array.isArray(value) && value.length === 2 && isDay(value[0]) && typeof value[1] === 'string';
}
