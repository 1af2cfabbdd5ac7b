import { daysBetween, isDay, notedDay, type UtcDay } from '../core/day.ts';
import { isObject, parseJson } from '../core/json.ts';
import { LOOKS, LOOKS_UNSTABLE } from './looks.ts';

/** So many days with unstable units show that the service alternates. */
const FLAPPING_DAYS = 3;
/** While it does, and this many days after, each change needs {@link LOOKS_UNSTABLE} looks. */
const FLAPPING_KEPT_DAYS = 14;
/** For this many days after the last of them, runs exit with code 5. */
export const FLAPPING_NAMED_DAYS = 3;

/** The name in `export_state` for whether the service alternates. */
export const FLAPPING = 'flapping';

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

/** Equal looks that every change needs. */
export function looksMinOf(flapping: Flapping | null, today: UtcDay): number {
  return flapping !== null && isFlapping(flapping, today) ? LOOKS_UNSTABLE : LOOKS;
}

function isFlapping({ lastOn }: Flapping, today: UtcDay): boolean {
  return daysBetween(lastOn, today) <= FLAPPING_KEPT_DAYS;
}

/** True while the run's exit code says so. */
export function isFlappingNow({ lastOn }: Flapping, today: UtcDay): boolean {
  return daysBetween(lastOn, today) <= FLAPPING_NAMED_DAYS;
}

/** What the stored text says today; null if there is none, or if someone edited it into something else. */
export function parseFlapping(text: string | null, today: UtcDay): Flapping | null {
  const value = parseJson(text ?? 'null');
  if (!isObject(value)) return null;
  const { since, lastOn } = value;
  if (!isDay(since) || !isDay(lastOn)) return null;
  return { since: notedDay(since, today), lastOn: notedDay(lastOn, today) };
}
