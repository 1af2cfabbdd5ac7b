import { daysBetween, FIRST_DAY, isDay, shiftDay, type UtcDay } from '../core/day.ts';
import { canonicalJson, isObject } from '../core/json.ts';
import type { Noted, Notes } from './notes.ts';

/** A difference reopens a day only if it is seen again at least so much later. */
export const SECOND_LOOK_AFTER_MS = 12 * 60 * 60 * 1000;
/**
 * A difference that reopened a day and changed no row does not reopen it again for so long. It may be right all the same:
 * an answer that hid it then, from a cache for example, need not hide it for ever.
 */
export const REOPEN_AGAIN_AFTER_MS = 14 * 24 * 60 * 60 * 1000;
/** Days that one run reopens at most. */
export const REOPENED_MAX = 10;
/** Days after which tokens and users are looked at again. */
export const HEAVY_EVERY_DAYS = 7;

/** Days in a row, both ends included. */
export interface Stretch {
  readonly first: UtcDay;
  readonly last: UtcDay;
}

/** How far the watch has come. It is remembered under `watch` in `export_state`, as JSON. */
export interface WatchState {
  /** The first day of the older stretch that was last looked at; null when a round begins. */
  readonly olderFrom: UtcDay | null;
  /** The UTC day on which tokens and users were last looked at; null if never. */
  readonly heavyOn: UtcDay | null;
  /**
   * A look of the last run failed, so the same stretch has its turn once more. Only once: one request that fails for good
   * must not keep the rest of history from having its turn.
   */
  readonly isAgain?: boolean;
}

/** What a run looks at. */
export interface WatchPlan {
  readonly recent: Stretch;
  /** Null where all of history is recent. */
  readonly older: Stretch | null;
  /** Look at tokens and users of the recent days too. */
  readonly heavy: boolean;
}

/**
 * The stretches of a run: the `watchDays` days up to the newest one in every run, and as many older ones in turn, from the
 * newest to the oldest and then again.
 * @param firstDay the oldest day that the run may ask for: history begins there.
 * @param lastDay the newest day that the service answers.
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

/** What is remembered; the beginning where nothing is, or something that this version does not understand. */
export function parseWatchState(text: string | null): WatchState {
  const value: unknown = text === null ? null : JSON.parse(text);
  const dayAt = (name: string): UtcDay | null => {
    const day = isObject(value) ? value[name] : null;
    return isDay(day) ? day : null;
  };
  const isAgain = isObject(value) && value['isAgain'] === true;
  return { olderFrom: dayAt('olderFrom'), heavyOn: dayAt('heavyOn'), ...(isAgain ? { isAgain } : {}) };
}

/** What is remembered after a run that looked at its stretches, or at a part of them. */
export function afterWatch(
  before: WatchState,
  { older, heavy }: Pick<WatchPlan, 'older' | 'heavy'>,
  { today, isComplete }: { readonly today: UtcDay; readonly isComplete: boolean },
): WatchState {
  if (!isComplete && before.isAgain !== true) return { ...before, isAgain: true };
  return { olderFrom: older?.first ?? before.olderFrom, heavyOn: heavy ? today : before.heavyOn };
}

/** The text that is remembered. */
export function watchStateText(state: WatchState): string {
  return canonicalJson(state);
}

/** What the service said of a settled unit: null where it is what is stored. */
export type Seen = Pick<Noted, 'sha256' | 'by' | 'trailing'> | null;

/** What a look leads to. */
export interface Look {
  readonly notes: Notes;
  /** The same difference was seen before, long enough ago: the day is to be reopened. */
  readonly isConfirmed: boolean;
}

/**
 * The notes of a settled unit after a look at it. A difference is noted; seen again at least
 * {@link SECOND_LOOK_AFTER_MS} later it is confirmed. Another one takes its place, and equality takes it back, each of what
 * was compared in the same way. One that reopened the day before and changed no row counts for nothing until
 * {@link REOPEN_AGAIN_AFTER_MS} later.
 */
export function lookAt(notes: Notes, by: Noted['by'], seen: Seen, now: Date): Look {
  const { noted, ...others } = notes;
  const isSettled = seen === null || isWaived(notes, seen, now);
  if (isSettled) return { notes: noted?.by === by ? others : notes, isConfirmed: false };
  const sinceMs = noted?.sha256 === seen.sha256 ? now.getTime() - Date.parse(noted.at) : null;
  // What a clock that was ahead has noted would wait until that time has come.
  if (sinceMs === null || sinceMs < 0)
    return { notes: { ...others, noted: { ...seen, at: now.toISOString() } }, isConfirmed: false };
  return { notes, isConfirmed: sinceMs >= SECOND_LOOK_AFTER_MS };
}

/** True for a difference that reopened the day not long ago, and changed no row. */
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
 * The days to reopen in this run: the newest ones, those in which more than trailing counts differ before the others, and
 * no more than {@link REOPENED_MAX}.
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
