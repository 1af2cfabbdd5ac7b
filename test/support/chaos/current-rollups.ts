import { expect } from 'vitest';
import { parseDay, shiftDay, weekdayOf } from '../../../src/core/day.ts';
import {
  expectedRollups,
  expectLanguages,
  type Rollups,
  storedRollups,
  storedUserDays,
} from '../rollups/expected.ts';
import { expectTeamDays } from '../rollups/team-days.ts';
import type { Place } from '../warehouse/each-database.ts';

/** The date of the mark that stands for the people. */
const PEOPLE = '';

type Row = Rollups['user_weekly'][number];

/**
 * Asserts that every rollup whose mark is current equals a plain computation from the rows, because readers may use it at
 * any instant. Returns true if all rollups are current.
 */
export async function expectCurrentRollups(place: Place): Promise<boolean> {
  if (!(await place.relations()).some(({ name }) => name === 'rollup_marks')) return false;
  const stale = await staleDays(place);
  const [expected, stored] = [expectedRollups(await storedUserDays(place)), await storedRollups(place)];
  const weeks = new Set(stale.weekly.map(mondayOf));
  const months = new Set(stale.monthly.map((day) => day.slice(0, 7)));
  const isCurrentWeek = ({ week_start }: Row) => !weeks.has(String(week_start));
  const isCurrentMonth = ({ month }: Row) => !months.has(String(month));
  expect(stored.user_weekly.filter(isCurrentWeek)).toEqual(expected.user_weekly.filter(isCurrentWeek));
  expect(stored.user_monthly.filter(isCurrentMonth)).toEqual(expected.user_monthly.filter(isCurrentMonth));
  // New users depend on earlier months too.
  if (months.size === 0) expect(stored.org_monthly).toEqual(expected.org_monthly);
  if (stale.users.length === 0) expect(stored.users).toEqual(expected.users);
  await expectLanguages(place, months);
  await expectTeamDays(place, { teams: new Set(stale.teams), models: new Set(stale.models) });
  return Object.values(stale).every((days) => days.length === 0);
}

/** Asserts that all rollups are current, and equal a plain computation from the rows. */
export async function expectAllRollups(place: Place): Promise<void> {
  expect(await expectCurrentRollups(place)).toBe(true);
}

function mondayOf(date: string): string {
  const day = parseDay(date);
  return shiftDay(day, 1 - weekdayOf(day));
}

/** The days of each rollup whose mark is missing, has another digest, or has no unit. */
async function staleDays(place: Place) {
  const all = await place.query<{ stream: string; date: string; sha256: string }>(
    "SELECT stream, date, content_sha256 AS sha256 FROM export_units WHERE stream IN ('users', 'tokens') AND content_sha256 IS NOT NULL",
  );
  const marks = await place.query<{ rollup: string; date: string; sha256: string }>(
    'SELECT rollup, date, content_sha256 AS sha256 FROM rollup_marks',
  );
  const staleOf = (rollup: string, from = 'users') => {
    const units = all.filter(({ stream }) => stream === from);
    const days = new Set(units.map(({ date }) => date));
    const own = marks.filter((mark) => mark.rollup === rollup && mark.date !== PEOPLE);
    const digests = new Map(own.map(({ date, sha256 }) => [date, sha256]));
    const changed = units.filter(({ date, sha256 }) => digests.get(date) !== sha256);
    const gone = own.filter(({ date }) => !days.has(date));
    return [...changed, ...gone].map(({ date }) => date);
  };
  return {
    weekly: staleOf('weekly'),
    monthly: staleOf('monthly'),
    users: staleOf('users'),
    teams: staleOf('teams'),
    models: staleOf('models', 'tokens'),
  };
}
