import type { UtcDay } from '../core/day.ts';
import { DAILY_STREAMS, type DailyStream } from '../core/stream.ts';
import { brokenBy, type Change, type CountedIdentity, type Figures, type Measured } from './identities.ts';
import { equalLooks, isPastKept, LOOKS, looksNeeded, pastLooks, withLook } from './looks.ts';
import { type Noted, type Notes, notesText, parseNotes } from './notes.ts';

/** A difference of sums counts again at least this much later. */
export const SECOND_LOOK_AFTER_MS = 12 * 60 * 60 * 1000;
/**
 * For this long, a difference that was refuted by the day's own answer is not followed again. Afterwards it may be: the
 * answer that hid it, for example from a cache, may be gone.
 */
const REOPEN_AGAIN_AFTER_MS = 14 * 24 * 60 * 60 * 1000;
/** The difference between the service's answer for a settled unit and the stored content; null if there is none. */
export type Seen =
  | (Pick<Noted, 'sha256' | 'by'> & {
      /** Only weekly or monthly active users, or email addresses, differ. */
      readonly isMinor?: boolean;
      /** What identities compare of it, see `identities.ts`. */
      readonly activeUsers?: number | null;
      readonly figures?: Figures;
      /** Only users are gone who have probably left: the user before the first of them, who leads to the page that lacks them. */
      readonly leaver?: string;
    })
  | null;

interface Compared {
  readonly notes: Notes;
  /** Enough equal looks have found the same difference: the unit is pulled again. */
  readonly isConfirmed: boolean;
}

/**
 * The notes of a settled unit after its rows were compared. From the first difference on, each answer is a look. The unit
 * changes after {@link LOOKS} equal looks of other content, or more if the answers go back and forth; as many looks that
 * equal what is stored end it. A difference that an answer for the day alone has refuted is ignored for {@link
 * REOPEN_AGAIN_AFTER_MS}.
 * @param stored the digest of the stored content.
 * @param looksMin equal looks that any change needs, while the service alternates.
 */
export function lookAtRows(
  notes: Notes,
  seen: Seen,
  {
    stored,
    looksMin,
    now,
  }: { readonly stored: string | null; readonly looksMin: number; readonly now: Date },
): Compared {
  const isNothing = notes.looks === undefined && (seen === null || isWaived(notes, seen, now));
  const sha256 = seen?.sha256 ?? stored;
  if (isNothing || sha256 === null) {
    const { past: _past, ...others } = notes;
    return { notes: isPastKept(notes, now) ? notes : others, isConfirmed: false };
  }
  const looks = withLook(notes, sha256, now);
  const equal = equalLooks(looks, sha256);
  const after = { ...notes, ...looks };
  if (seen !== null)
    return { notes: after, isConfirmed: equal >= Math.max(looksMin, looksNeeded(looks, stored)) };
  if (equal < LOOKS) return { notes: after, isConfirmed: false };
  const { looks: _looks, lookedAt: _lookedAt, breaks: _breaks, past: _past, ...others } = after;
  const past = pastLooks(after, stored, stored);
  return { notes: { ...others, ...(past && { past }) }, isConfirmed: false };
}

/**
 * The notes of a settled unit after the sums by model were compared with it. A difference is noted, so that the next runs
 * compare the rows of the day. If it is seen again at least {@link SECOND_LOOK_AFTER_MS} later, the rows have been compared,
 * and decide; the sums are then ignored for {@link REOPEN_AGAIN_AFTER_MS}.
 */
export function lookAtSums(notes: Notes, seen: Seen, now: Date): Compared {
  const { noted, ...others } = notes;
  if (seen === null || isWaived(notes, seen, now)) return { notes: others, isConfirmed: false };
  const sinceMs = noted?.sha256 === seen.sha256 ? now.getTime() - Date.parse(noted.at) : null;
  // A note from the future, set while a clock was ahead, would wait until that time.
  if (sinceMs === null || sinceMs < 0)
    return {
      notes: { ...others, noted: { sha256: seen.sha256, by: seen.by, at: now.toISOString() } },
      isConfirmed: false,
    };
  if (sinceMs < SECOND_LOOK_AFTER_MS) return { notes, isConfirmed: false };
  return {
    notes: { ...others, reopenedFor: seen.sha256, reopenedAt: now.toISOString() },
    isConfirmed: true,
  };
}

/** A settled unit, as far as comparisons are about it. */
interface Watched {
  readonly stream: DailyStream;
  readonly day: UtcDay;
  readonly contentSha256: string | null;
  readonly watch: string | null;
}

/** The comparison of a settled unit with the service. */
export interface Looked {
  readonly unit: Watched;
  readonly by: Noted['by'];
  readonly seen: Seen;
  /** Digest of sums by model that can be compared only with the next answer. */
  readonly models?: string;
}

/**
 * Judges the comparisons of a run, in their order: the notes that change, the units of which enough looks have found the same
 * other content, and the days that differ for the first time.
 * @param looksMin equal looks that every change needs.
 */
export function judgeLooks(
  looked: readonly Looked[],
  { looksMin, now }: { readonly looksMin: number; readonly now: Date },
  rules = { lookAtRows, lookAtSums },
): {
  readonly notes: readonly Watched[];
  readonly confirmed: readonly Change[];
  readonly newly: readonly UtcDay[];
} {
  const notes = new Map<string, Watched>();
  const confirmed: Change[] = [];
  const newly = new Set<UtcDay>();
  for (const { unit, by, seen, models } of looked) {
    const { stream, day, contentSha256: stored } = unit;
    const before = (notes.get(`${stream} ${day}`) ?? unit).watch;
    const known = parseNotes(before);
    const look =
      by === 'rows'
        ? rules.lookAtRows(known, seen, { stored, looksMin, now })
        : rules.lookAtSums(known, seen, now);
    // One changed day changes the counts over trailing days of a month. A policy for addresses, or somebody who leaves, changes all days.
    const isFirst = known.looks === undefined && look.notes.looks !== undefined;
    if (isFirst && seen?.isMinor !== true && seen?.leaver === undefined) newly.add(day);
    const remembers = models !== undefined && (look.isConfirmed || look.notes.models === undefined);
    const watch = notesText(remembers ? { ...look.notes, models } : look.notes);
    if (watch !== before) notes.set(`${stream} ${day}`, { stream, day, contentSha256: stored, watch });
    if (!look.isConfirmed || by !== 'rows' || seen === null) continue;
    const { sha256, activeUsers = null, figures = [] } = seen;
    confirmed.push({ stream, day, sha256, activeUsers, figures, looks: look.notes });
  }
  return { notes: [...notes.values()], confirmed, newly: [...newly] };
}

/** True for a settled unit that differs from the service, or did lately. */
export function differs({ watch }: Pick<Watched, 'watch'>): boolean {
  const { looks, noted } = parseNotes(watch);
  return looks !== undefined || noted !== undefined;
}

/**
 * True if a unit was reopened for what its looks had found, and the answer that should be stored is neither that nor what is
 * stored: one answer decides nothing, so it is another look.
 * @param digests of the answer, of which looks may have seen each.
 */
export function isOtherThanLooked(
  { due, reopenedFor }: Notes,
  stored: string | null,
  digests: readonly string[],
): boolean {
  if (due !== true || reopenedFor === undefined) return false;
  return digests.every((digest) => digest !== stored && !digest.startsWith(reopenedFor));
}

/** True for a difference that was refuted not long ago. */
export function isWaived(
  { reopenedFor, reopenedAt }: Notes,
  { sha256 }: Pick<Noted, 'sha256'>,
  now: Date,
): boolean {
  if (reopenedFor === undefined || !sha256.startsWith(reopenedFor)) return false;
  if (reopenedAt === undefined) return true;
  const sinceMs = now.getTime() - Date.parse(reopenedAt);
  // An answer from the future, given while a clock was ahead, would hide the difference until that time.
  return sinceMs >= 0 && sinceMs < REOPEN_AGAIN_AFTER_MS;
}

/** Settled units of which enough looks have found the same other content, and how the run goes on with them. */
interface Confirmed {
  /** Changes that may be stored. */
  readonly ready: readonly Change[];
  /** The others, with the identities that their day would begin to violate. */
  readonly waiting: readonly (Change & { readonly breaks: readonly string[] })[];
}

/**
 * Decides which confirmed changes may be stored. Those of one day are stored together, or wait together, because the other
 * stream of an identity may be recalculated later.
 */
export function sortChanges(
  changes: readonly Change[],
  unitsOn: (day: UtcDay) => readonly Measured[],
  identities: readonly CountedIdentity[],
): Confirmed {
  const days = [...Map.groupBy(changes, ({ day }) => day)].map(([day, own]) => ({
    own,
    breaks: brokenBy(own, unitsOn(day), identities),
  }));
  return {
    ready: days.flatMap(({ own, breaks }) => (breaks.length === 0 ? own : [])),
    waiting: days.flatMap(({ own, breaks }) =>
      breaks.length === 0 ? [] : own.map((change) => ({ ...change, breaks })),
    ),
  };
}

/** The notes of a unit whose confirmed change waits, or no longer does. */
export function withBreaks<
  Unit extends { readonly stream: string; readonly day: string; readonly watch: string | null },
>(unit: Unit, waiting: Confirmed['waiting']): Unit {
  const { breaks } = waiting.find(({ stream, day }) => stream === unit.stream && day === unit.day) ?? {};
  return { ...unit, watch: notesText({ ...parseNotes(unit.watch), breaks }) };
}

/** The units of a day that are confirmed to differ. */
export interface Reopened {
  readonly day: UtcDay;
  readonly streams: readonly DailyStream[];
}

/** The days to pull again, newest first, each with the streams of which enough looks have found the same. */
export function reopenedDays(
  confirmed: readonly { readonly day: UtcDay; readonly stream: DailyStream }[],
): Reopened[] {
  const byDay = Map.groupBy(confirmed, ({ day }) => day);
  return [...byDay]
    .toSorted(([a], [b]) => (a < b ? 1 : -1))
    .map(([day, units]) => ({
      day,
      streams: DAILY_STREAMS.filter((name) => units.some(({ stream }) => stream === name)),
    }));
}
