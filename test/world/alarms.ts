import { isLie, unitsOfMass, type World } from './events.ts';
import type { Outcome } from './machine.ts';

/** What honest services have caused: nights, and alarms that a person would have looked at. */
export interface Alarms {
  readonly nights: number;
  readonly alarms: number;
}

export const NO_ALARMS: Alarms = { nights: 0, alarms: 0 };

/** An organization may be called to its warehouse so often in a year, although its service was honest. */
const PER_YEAR_MAX = 1;
const YEAR_NIGHTS = 365;
/** From so many nights on, a rate says something. */
const NIGHTS_MIN = 10 * YEAR_NIGHTS;

/** True if nothing in the world is wrong but what fails, no clock is, and nothing changes throughout. */
function isOfHonest({ events, lastNight }: World): boolean {
  return !events.some(
    (event) =>
      isLie(event.kind) ||
      event.kind === 'clock-ahead' ||
      event.kind === 'clock-behind' ||
      unitsOfMass(event, lastNight) > 0,
  );
}

/** I8: the sum after one more night. An alarm begins with the first of the nights in a row that end with exit code 5. */
export function afterNight(
  { nights, alarms }: Alarms,
  world: World,
  { now, before }: { readonly now: Outcome; readonly before: Outcome | null },
): Alarms {
  if (!isOfHonest(world)) return NO_ALARMS;
  const isNew = now.exitCode === 5 && before?.exitCode !== 5;
  return { nights: nights + 1, alarms: alarms + (isNew ? 1 : 0) };
}

/** The alarms per year; null as long as there are too few nights for it. */
export function alarmRate({ nights, alarms }: Alarms): number | null {
  return nights < NIGHTS_MIN ? null : (alarms * YEAR_NIGHTS) / nights;
}

export const isTooOften = (rate: number | null) => rate !== null && rate > PER_YEAR_MAX;
