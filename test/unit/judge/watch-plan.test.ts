import { describe, expect, test } from 'vitest';
import { FIRST_DAY, parseDay, shiftDay } from '../../../src/core/day.ts';
import { DAILY_STREAMS } from '../../../src/core/stream.ts';
import {
  afterWatch,
  leftBefore,
  leftOutAfter,
  planWatch,
  type WatchCost,
  type WatchScope,
  type WatchState,
  watchesOf,
  watchName,
  withNamed,
} from '../../../src/judge/watch-plan.ts';

const TODAY = parseDay('2026-11-10');
const START: WatchState = { olderFrom: null, heavyOn: null };
const COST: WatchCost = {
  ...{ light: 4, tokens: 1, users: 1, fullDays: 31, walksFull: false, recent: 90, walk: 90 },
};

function plan(state: Partial<WatchState>, cost: Partial<WatchCost> = {}, more: Partial<WatchScope> = {}) {
  const scope = { firstDay: FIRST_DAY, lastDay: shiftDay(TODAY, -1), today: TODAY, watchDays: 31, ...more };
  const made = planWatch({ ...START, ...state }, { ...scope, cost: { ...COST, ...cost } });
  return made ?? expect.fail('nothing is watched');
}

const MASS = { since: TODAY, days: 11, first: FIRST_DAY, last: TODAY };

describe('a night', () => {
  test('compares no stretch twice, however many requests it may spend', () => {
    const begin = shiftDay(FIRST_DAY, 93);
    const { older, sampled } = plan({ fullFrom: begin }, {}, { requests: 100_000 });
    expect(new Set(older.map(({ first }) => first)).size).toBe(older.length);
    expect(older[0]?.first).toBe(shiftDay(begin, -31));
    expect(older.at(-1)?.first).toBe(begin);
    expect(sampled).toEqual([]);
  });

  test('begins with the newest stretch after the oldest was compared', () => {
    const newest = plan({}, {}, { requests: 10 }).older[0];
    expect(plan({ fullFrom: FIRST_DAY }, {}, { requests: 10 }).older[0]).toEqual(newest);
    expect(plan({ fullFrom: TODAY }, {}, { requests: 10 }).older[0]).toEqual(newest);
  });

  test.each([
    ['first', 1],
    ['last', 31],
  ])('samples a stretch of which it compares the %s day alone', (_, after) => {
    const begin = shiftDay(FIRST_DAY, 62);
    const { older, sampled } = plan({ fullFrom: shiftDay(begin, after) }, { fullDays: 1 }, { requests: 6 });
    const day = shiftDay(begin, after - 1);
    expect(older).toEqual([{ first: day, last: day, isFull: true }]);
    expect(sampled).toContainEqual({ first: begin, last: shiftDay(begin, 30) });
  });

  test('compares tokens and users of the recent days once a day', () => {
    expect(plan({ heavyOn: TODAY }).heavy).toBe(false);
    expect(plan({ heavyOn: shiftDay(TODAY, -6) }).heavy).toBe(false);
    expect(plan({ heavyOn: shiftDay(TODAY, -7) }).heavy).toBe(true);
  });

  test('compares users of older stretches page by page if memory does not hold them, and many days do not differ', () => {
    expect(plan({}, { walksFull: true }).walksFull).toBe(true);
    expect(plan({}).walksFull).toBe(false);
    expect(plan({ mass: MASS }, { walksFull: true }).walksFull).toBe(false);
    expect(plan({ mass: MASS }).walksFull).toBe(false);
  });
});

test('what is left out reaches to the last of many days', () => {
  const days = [4, 1, 5, 2, 3].map((age) => shiftDay(TODAY, -age));
  expect(leftOutAfter(undefined, days, TODAY)).toEqual({
    ...{ since: TODAY, units: 5, first: shiftDay(TODAY, -5), last: shiftDay(TODAY, -1) },
  });
});

describe('what earlier runs left out', () => {
  const day = (age: number) => shiftDay(TODAY, -age);
  const left = { since: day(3), units: 2, first: day(10), last: day(8) };
  const keptFrom = (from: number, expectedFrom: number) =>
    leftBefore(left, { firstDay: day(from) }, { firstDay: day(expectedFrom) });

  test('stays for a run that begins behind its first day', () => {
    expect(keptFrom(9, 40)).toBe(left);
    expect(leftBefore(undefined, { firstDay: day(9) }, { firstDay: day(40) })).toBeUndefined();
  });

  test('is asked for by a run that begins with its first day, or before it', () => {
    expect(keptFrom(10, 40)).toBeUndefined();
    expect(keptFrom(11, 40)).toBeUndefined();
  });

  test('is asked for by a run that begins with the first expected day, however late that has become', () => {
    expect(keptFrom(7, 7)).toBeUndefined();
    expect(keptFrom(8, 7)).toBeUndefined();
    expect(keptFrom(6, 7)).toBe(left);
  });
});

test('a failure leaves no credit behind where there was none', () => {
  const failed = { today: TODAY, isComplete: false, mass: null, cursors: {}, chase: null };
  expect(afterWatch(START, { older: [], heavy: false, credit: 7 }, failed)).toStrictEqual({
    ...START,
    isAgain: true,
  });
});

describe('the progress of jobs over other streams', () => {
  const LEFT = { since: TODAY, units: 3, first: FIRST_DAY, last: TODAY };
  const known = (
    stored: Readonly<Record<string, Partial<WatchState>>>,
    { streams, expected }: Partial<Record<'streams' | 'expected', Parameters<typeof watchName>[0]>> = {},
  ) =>
    watchesOf(
      new Map(Object.entries(stored).map(([name, state]) => [name, JSON.stringify({ ...START, ...state })])),
      { streams: streams ?? DAILY_STREAMS, expected: expected ?? DAILY_STREAMS, today: TODAY },
    );

  test('has the name of their streams, in one order; the one over all of them has none', () => {
    expect(watchName([...DAILY_STREAMS, 'readiness'])).toBe('watch');
    expect(watchName(['users', 'tokens', 'readiness'])).toBe('watch tokens users');
  });

  test('is taken over by a job with all of their expected streams', () => {
    const stored = { 'watch tokens users': { leftOut: LEFT }, 'watch tools': {} };
    expect([...known(stored).covered]).toEqual([
      ['watch tokens users', { ...START, leftOut: LEFT }],
      ['watch tools', START],
    ]);
    expect([...known(stored, { streams: ['tokens', 'users', 'activity'] }).covered.keys()]).toEqual([
      'watch tokens users',
    ]);
    expect([...known(stored, { streams: ['tokens'] }).covered.keys()]).toEqual([]);
    // Nobody expects users.
    const expected = DAILY_STREAMS.filter((stream) => stream !== 'users');
    expect([...known(stored, { streams: ['tokens'], expected }).covered.keys()]).toEqual([
      'watch tokens users',
    ]);
  });

  test('is that of a job over all streams only if nobody expects another daily one', () => {
    const expected = ['tokens', 'readiness'] as const;
    expect([...known({ watch: {} }, { streams: ['tokens'], expected }).covered.keys()]).toEqual(['watch']);
    expect([...known({ watch: {} }, { streams: ['tokens'] }).covered.keys()]).toEqual([]);
  });

  test('is beside its own', () => {
    const { own, covered } = known({ watch: { heavyOn: TODAY, leftOut: LEFT } });
    expect(own).toEqual({ ...START, heavyOn: TODAY, leftOut: LEFT });
    expect([...covered.keys()]).toEqual([]);
    expect(known({}).own).toEqual(START);
  });

  test('says which change of many days began first and is not over', () => {
    const since = (age: number) => ({ mass: { ...MASS, since: shiftDay(TODAY, -age) } });
    expect(known({ watch: since(1), 'watch tools': since(2), 'watch users': {} }).own).toMatchObject(
      since(2),
    );
    expect(known({ watch: since(2), 'watch tools': since(1) }).own).toMatchObject(since(2));
    expect(known({ watch: since(1), 'watch tools': since(100) }).own).toMatchObject(since(1));
    expect(known({ watch: since(100) }).own).not.toHaveProperty('mass');
    expect(known({ 'watch tools': since(1) }).own).toMatchObject(since(1));
    const others = { mass: { ...MASS, since: shiftDay(TODAY, -1), days: 20 } };
    expect(known({ watch: since(1), 'watch tools': others }).own).toMatchObject(since(1));
  });

  test('keeps its other facts when what it names changes', () => {
    const before = { ...START, credit: 3, mass: MASS, leftOut: LEFT };
    expect(withNamed(before)).toStrictEqual({ ...START, credit: 3 });
    expect(withNamed(before, MASS, LEFT)).toStrictEqual(before);
  });
});
