import { sql } from '../../../schema/query.ts';
import { encoderOf, type RowOf } from '../../../schema/row.ts';
import { tables } from '../../../schema/tables.ts';
import {
  dayOf,
  daysBetween,
  daysFrom,
  FIRST_DAY,
  isoWeekOf,
  shiftDay,
  shiftYears,
  type UtcDay,
  weekdayOf,
} from '../../core/day.ts';
import type { Steps } from '../queries.ts';

/** How far the calendar goes beyond the present. */
const YEARS_AHEAD = 2;

const encode = encoderOf(tables.dates);

/** True if `dates` has every day up to two years ahead. */
export function* hasAllDates(now: Date): Steps<boolean> {
  const lastDay = shiftYears(dayOf(now), YEARS_AHEAD);
  const [row] = yield sql`SELECT COUNT(*) AS days FROM dates WHERE date BETWEEN ${FIRST_DAY} AND ${lastDay}`;
  return row?.['days'] === Math.max(0, daysBetween(FIRST_DAY, lastDay) + 1);
}

/**
 * Adds the days that `dates` lacks, up to two years ahead.
 * @param force correct wrong rows too. @default false
 */
export function* extendDates(now: Date, force = false): Steps<void> {
  if (!force && (yield* hasAllDates(now))) return;
  const stored = force ? [] : yield sql`SELECT date FROM dates`;
  const known = new Set(stored.map(({ date }) => date));
  const days = daysFrom(FIRST_DAY, shiftYears(dayOf(now), YEARS_AHEAD)).filter((day) => !known.has(day));
  yield { table: tables.dates, rows: days.map((day) => encode(calendarRow(day))) };
}

/** The row of a day in `dates`. */
export function calendarRow(day: UtcDay): RowOf<typeof tables.dates> {
  const weekday = weekdayOf(day);
  const month = Number(day.slice(5, 7));
  return {
    date: day,
    ...isoWeekOf(day),
    week_start: shiftDay(day, 1 - weekday),
    month: day.slice(0, 7),
    quarter: `${day.slice(0, 4)}-Q${Math.ceil(month / 3)}`,
    weekday,
    is_weekend: weekday >= 6 ? 1 : 0,
  };
}
