import { daysBetween, FIRST_DAY, isDay, shiftDay, type UtcDay } from '../core/day.ts';
import { isObject, parseJson } from '../core/json.ts';
import type { Noted, Notes } from './notes.ts';

/** A difference reopens a day only if it is seen again at least this much later. */
export const SECOND_LOOK_AFTER_MS = 12 * 60 * 60 * 1000;
/**
 * For this long, a difference that reopened a day without changing a row does not reopen it again. Afterwards it may:
 * the answer that hid it, for example from a cache, may be gone.
 */
const REOPEN_AGAIN_AFTER_MS = 14 * 24 * 60 * 60 * 1000;
/** Maximum number of days that one run reopens. */
const REOPENED_MAX = 10;
/** Number of days between two comparisons of tokens and users. */
const HEAVY_EVERY_DAYS = 7;

/** Consecutive days, both ends included. */
export interface Stretch {
  readonly first: UtcDay;
  readonly last: UtcDay;
}

/** The progress of the watch, stored as JSON under `watch` in `export_state`. */
interface WatchState {
  /** The first day of the older stretch that was compared last; null at the start of a round. */
  readonly olderFrom: UtcDay | null;
  /** The UTC day on which tokens and users were last compared; null if never. */
  readonly heavyOn: UtcDay | null;
  /**
   * A comparison of the last run failed, so the next run compares the same stretch again, but only once: a request that
   * always fails must not stop the watch at one stretch.
   */
  readonly isAgain?: boolean;
}

export interface WatchPlan {
  readonly recent: Stretch;
  /** Null if all of history is recent. */
  readonly older: Stretch | null;
  /** Compare tokens and users of the recent days too. */
  readonly heavy: boolean;
}

/**
 * The stretches that a run compares: the last `watchDays` days in every run, and as many older ones in turn, from the
 * newest to the oldest and then from the start.
 * @param firstDay the first day of the run's range; history begins there.
 * @param lastDay the newest day that the service has.
 */
export function planWatch(
  state: WatchState,
  {
    firstDay,
    lastDay,
    today,
    watchDays,
  }: { firstDay: UtcDay; lastDay: UtcDay; today: UtcDay; watchDays: number },
): WatchPlan | null {
  if (watchDays <= 0 || lastDay < FIRST_DAY) return null;
  const recent = { first: latest(shiftDay(lastDay, 1 - watchDays), FIRST_DAY), last: lastDay };
  const isDue = state.heavyOn === null || daysBetween(state.heavyOn, today) >= HEAVY_EVERY_DAYS;
  return {
    recent,
    older: olderStretch(state, { firstDay, recentFirst: recent.first, watchDays }),
    heavy: isDue,
  };
}

function olderStretch(
  { olderFrom }: WatchState,
  { firstDay, recentFirst, watchDays }: { firstDay: UtcDay; recentFirst: UtcDay; watchDays: number },
): Stretch | null {
  const begin = latest(firstDay, FIRST_DAY);
  if (recentFirst <= begin) return null;
  const goesOn = olderFrom !== null && olderFrom > begin && olderFrom < recentFirst;
  const last = shiftDay(goesOn ? olderFrom : recentFirst, -1);
  return { first: latest(shiftDay(last, 1 - watchDays), begin), last };
}

function latest(a: UtcDay, b: UtcDay): UtcDay {
  return a > b ? a : b;
}

/** The stored progress; the start of a round if there is none that this version understands. */
export function parseWatchState(text: string | null): WatchState {
  const value = text === null ? null : parseJson(text);
  const dayAt = (name: string): UtcDay | null => {
    const day = isObject(value) ? value[name] : null;
    return isDay(day) ? day : null;
  };
  const isAgain = isObject(value) && value['isAgain'] === true;
  return { olderFrom: dayAt('olderFrom'), heavyOn: dayAt('heavyOn'), ...(isAgain ? { isAgain } : {}) };
}

/** The progress after a run, which may have compared only a part of its stretches. */
export function afterWatch(
  before: WatchState,
  { older, heavy }: Pick<WatchPlan, 'older' | 'heavy'>,
  { today, isComplete }: { readonly today: UtcDay; readonly isComplete: boolean },
): WatchState {
  if (!isComplete && before.isAgain !== true) return { ...before, isAgain: true };
  return { olderFrom: older?.first ?? before.olderFrom, heavyOn: heavy ? today : before.heavyOn };
}

/** The difference between the service's answer for a settled unit and the stored content; null if there is none. */
export type Seen = Pick<Noted, 'sha256' | 'by' | 'trailing'> | null;

interface Look {
  readonly notes: Notes;
  /** The same difference was seen before, long enough ago: the day should be reopened. */
  readonly isConfirmed: boolean;
}

/**
 * The notes of a settled unit after a comparison. A difference is noted. Seen again at least {@link
 * SECOND_LOOK_AFTER_MS} later, it is confirmed. Another difference replaces it, and equality removes it, if the same
 * thing was compared. A difference that reopened the day before without changing a row is ignored for {@link
 * REOPEN_AGAIN_AFTER_MS}.
 */
export function lookAt(notes: Notes, by: Noted['by'], seen: Seen, now: Date): Look {
  const { noted, ...others } = notes;
  const isSettled = seen === null || isWaived(notes, seen, now);
  if (isSettled) return { notes: noted?.by === by ? others : notes, isConfirmed: false };
  const sinceMs = noted?.sha256 === seen.sha256 ? now.getTime() - Date.parse(noted.at) : null;
  // A note from the future, set while a clock was ahead, would wait until that time.
  if (sinceMs === null || sinceMs < 0)
    return { notes: { ...others, noted: { ...seen, at: now.toISOString() } }, isConfirmed: false };
  return { notes, isConfirmed: sinceMs >= SECOND_LOOK_AFTER_MS };
}

/** True for a difference that reopened the day not long ago without changing a row. */
function isWaived({ reopenedFor, reopenedAt }: Notes, { sha256 }: Pick<Noted, 'sha256'>, now: Date): boolean {
  if (sha256 !== reopenedFor) return false;
  return reopenedAt === undefined || now.getTime() - Date.parse(reopenedAt) < REOPEN_AGAIN_AFTER_MS;
}

/** A day whose difference is confirmed. */
export interface Confirmed {
  readonly day: UtcDay;
  readonly trailing: boolean;
}

/**
 * The days to reopen in this run, at most {@link REOPENED_MAX}: days in which only trailing counts differ come last,
 * newer days before older ones.
 */
export function chooseReopened(confirmed: readonly Confirmed[]): Confirmed[] {
  const byDay = new Map<UtcDay, Confirmed>();
  for (const { day, trailing } of confirmed) {
    byDay.set(day, { day, trailing: trailing && (byDay.get(day)?.trailing ?? true) });
  }
  return [...byDay.values()]
    .toSorted((a, b) => Number(a.trailing) - Number(b.trailing) || (a.day < b.day ? 1 : -1))
    .slice(0, REOPENED_MAX);
}
