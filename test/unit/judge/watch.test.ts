import { describe, expect, test } from 'vitest';
import { FIRST_DAY, parseDay, shiftDay } from '../../../src/core/day.ts';
import { areLeavers, lossOf } from '../../../src/judge/doubt.ts';
import { equalLooks, looksNeeded } from '../../../src/judge/looks.ts';
import { massAfter } from '../../../src/judge/mass.ts';
import { notesAfterCommit, notesAfterSettling, notesText, parseNotes } from '../../../src/judge/notes.ts';
import { differs, judgeLooks, lookAtRows, lookAtSums, reopenedDays } from '../../../src/judge/watch.ts';
import {
  afterWatch,
  chaseAfter,
  leftOutAfter,
  parseWatchState,
  planWatch,
  type WatchCost,
  type WatchScope,
  type WatchState,
  withNamed,
} from '../../../src/judge/watch-plan.ts';

const TODAY = parseDay('2026-11-10');
const START: WatchState = { olderFrom: null, heavyOn: null };
const SMALL: WatchCost = {
  light: 4,
  tokens: 1,
  users: 1,
  fullDays: 31,
  walksFull: false,
  recent: 2,
  walk: 2,
};
const MEDIUM: WatchCost = {
  light: 4,
  tokens: 1,
  users: 45,
  fullDays: 31,
  walksFull: false,
  recent: 90,
  walk: 90,
};
const LARGE: WatchCost = {
  light: 4,
  tokens: 1,
  users: 500,
  fullDays: 1,
  walksFull: false,
  recent: 15_531,
  walk: 531,
};

function scope(cost: WatchCost, more: Partial<WatchScope> = {}): WatchScope {
  return { firstDay: FIRST_DAY, lastDay: shiftDay(TODAY, -1), today: TODAY, watchDays: 31, cost, ...more };
}

/** Plans some nights, one after the other, each as if it had compared everything. */
function nights(count: number, cost: WatchCost, more: Partial<WatchScope> = {}) {
  let state = START;
  return Array.from({ length: count }, (_, night) => {
    const today = shiftDay(TODAY, night);
    const plan = planWatch(state, scope(cost, { ...more, today, lastDay: shiftDay(today, -1) }));
    if (plan === null) throw new Error('nothing is watched');
    state = afterWatch(state, plan, { today, isComplete: true, mass: null, cursors: {}, chase: null });
    return plan;
  });
}

describe('the older stretches of a night', () => {
  test('are as many as twelve requests allow, and the rest is carried over', () => {
    const full = nights(5, SMALL).map(({ older }) => older.filter(({ isFull }) => isFull).length);
    expect(full).toEqual([2, 2, 2, 2, 2]);
    const every = nights(6, SMALL, { requests: 4 }).map(({ older }) => older.map(({ isFull }) => isFull));
    expect(every).toEqual([[false], [true], [true], [false], [true], [true]]);
  });

  test('are all compared within about a month if a request covers a month', () => {
    const plans = nights(38, MEDIUM);
    const full = plans.flatMap(({ older }) => older.filter(({ isFull }) => isFull).map(({ first }) => first));
    const all = new Set(
      plans.flatMap(({ older, sampled }) => [...older, ...sampled].map(({ first }) => first)),
    );
    expect(new Set(full)).toEqual(all);
  });

  test('are compared once more after a failure, and then make way, so that one failing day hides no other', () => {
    const firsts: (string | undefined)[] = [];
    let state = START;
    for (let night = 0; night < 4; night += 1) {
      const today = shiftDay(TODAY, night);
      const plan = planWatch(state, scope(MEDIUM, { today, lastDay: shiftDay(TODAY, -1) }));
      if (plan === null) throw new Error('nothing is watched');
      firsts.push(plan.older[0]?.first);
      state = afterWatch(state, plan, { today, isComplete: false, mass: null, cursors: {}, chase: null });
    }
    const [first, again, other] = firsts;
    expect(again).toBe(first);
    expect(other).not.toBe(first);
  });

  test('of 50,000 users are single days, so that no night costs as much as a month of them', () => {
    const full = nights(20, LARGE).map(({ older }) => older.filter(({ isFull }) => isFull));
    expect(Math.max(...full.map(({ length }) => length))).toBe(1);
    const days = full.flat().map(({ first, last }) => (first === last ? first : 'no day'));
    expect(days.length).toBeGreaterThan(4);
    expect(new Set(days).size).toBe(days.length);
  });

  test('and the sampled ones are all of history, each day in one of them', () => {
    for (const cost of [SMALL, MEDIUM]) {
      for (const { older, sampled, recent } of nights(12, cost)) {
        const stretches = [...older.filter(({ isFull }) => isFull), ...sampled];
        const sorted = stretches.toSorted((a, b) => (a.first < b.first ? -1 : 1));
        expect(sorted[0]?.first).toBe(FIRST_DAY);
        for (const [index, { last }] of sorted.entries())
          expect(shiftDay(last, 1)).toBe(sorted[index + 1]?.first ?? recent.first);
      }
    }
  });

  test('are at least one light stretch, another each night, without any request to spend', () => {
    const firsts = nights(9, LARGE, { requests: 0 }).map(({ older }) => older.map(({ first }) => first));
    expect(firsts.map(({ length }) => length)).toEqual(Array.from({ length: 9 }, () => 1));
    expect(new Set(firsts.flat()).size).toBe(9);
  });

  test('are all of them while many days differ, at no cost of the budget', () => {
    const mass = { since: TODAY, days: 11, first: FIRST_DAY, last: TODAY };
    const plan = planWatch({ ...START, credit: 5, mass }, scope(LARGE, { requests: 0 }));
    expect(plan).toMatchObject({ heavy: true, credit: 5, sampled: [] });
    expect(plan?.older.every(({ isFull }) => isFull)).toBe(true);
    expect(plan?.older).toHaveLength(9);
  });
});

test('a budget that is not spent grows to a stretch and two nights at most', () => {
  const plan = planWatch({ ...START, credit: 1_000_000 }, scope(MEDIUM, { requests: 100 }));
  expect(plan?.older.filter(({ isFull }) => isFull)).toHaveLength(4);
});

describe('a difference from a settled day', () => {
  const [STORED, OTHER] = ['a'.repeat(64), 'b'.repeat(64)];
  const at = (night: number) => new Date(Date.UTC(2026, 5, night, 3));
  /** The comparisons of nights, each with what is stored or something else. */
  const compared = (letters: string, known: ReturnType<typeof parseNotes> = {}, first = 1) =>
    [...letters].reduce(
      ({ notes }, letter, index) =>
        lookAtRows(notes, letter === 'a' ? null : { sha256: OTHER, by: 'rows' }, {
          ...{ stored: STORED, looksMin: 3, now: at(first + index) },
        }),
      { notes: known, isConfirmed: false },
    );

  test('is forgotten after three looks that equal what is stored, not after one', () => {
    expect(equalLooks(compared('bba').notes, STORED)).toBe(1);
    expect(compared('bbaa').notes.looks).toHaveLength(4);
    expect(compared('bbaaa').notes.looks).toBeUndefined();
    expect(compared('bbaaa').notes.past?.map(([, seen]) => seen[0])).toEqual(['a', 'b']);
  });

  test('is confirmed by three equal looks, and still by a fourth if a run was killed before it stored the change', () => {
    expect(
      [compared('b'), compared('bb'), compared('bbb'), compared('bbbb')].map((each) => each.isConfirmed),
    ).toEqual([false, false, true, true]);
    // The next run of the same day adds no look.
    const again = lookAtRows(
      compared('bbb').notes,
      { sha256: OTHER, by: 'rows' },
      {
        ...{ stored: STORED, looksMin: 3, now: new Date(at(3).getTime() + 3_600_000) },
      },
    );
    expect([again.isConfirmed, again.notes.looks?.length]).toEqual([true, 3]);
  });

  test('that was stored is remembered: the first answer that comes back needs five looks', () => {
    const own = { day: TODAY, contentSha256: OTHER, isOwn: true, pulledAt: at(3) };
    const change = { stored: STORED, isChanged: true, staysSettled: false };
    const committed = notesAfterCommit(notesText(compared('bbb').notes), own, change);
    const settled = parseNotes(notesAfterSettling(committed, OTHER));
    const back = lookAtRows(
      settled,
      { sha256: STORED, by: 'rows' },
      { stored: OTHER, looksMin: 3, now: at(4) },
    );
    expect(looksNeeded(back.notes, OTHER)).toBe(5);
  });

  test.each([
    ['by other sums', { noted: { sha256: OTHER, by: 'models', at: '' } }, true],
    ['by its rows', { looks: [[TODAY, 'b']], lookedAt: '2026-11-10T03:00:00Z' }, true],
    ['no longer', { past: [[TODAY, 'b']] }, false],
  ] as const)('is known %s', (_, notes, expected) => {
    expect(differs({ watch: notesText(notes) })).toBe(expected);
  });

  test('of sums is confirmed half a day later, and is then ignored for two weeks', () => {
    const seen = { sha256: OTHER, by: 'models' } as const;
    const [first, early, late] = [0, 11, 12].map((hours) => new Date(at(1).getTime() + hours * 3_600_000));
    const { notes } = lookAtSums({}, seen, first ?? at(1));
    expect(notes.noted).toEqual({ ...seen, at: at(1).toISOString() });
    expect(lookAtSums(notes, seen, early ?? at(1))).toEqual({ notes, isConfirmed: false });
    const confirmed = lookAtSums(notes, seen, late ?? at(1));
    expect(confirmed).toEqual({
      ...{ notes: { reopenedFor: OTHER, reopenedAt: '2026-06-01T15:00:00.000Z' }, isConfirmed: true },
    });
    expect(lookAtSums(confirmed.notes, seen, at(15))).toEqual({ ...confirmed, isConfirmed: false });
    expect(lookAtSums(confirmed.notes, seen, at(16)).notes.noted).toBeDefined();
    // Other sums, or none that differ, begin again.
    expect(lookAtSums(notes, { ...seen, sha256: STORED }, late ?? at(1)).isConfirmed).toBe(false);
    expect(lookAtSums(notes, null, late ?? at(1))).toEqual({ notes: {}, isConfirmed: false });
  });

  test('is one of many only if more than a few users are gone', () => {
    const unit = { stream: 'users', contentSha256: STORED, watch: null } as const;
    const looked = [{ leaver: 'ada' }, { isMinor: true }, {}].map((more, index) => ({
      ...{ unit: { ...unit, day: shiftDay(TODAY, -9 - index) }, by: 'rows' as const },
      seen: { sha256: OTHER, by: 'rows' as const, ...more },
    }));
    expect(judgeLooks(looked, { looksMin: 3, now: at(1) }).newly).toEqual([shiftDay(TODAY, -11)]);
  });
});

test('tokens and users of the recent days are compared every night if that is cheap, otherwise once a week', () => {
  const heavy = (cost: WatchCost) => nights(8, cost).map((plan) => plan.heavy);
  expect(heavy({ ...SMALL, recent: 60 }).every(Boolean)).toBe(true);
  expect(heavy({ ...SMALL, recent: 61 })).toEqual([true, ...Array(6).fill(false), true]);
  // A clock was ahead.
  const ahead = { olderFrom: null, heavyOn: shiftDay(TODAY, 200) };
  expect(planWatch(ahead, scope({ ...SMALL, recent: 61 }))?.heavy).toBe(true);
});

test('users of the recent days are compared page by page if they cost less so, and are not compared every night', () => {
  const walks = (cost: WatchCost) => nights(8, cost).map((plan) => plan.walks);
  expect(walks(SMALL).some(Boolean)).toBe(false);
  expect(walks(MEDIUM).some(Boolean)).toBe(false);
  expect(walks(LARGE)).toEqual([true, ...Array(6).fill(false), true]);
  expect(walks({ ...LARGE, recent: 60, walk: 31 }).some(Boolean)).toBe(false);
});

test('days that are confirmed to differ are pulled again, the newest first, each with all of its streams', () => {
  const [old, young] = [parseDay('2026-03-01'), parseDay('2026-03-02')];
  const confirmed = [
    ...[old, young].map((day) => ({ day, stream: 'users' as const })),
    { day: old, stream: 'tokens' as const },
  ];
  expect(reopenedDays(confirmed)).toEqual([
    { day: young, streams: ['users'] },
    { day: old, streams: ['tokens', 'users'] },
  ]);
});

describe('many days that differ at once', () => {
  const days = Array.from({ length: 11 }, (_, index) => shiftDay(FIRST_DAY, index));

  test('are a mass from the eleventh on, until none differs any more, and for three weeks at most', () => {
    const open = { isOpen: true, today: TODAY };
    expect(massAfter(undefined, days.slice(1), open)).toBeNull();
    const mass = massAfter(undefined, days, open);
    expect(mass).toEqual({ since: TODAY, days: 11, first: FIRST_DAY, last: '2026-01-24' });
    const known = mass ?? undefined;
    expect(massAfter(known, [], { isOpen: true, today: shiftDay(TODAY, 21) })).toEqual(mass);
    expect(massAfter(known, [], { isOpen: true, today: shiftDay(TODAY, 22) })).toBeNull();
    expect(massAfter(known, [], { isOpen: false, today: TODAY })).toBeNull();
  });

  test('are one mass with those of the nights before, from the first of all days to the last', () => {
    const tomorrow = { isOpen: true, today: shiftDay(TODAY, 1) };
    const middle = { since: TODAY, days: 20, first: shiftDay(FIRST_DAY, 3), last: shiftDay(FIRST_DAY, 5) };
    const both = { since: TODAY, days: 31, first: FIRST_DAY, last: shiftDay(FIRST_DAY, 10) };
    expect(massAfter(middle, days.toReversed(), tomorrow)).toEqual(both);
    const around = { ...middle, first: shiftDay(FIRST_DAY, -9), last: shiftDay(FIRST_DAY, 90) };
    expect(massAfter(around, days, tomorrow)).toEqual({ ...around, days: 31 });
  });
});

describe('users who are gone', () => {
  test('have left if they are two or 2 %, not all of the day, and nobody came', () => {
    const gone = (count: number, stored: number, added = 0) => areLeavers({ gone: count, stored, added });
    expect([gone(2, 10), gone(3, 10), gone(20, 1_000), gone(21, 1_000)]).toEqual([true, false, true, false]);
    expect([gone(1, 1), gone(2, 10, 1), gone(0, 10)]).toEqual([false, false, false]);
  });

  test('from a day whose only user they are, are a loss like any other', () => {
    const users = { answered: 0, added: 0, active: 1 };
    expect(lossOf({ missing: [0], stored: 1, setAside: 0, users })?.rule).toBe('loss-of-all');
  });

  test('lead to two pages at most, for four nights', () => {
    const chase = chaseAfter(undefined, ['b', 'a', 'b', 'c'], TODAY);
    expect(chase).toEqual({ since: TODAY, cursors: ['b', 'a'] });
    const known = chase ?? undefined;
    expect(chaseAfter(known, ['d'], shiftDay(TODAY, 3))).toEqual(chase);
    expect(chaseAfter(known, [], shiftDay(TODAY, 4))).toBeNull();
  });
});

describe('the progress after a night', () => {
  const plan = { older: [], heavy: false, credit: 7 };
  const night = { today: TODAY, isComplete: true, mass: null, cursors: {}, chase: null };
  const [first, second] = [shiftDay(TODAY, -90), shiftDay(TODAY, -60)];
  const before: WatchState = { olderFrom: first, fullFrom: second, heavyOn: first, credit: 3 };

  test('that compared everything goes on after the last stretch of each kind', () => {
    const older = [
      { first: shiftDay(TODAY, -50), last: shiftDay(TODAY, -40), isFull: true },
      { first: shiftDay(TODAY, -80), last: shiftDay(TODAY, -70), isFull: true },
      { first: shiftDay(TODAY, -99), last: shiftDay(TODAY, -95), isFull: false },
    ];
    const after = { olderFrom: '2026-08-03', fullFrom: '2026-08-22', heavyOn: TODAY, credit: 7 };
    expect(afterWatch(before, { older, heavy: true, credit: 7 }, night)).toEqual(after);
    expect(afterWatch(before, plan, night)).toEqual({ ...before, credit: 7 });
    expect(afterWatch(START, { ...plan, credit: 0 }, night)).toEqual(START);
  });

  test('that could not compare everything stays for one more night, and then goes on', () => {
    const failed = { ...night, isComplete: false };
    const again = { ...before, isAgain: true };
    expect(afterWatch(before, { ...plan, heavy: true }, failed)).toEqual(again);
    expect(afterWatch(START, plan, failed)).toEqual({ ...START, isAgain: true });
    expect(afterWatch(again, { ...plan, heavy: true }, failed)).toEqual({
      ...{ ...before, heavyOn: TODAY, credit: 7 },
    });
  });

  test('names what the night has found, whether it was complete or not', () => {
    const found = {
      ...{ mass: { since: TODAY, days: 11, first, last: second }, cursors: { [first]: 'u' } },
      chase: { since: TODAY, cursors: ['u'] },
      leftOut: { since: TODAY, units: 2, first, last: second },
    };
    for (const isComplete of [true, false])
      expect(afterWatch(before, plan, { ...night, ...found, isComplete })).toMatchObject(found);
  });

  test('over a part of the days changes only what is named', () => {
    const mass = { since: TODAY, days: 11, first, last: second };
    const leftOut = { since: TODAY, units: 2, first, last: second };
    expect(withNamed(before, mass, leftOut)).toEqual({ ...before, mass, leftOut });
    expect(withNamed({ ...before, mass, leftOut })).toEqual(before);
  });

  test('counts the units that had no requests, from the first of their days to the last', () => {
    const left = leftOutAfter(undefined, [second, first, second], TODAY);
    expect(left).toEqual({ since: TODAY, units: 3, first, last: second });
    expect(leftOutAfter({ since: first, units: 1, first, last: first }, [second], TODAY)).toEqual({
      ...{ since: first, units: 1, first: second, last: second },
    });
    expect(leftOutAfter(undefined, [], TODAY)).toBeUndefined();
  });
});

test('nothing is watched before the first day, or if no days are to be watched', () => {
  expect(planWatch(START, scope(SMALL, { watchDays: 0 }))).toBeNull();
  expect(planWatch(START, scope(SMALL, { lastDay: shiftDay(FIRST_DAY, -1) }))).toBeNull();
  expect(planWatch(START, scope(SMALL, { lastDay: FIRST_DAY }))).toMatchObject({
    recent: { first: FIRST_DAY, last: FIRST_DAY },
    older: [],
    sampled: [],
  });
});

test('a progress that nobody understands starts a round', () => {
  expect(
    parseWatchState('{"olderFrom":7,"mass":{},"chase":{"since":"x"},"credit":-1,"cursors":[]}', TODAY),
  ).toMatchObject(START);
  const state = {
    ...START,
    credit: 3,
    cursors: { '2026-01-14': 'u' },
    chase: { since: TODAY, cursors: ['u'] },
  };
  expect(parseWatchState(JSON.stringify(state), TODAY)).toEqual(state);
});
