import { daysBetween, type UtcDay } from '../core/day.ts';
import type { DailyStream } from '../core/stream.ts';
import { type Looks, newestEqual } from './looks.ts';
import { parseNotes } from './notes.ts';

/** A day whose streams contradict each other is believed on this UTC day, counted from the first that found it. */
export const IDENTITY_DAYS = 7;
/** An identity counts for an organization by the days of this many last days … */
const JUDGED_DAYS = 60;
/** … if at least so many of them have both figures … */
const JUDGED_MIN = 14;
/** … and it holds on this share of them. */
const HOLDS_SHARE = 0.9;

/** One side of an identity: a stream, and the position among its figures; null for the number of people. */
interface Side {
  readonly stream: string;
  readonly index: number | null;
}

/** Two figures of a day that are equal if both streams are right, see `schema/invariants.ts`. */
export interface Identity {
  readonly name: string;
  readonly left: Side;
  readonly right: Side;
  readonly isSpecified: boolean;
}

/** An identity, and whether a day of the organization waits that violates it. One that does not count is only named. */
export type CountedIdentity = Identity & { readonly counts: boolean };

/** Relative difference up to which figures count as equal: sums of doubles depend on their order. */
const TOLERANCE = 1e-9;

/** True for figures that are equal but for rounding. */
export function areEqual(a: number, b: number): boolean {
  return Math.abs(a - b) <= TOLERANCE * Math.abs(a);
}

/** The sums of a unit that identities compare; null where a row has no value. */
export type Figures = readonly (number | null)[];

/** What is known of a unit, as far as identities are about it. */
export interface Measured {
  readonly stream: string;
  readonly day: UtcDay;
  readonly state: string;
  readonly settledAt: string | null;
  readonly activeUsers: number | null;
  readonly watch: string | null;
}

/** The units of a day by stream, with their figures. */
type MeasuredDay = ReadonlyMap<string, Measured & { readonly figures: Figures }>;

/** A stream without any activity is left out: beside active ones, it is another contradiction, which waits longer. */
function measure(units: readonly Measured[]): MeasuredDay {
  const active = units.filter(({ state }) => !['pending', 'awaiting', 'empty'].includes(state));
  return new Map(
    active.map((unit) => [unit.stream, { ...unit, figures: parseNotes(unit.watch).figures ?? [] }]),
  );
}

/** What an identity compares on a day: the two units, and whether they agree. Null if a figure is not known. */
function comparison({ left, right }: Identity, day: MeasuredDay) {
  const [a, b] = [day.get(left.stream), day.get(right.stream)];
  if (a === undefined || b === undefined) return null;
  const [own, other] = [figureOf(a, left), figureOf(b, right)];
  return own === null || other === null ? null : { units: [a, b], isEqual: areEqual(own, other) };
}

function figureOf(unit: Measured & { readonly figures: Figures }, { index }: Side): number | null {
  return index === null ? unit.activeUsers : (unit.figures[index] ?? null);
}

/** A contradiction of two streams of a day. */
export interface Violation {
  readonly identity: string;
  readonly counts: boolean;
  readonly streams: readonly string[];
}

/** The identities that the units of one day violate. */
export function violationsOf(
  units: readonly Measured[],
  identities: readonly CountedIdentity[],
): Violation[] {
  const day = measure(units);
  return identities.flatMap((identity) => {
    const found = comparison(identity, day);
    if (found === null || found.isEqual) return [];
    return [
      {
        identity: identity.name,
        counts: identity.counts,
        streams: [identity.left.stream, identity.right.stream],
      },
    ];
  });
}

/** True if all of some identities are known to hold for the units of one day. */
export function doHold(
  names: readonly string[],
  units: readonly Measured[],
  identities: readonly Identity[],
): boolean {
  const day = measure(units);
  return names.every((name) => {
    const identity = identities.find((each) => each.name === name);
    return identity !== undefined && comparison(identity, day)?.isEqual === true;
  });
}

/**
 * The identities of an organization. Those count that held on {@link HOLDS_SHARE} of the last {@link JUDGED_DAYS} days, of
 * which at least {@link JUDGED_MIN} are known. What the specification says counts until so many settled days show that this
 * service means something else: a first sync that lacks users proves nothing.
 * @param identities all that there are.
 * @param units the ledger of the organization.
 */
export function countIdentities(
  identities: readonly Identity[],
  units: readonly Measured[],
  { today, settleDays }: { readonly today: UtcDay; readonly settleDays: number },
): CountedIdentity[] {
  const isJudged = (day: UtcDay) => {
    const age = daysBetween(day, today);
    return age >= settleDays && age <= JUDGED_DAYS;
  };
  const recent = units.filter(({ day, state }) => state === 'loaded' && isJudged(day));
  const days = [...Map.groupBy(recent, ({ day }) => day).values()].map(measure);
  return identities.map((identity) => {
    const known = days.flatMap((day) => comparison(identity, day) ?? []);
    const judged = identity.isSpecified
      ? known.filter((each) => each.units.every(({ settledAt }) => settledAt !== null))
      : known;
    const held = judged.filter(({ isEqual }) => isEqual).length;
    const counts = judged.length < JUDGED_MIN ? identity.isSpecified : held / judged.length >= HOLDS_SHARE;
    return { ...identity, counts };
  });
}

/** True if the newest looks have found the same content for so long that a contradiction is no longer doubted. */
export function hasWaited(looks: Looks, sha256: string | null): boolean {
  return waitedDays(looks, sha256) >= IDENTITY_DAYS;
}

/** For how many UTC days the newest looks have found the same content, with the first and the last of them. */
export function waitedDays(known: Looks, sha256: string | null): number {
  const equal = newestEqual(known, sha256);
  const [first] = equal;
  if (first === undefined) return 0;
  const [last] = equal.at(-1) ?? first;
  return daysBetween(first[0], last) + 1;
}

/** A settled unit of which enough looks have found the same other content. */
export interface Change {
  readonly stream: DailyStream;
  readonly day: UtcDay;
  /** Digest of that content. */
  readonly sha256: string;
  readonly activeUsers: number | null;
  readonly figures: Figures;
  /** The looks that found it. */
  readonly looks: Looks;
}

/**
 * The identities that a day would begin to violate if the changes of its settled units were stored. Empty if they may be
 * stored: they violate nothing new, or have been seen for {@link IDENTITY_DAYS} days.
 * @param units the units of the day.
 */
export function brokenBy(
  changes: readonly Change[],
  units: readonly Measured[],
  identities: readonly CountedIdentity[],
): string[] {
  const counting = identities.filter(({ counts }) => counts);
  const changed = units.map((unit) => {
    const change = changes.find(({ stream }) => stream === unit.stream);
    if (change === undefined) return unit;
    const { activeUsers, figures } = change;
    return { ...unit, state: 'loaded', activeUsers, watch: JSON.stringify({ figures }) };
  });
  const before = new Set(violationsOf(units, counting).map(({ identity }) => identity));
  const begun = violationsOf(changed, counting).filter(({ identity }) => !before.has(identity));
  const causes = changes.filter(({ stream }) => begun.some(({ streams }) => streams.includes(stream)));
  if (causes.every(({ looks, sha256 }) => hasWaited(looks, sha256))) return [];
  return begun.map(({ identity }) => identity);
}
