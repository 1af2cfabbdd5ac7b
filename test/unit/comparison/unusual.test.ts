import { describe, expect, test } from 'vitest';
import { findUnusual, type UnusualValue } from '../../../src/comparison/unusual.ts';
import { shiftDay } from '../../../src/core/day.ts';
import {
  DAYS,
  quietOrganization,
  seriesOf,
  type Use,
  WEEK,
} from '../../support/metrics/quiet-organization.ts';
import { sequence } from '../../support/random/seed.ts';

const QUIET = 200;
const PLANTED = 60;
const TUESDAY = shiftDay(WEEK.from, 1);
const compared = new Set(DAYS);
const rowsOf = (uses: readonly Use[]) => findUnusual(seriesOf(uses), { ...WEEK, compared }).rows;

/** The share of organizations in which something planted is found. */
function found(
  plant: (uses: readonly Use[]) => readonly Use[],
  isIt: (row: UnusualValue, uses: readonly Use[]) => boolean,
) {
  let count = 0;
  for (let seed = 1; seed <= PLANTED; seed += 1) {
    const uses = quietOrganization(sequence(seed));
    if (rowsOf(plant(uses)).some((row) => isIt(row, uses))) count += 1;
  }
  return count / PLANTED;
}

/** The person with the median use of Tuesday. */
function middle(uses: readonly Use[]): string | undefined {
  const own = uses.filter(({ day }) => day === TUESDAY).toSorted((a, b) => b.value - a.value);
  return own[Math.floor(own.length / 2)]?.user;
}

describe('what is unusual in a week', () => {
  test('is nothing in 95 % of quiet weeks', () => {
    let quiet = 0;
    for (let seed = 1; seed <= QUIET; seed += 1) {
      if (rowsOf(quietOrganization(sequence(seed))).length === 0) quiet += 1;
    }
    expect(quiet / QUIET).toBeGreaterThanOrEqual(0.95);
  });

  test('is a day with three times as much', () => {
    const times = (uses: readonly Use[]) =>
      uses.map((use) => (use.day === TUESDAY ? { ...use, value: use.value * 3 } : use));
    expect(found(times, ({ dimension, date }) => dimension === 'date' && date === TUESDAY)).toBeGreaterThan(
      0.85,
    );
  });

  test('is a team that stops', () => {
    const stop = (uses: readonly Use[]) => uses.filter(({ day, team }) => day < WEEK.from || team !== 't-0');
    const isIt = ({ dimension, name, value, low }: UnusualValue) =>
      dimension === 'team' && name === 't-0' && value < low;
    expect(found(stop, isIt)).toBeGreaterThan(0.9);
  });

  test('is a model that appears with half of the credits', () => {
    const appear = (uses: readonly Use[]) =>
      uses.map((use, at) => (use.day === TUESDAY && at % 2 === 0 ? { ...use, model: 'm-new' } : use));
    const isIt = ({ dimension, name }: UnusualValue) => dimension === 'model' && name === 'm-new';
    expect(found(appear, isIt)).toBeGreaterThan(0.8);
  });

  test('is a person with ten times as much, in most organizations', () => {
    const tenfold = (uses: readonly Use[]) => {
      const user = middle(uses);
      return uses.map((use) =>
        use.day === TUESDAY && use.user === user ? { ...use, value: use.value * 10 } : use,
      );
    };
    const isIt = ({ dimension, name }: UnusualValue, uses: readonly Use[]) =>
      dimension === 'user' && name === middle(uses);
    expect(found(tenfold, isIt)).toBeGreaterThan(0.8);
  });

  test('is less of a person whose days differ by factors than of one whose days are alike', () => {
    const spike = 2_500;
    const days = (usual: (at: number) => number) =>
      new Map(DAYS.map((day, at) => [day, day === TUESDAY ? spike : usual(at)]));
    const people = [
      { kind: 'user', name: 'alike', values: days((at) => 900 + (at % 3) * 50) },
      { kind: 'user', name: 'factors', values: days((at) => 10 ** (1 + (at % 3))) },
    ] as const;
    const all = [{ kind: 'date', name: null, values: days(() => 5_000) } as const, ...people];
    const { rows } = findUnusual(all, { ...WEEK, compared });
    const found = rows.filter(({ dimension }) => dimension === 'user');
    expect(found.map(({ name, date }) => [name, date])).toEqual([['alike', TUESDAY]]);
  });

  test('is no missing day, and nothing where too few of the same weekday are stored', () => {
    const uses = quietOrganization(sequence(1)).filter(({ day }) => day !== TUESDAY);
    const some = new Set(DAYS.filter((day) => day !== TUESDAY));
    expect(findUnusual(seriesOf(uses), { ...WEEK, compared: some }).rows).toEqual([]);
    const few = new Set(DAYS.filter((day) => day >= shiftDay(WEEK.from, -5 * 7)));
    expect(findUnusual(seriesOf(uses), { ...WEEK, compared: few }).looked_at).toEqual({
      date: 0,
      team: 0,
      model: 0,
      user: 0,
    });
  });
});
