// @module-tag campaign/answers

import { describe, expect, test } from 'vitest';
import { daysFrom, parseDay, shiftDay, type UtcDay } from '../../../../src/core/day.ts';
import {
  areRefused,
  areTooFew,
  daysToCompare,
  judgeUsers,
  type UserDay,
} from '../../../../src/judge/foreign.ts';
import { pick, type Random, seeded } from '../../../support/random/seed.ts';
import { answersMax } from '../../../support/suite/campaign-length.ts';

const FIRST = parseDay('2026-01-14');
const WORLDS = answersMax(2_000, 400);
const PAGE_USERS = 100;

/** An organization that hires, loses and idles. Who was active on a day is drawn once. */
class Team {
  readonly days = new Map<UtcDay, Set<string>>();

  constructor(random: Random, prefix: string) {
    const size = pick(random, [1, 2, 3, 4, 8, 20, 150]);
    const turnover = pick(random, [0, 0.02, 0.2, 0.9]);
    const activity = pick(random, [0.1, 0.4, 0.9]);
    let hired = size;
    let staff = Array.from({ length: size }, (_, index) => `${prefix}${index}`);
    for (const day of daysFrom(FIRST, shiftDay(FIRST, 10 + Math.floor(random() * 60)))) {
      staff = staff.map((user) => (random() < turnover / 7 ? `${prefix}${hired++}` : user));
      const isIdle = random() < pick(random, [0, 0.3]);
      const active = isIdle ? [] : staff.filter(() => random() < activity);
      if (active.length > 0) this.days.set(day, new Set(active));
    }
  }
}

/** The first page about some days: all rows of up to 100 users, in any order. */
function firstPage(random: Random, days: Team['days'], asked: readonly UtcDay[]): UserDay[] {
  const rows = asked.flatMap((day) => [...(days.get(day) ?? [])].map((userId) => ({ day, userId })));
  const people = [...new Set(rows.map(({ userId }) => userId))];
  const shuffled = people.map((userId) => ({ userId, at: random() })).toSorted((a, b) => a.at - b.at);
  const page = new Set(shuffled.slice(0, PAGE_USERS).map(({ userId }) => userId));
  return rows.filter(({ userId }) => page.has(userId));
}

function isRefused(random: Random, stored: Team['days'], answers: Team['days']): boolean {
  const { range, alone } = daysToCompare([...stored.keys()], pick(random, [1, 7, 31]));
  const days = range.length > 0 ? range : alone;
  const people = new Set(days.flatMap((day) => [...(stored.get(day) ?? [])]));
  const answered = firstPage(random, answers, days);
  const { isForeign } = judgeUsers(answered, ({ day, userId }) => stored.get(day)?.has(userId) === true);
  return isForeign && !areTooFew(people.size);
}

describe('the rule about the users of stored days', () => {
  test('never refuses an honest organization, however it changes and whatever it deletes or adds later', () => {
    const random = seeded('honest organizations');
    let refused = 0;
    for (let world = 0; world < WORLDS; world += 1) {
      const { days } = new Team(random, 'user_');
      const late = random() * 0.1;
      const gone = random();
      // Some users were late when the days were stored, and some have been deleted at the service since.
      const lost = new Set(
        [...days.values()].flatMap((users) => [...users].filter(() => random() < gone / 4)),
      );
      const stored = mapUsers(days, () => random() >= late);
      const answers = mapUsers(days, (user) => !lost.has(user));
      if (isRefused(random, stored, answers)) refused += 1;
    }
    // 60,000 worlds had no false alarm: fewer than 1 in 20,000 with 95 % confidence. With up to half of the user days late for
    // good, 13 of 60,000 had one.
    expect(refused).toBe(0);
  });

  test('refuses every other organization of three people on three of the days', () => {
    const random = seeded('foreign organizations');
    let compared = 0;
    for (let world = 0; world < WORLDS; world += 1) {
      const stored = new Team(random, 'user_').days;
      const others = new Team(random, 'other_').days;
      const { range, alone } = daysToCompare([...stored.keys()], 31);
      const answered = (range.length > 0 ? range : alone).flatMap((day) => [...(others.get(day) ?? [])]);
      const days = (range.length > 0 ? range : alone).filter((day) => others.has(day));
      if (days.length < 3 || new Set(answered).size < 3) continue;
      compared += 1;
      const page = days.flatMap((day) => [...(others.get(day) ?? [])].map((userId) => ({ day, userId })));
      expect(judgeUsers(page, ({ day, userId }) => stored.get(day)?.has(userId) === true).isForeign).toBe(
        true,
      );
    }
    expect(compared).toBeGreaterThan(WORLDS / 4);
  });

  test('decides nothing about two people, two days, or an empty page', () => {
    const row = (day: string, userId: string) => ({ day: parseDay(day), userId });
    const [a, b, c] = ['2026-02-01', '2026-02-02', '2026-02-03'] as const;
    const isForeign = (page: UserDay[]) => judgeUsers(page, () => false).isForeign;
    expect(isForeign([])).toBe(false);
    expect(isForeign([row(a, 'x'), row(b, 'y'), row(c, 'x')])).toBe(false);
    expect(isForeign([row(a, 'x'), row(b, 'y'), row(b, 'z')])).toBe(false);
    expect(isForeign([row(a, 'x'), row(b, 'y'), row(c, 'z')])).toBe(true);
    expect([2, 3].map(areTooFew)).toEqual([true, false]);
  });

  test.each([
    [1, false],
    [2, true],
  ])('recognizes a refused organization by a fifth of its users: %i of 10, %s', (known, expected) => {
    const page = Array.from({ length: 10 }, (_, index) => ({ day: FIRST, userId: `user_${index}` }));
    const { people } = judgeUsers(page, () => false);
    expect(areRefused(people, (userId) => Number(userId.slice(-1)) < known)).toBe(expected);
  });

  test.each([
    [19, true],
    [20, false],
  ])('with %i of 100 rows known, foreign is %s', (known, isForeign) => {
    const page = daysFrom(FIRST, shiftDay(FIRST, 9)).flatMap((day) =>
      Array.from({ length: 10 }, (_, index) => ({ day, userId: `user_${index}` })),
    );
    const stored = new Set(page.slice(0, known));
    expect(judgeUsers(page, (row) => stored.has(row))).toMatchObject({ isForeign, rows: 100, known });
  });

  test('compares the newest stored days that one request covers, else the three newest', () => {
    const daily = daysFrom(FIRST, shiftDay(FIRST, 50));
    expect(daysToCompare(daily, 31).range).toEqual(daily.slice(-31));
    expect(daysToCompare(daily, 7).range).toEqual(daily.slice(-7));
    expect(daysToCompare(daily, 1)).toEqual({ range: [], alone: daily.slice(-3) });
    const monthly = daily.filter((_, index) => index % 20 === 0);
    expect(daysToCompare(monthly, 31)).toEqual({ range: [], alone: monthly });
    expect(daysToCompare(daily.slice(0, 2), 31)).toEqual({ range: [], alone: [] });
    expect(daysToCompare(daily.slice(0, 3), 31).range).toEqual(daily.slice(0, 3));
  });
});

function mapUsers(days: Team['days'], keeps: (user: string) => boolean): Team['days'] {
  const kept = [...days].map(([day, users]) => [day, new Set([...users].filter(keeps))] as const);
  return new Map(kept.filter(([, users]) => users.size > 0));
}
