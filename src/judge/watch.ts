import { daysBetween, FIRST_DAY, isDay, shiftDay, type UtcDay } from '../core/day.ts';
import { isObject, parseJson } from '../core/json.ts';
import { DAILY_STREAMS, type DailyStream } from '../core/stream.ts';
import { equalLooks, LOOKS, looksNeeded, withLook } from './looks.ts';
import type { Noted, Notes } from './notes.ts';

/** A difference of sums counts again at least this much later. */
export const SECOND_LOOK_AFTER_MS = 12 * 60 * 60 * 1000;
/**
 * For this long, a difference that was refuted by the day's own answer is not followed again. Afterwards it may be: the
 * answer that hid it, for example from a cache, may be gone.
 */
export const REOPEN_AGAIN_AFTER_MS = 14 * 24 * 60 * 60 * 1000;
/** Number of days between two comparisons of tokens and users. */
export const HEAVY_EVERY_DAYS = 7;

/** Tokens and users of the recent days are compared in every run if that costs so many requests at most. */
export const RECENT_REQUESTS_MAX = 60;
/** The smallest default for the requests that a run spends on older stretches. */
const OLDER_REQUESTS_MIN = 12;
/** Days of the service that one round over all of history may take with the default. */
const ROUND_DAYS = 31;

/** Consecutive days, both ends included. */
export interface Stretch {
  readonly first: UtcDay;
  readonly last: UtcDay;
}

/** An older stretch. Of a full one all streams are compared, otherwise the light ones and the sums by model. */
export interface OlderStretch extends Stretch {
  readonly isFull: boolean;
}

/** Many settled days differ at once: since which UTC day, how many on the first night, and which. */
export interface Mass extends Stretch {
  readonly since: UtcDay;
  readonly days: number;
}

/** The progress of the watch, stored as JSON under `watch` in `export_state`. */
export interface WatchState {
  /** The first day of the older stretch that was compared last; null at the start of a round. */
  readonly olderFrom: UtcDay | null;
  /** The UTC day on which tokens and users were last compared; null if never. */
  readonly heavyOn: UtcDay | null;
  /** Requests for older stretches that earlier runs have left. @default 0 */
  readonly credit?: number;
  /**
   * A comparison of the last run failed, so the next run compares the same stretch again, but only once: a request that
   * always fails must not stop the watch at one stretch.
   */
  readonly isAgain?: boolean;
  /** While many days differ, every run compares all of history. @default none */
  readonly mass?: Mass;
}

/** The requests that a stretch costs. */
export interface StretchCost {
  /** The light streams and the sums by model. */
  readonly light: number;
  /** Tokens and users. */
  readonly heavy: number;
}

export interface WatchPlan {
  readonly recent: Stretch;
  /** From the newest; empty if all of history is recent. */
  readonly older: readonly OlderStretch[];
  /** Compare tokens and users of the recent days too. */
  readonly heavy: boolean;
  /** Requests for older stretches that the run leaves to the next one. */
  readonly credit: number;
}

/** Which days a run compares, and at what cost. */
export interface WatchScope {
  /** The first day of the run's range; history begins there. */
  readonly firstDay: UtcDay;
  /** The newest day that the service has. */
  readonly lastDay: UtcDay;
  readonly today: UtcDay;
  readonly watchDays: number;
  readonly cost: StretchCost;
  /** Requests for older stretches. @default what compares all of history within a month */
  readonly requests?: number | null;
}

/**
 * The stretches that a run compares: the last `watchDays` days in every run, and older ones in turn, from the newest to the
 * oldest and then from the start. Of older ones, all streams of as many as the requests allow, including what earlier
 * runs have left; at least the light streams of one.
 */
export function planWatch(state: WatchState, scope: WatchScope): WatchPlan | null {
  const { firstDay, lastDay, today, watchDays, cost } = scope;
  if (watchDays <= 0 || lastDay < FIRST_DAY) return null;
  const recent = { first: latest(shiftDay(lastDay, 1 - watchDays), FIRST_DAY), last: lastDay };
  const isDue = state.heavyOn === null || daysBetween(state.heavyOn, today) >= HEAVY_EVERY_DAYS;
  const heavy = isDue || cost.heavy <= RECENT_REQUESTS_MAX;
  const begin = latest(firstDay, FIRST_DAY);
  const stretches = Math.max(0, Math.ceil(daysBetween(begin, recent.first) / watchDays));
  const full = cost.light + cost.heavy;
  const budget =
    scope.requests ?? Math.max(OLDER_REQUESTS_MIN, Math.ceil((stretches * cost.heavy) / ROUND_DAYS));
  let credit = Math.min((state.credit ?? 0) + budget, Math.max(budget, full) + budget);
  const older: OlderStretch[] = [];
  for (let { olderFrom } = state; older.length < stretches; ) {
    const isFull = state.mass !== undefined || credit >= full;
    if (!isFull && older.length > 0) break;
    if (isFull && state.mass === undefined) credit -= full;
    const goesOn = olderFrom !== null && olderFrom > begin && olderFrom < recent.first;
    const last = shiftDay(goesOn && olderFrom !== null ? olderFrom : recent.first, -1);
    const first = latest(shiftDay(last, 1 - watchDays), begin);
    older.push({ first, last, isFull });
    olderFrom = first;
  }
  return { recent, older, heavy: heavy || state.mass !== undefined, credit };
}

function latest(a: UtcDay, b: UtcDay): UtcDay {
  return a > b ? a : b;
}

/** The stored progress; the start of a round if there is none that this version understands. */
export function parseWatchState(text: string | null): WatchState {
  const value = text === null ? null : parseJson(text);
  const of = isObject(value) ? value : {};
  const dayAt = (name: string): UtcDay | null => (isDay(of[name]) ? of[name] : null);
  const { credit, isAgain, mass } = of;
  return {
    olderFrom: dayAt('olderFrom'),
    heavyOn: dayAt('heavyOn'),
    ...(typeof credit === 'number' && credit > 0 ? { credit } : {}),
    ...(isAgain === true ? { isAgain } : {}),
    ...(isMass(mass) ? { mass } : {}),
  };
}

function isMass(value: unknown): value is Mass {
  return (
    isObject(value) &&
    isDay(value['since']) &&
    isDay(value['first']) &&
    isDay(value['last']) &&
    typeof value['days'] === 'number'
  );
}

/** The progress after a run, which may have compared only a part of its stretches. */
export function afterWatch(
  before: WatchState,
  { older, heavy, credit }: Pick<WatchPlan, 'older' | 'heavy' | 'credit'>,
  { today, isComplete, mass }: { readonly today: UtcDay; readonly isComplete: boolean; readonly mass?: Mass | null },
): WatchState {
  const { mass: _mass, isAgain: _isAgain, ...kept } = before;
  const named = mass === undefined || mass === null ? {} : { mass };
  if (!isComplete && before.isAgain !== true) return { ...kept, ...named, isAgain: true };
  return {
    ...named,
    olderFrom: older.at(-1)?.first ?? before.olderFrom,
    heavyOn: heavy ? today : before.heavyOn,
    ...(credit > 0 ? { credit } : {}),
  };
}

/** More settled days than this that newly differ in one night are a mass: something has changed throughout. */
const MASS_DAYS = 10;
/** A mass is named for so many days at most. */
const MASS_KEPT_DAYS = 21;

/**
 * Whether many settled days differ at once, after a run.
 * @param newly the days that differ for the first time.
 * @param isOpen some settled unit still differs.
 */
export function massAfter(
  before: Mass | undefined,
  newly: readonly UtcDay[],
  { isOpen, today }: { readonly isOpen: boolean; readonly today: UtcDay },
): Mass | null {
  const days = newly.toSorted();
  const [first] = days;
  const last = days.at(-1);
  if (days.length > MASS_DAYS && first !== undefined && last !== undefined && before === undefined)
    return { since: today, days: days.length, first, last };
  if (before === undefined || !isOpen || daysBetween(before.since, today) > MASS_KEPT_DAYS) return null;
  return before;
}

/** The difference between the service's answer for a settled unit and the stored content; null if there is none. */
export type Seen =
  | (Pick<Noted, 'sha256' | 'by'> & {
      /** Only weekly or monthly active users differ. */
      readonly trailing?: boolean;
      /** Only users are gone who have probably left. */
      readonly leaver?: boolean;
    })
  | null;

export interface Compared {
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
  { stored, looksMin, now }: { readonly stored: string | null; readonly looksMin: number; readonly now: Date },
): Compared {
  const isNothing = notes.looks === undefined && (seen === null || isWaived(notes, seen, now));
  const sha256 = seen?.sha256 ?? stored;
  if (isNothing || sha256 === null) return { notes, isConfirmed: false };
  const looks = withLook(notes, sha256, now);
  const equal = equalLooks(looks, sha256);
  const after = { ...notes, ...looks };
  if (seen !== null) return { notes: after, isConfirmed: equal >= Math.max(looksMin, looksNeeded(looks, stored)) };
  const { looks: _looks, lookedAt: _lookedAt, ...others } = after;
  return { notes: equal >= LOOKS ? others : after, isConfirmed: false };
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
    return { notes: { ...others, noted: { sha256: seen.sha256, by: seen.by, at: now.toISOString() } }, isConfirmed: false };
  if (sinceMs < SECOND_LOOK_AFTER_MS) return { notes, isConfirmed: false };
  return {
    notes: { ...others, reopenedFor: seen.sha256, reopenedAt: now.toISOString() },
    isConfirmed: true,
  };
}

/** True for a difference that was refuted not long ago. */
function isWaived({ reopenedFor, reopenedAt }: Notes, { sha256 }: Pick<Noted, 'sha256'>, now: Date): boolean {
  if (reopenedFor === undefined || !sha256.startsWith(reopenedFor)) return false;
  return reopenedAt === undefined || now.getTime() - Date.parse(reopenedAt) < REOPEN_AGAIN_AFTER_MS;
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
    .map(([day, units]) => ({ day, streams: DAILY_STREAMS.filter((name) => units.some(({ stream }) => stream === name)) }));
}

/** So many days with unstable units show that the service alternates. */
export const FLAPPING_DAYS = 3;
/** While it does, and this many days after, each change needs {@link LOOKS_UNSTABLE} looks. */
const FLAPPING_KEPT_DAYS = 14;
/** For this many days after the last of them, runs exit with code 5. */
const FLAPPING_NAMED_DAYS = 3;

/** The service alternates between answers: since when, and when units were last seen to. */
export interface Flapping {
  readonly since: UtcDay;
  readonly lastOn: UtcDay;
}

/** Whether the service alternates, after a run that ended with unstable units on some days. */
export function flappingAfter(before: Flapping | null, unstableDays: number, today: UtcDay): Flapping | null {
  if (unstableDays >= FLAPPING_DAYS) return { since: before?.since ?? today, lastOn: today };
  return before !== null && isFlapping(before, today) ? before : null;
}

/** True while each change needs more looks. */
export function isFlapping({ lastOn }: Flapping, today: UtcDay): boolean {
  return daysBetween(lastOn, today) <= FLAPPING_KEPT_DAYS;
}

/** True while the run's exit code says so. */
export function isFlappingNow({ lastOn }: Flapping, today: UtcDay): boolean {
  return daysBetween(lastOn, today) <= FLAPPING_NAMED_DAYS;
}

/** The stored text of {@link Flapping}; null if there is none, or if someone edited it into something else. */
export function parseFlapping(text: string | null): Flapping | null {
  const value = text === null ? null : parseJson(text);
  if (!isObject(value)) return null;
  const { since, lastOn } = value;
  return isDay(since) && isDay(lastOn) ? { since, lastOn } : null;
}
