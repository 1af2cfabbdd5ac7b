// @module-tag campaign/lies

import { describe, expect, test } from 'vitest';
import { HONEST, HOSTS, LYING } from '../../support/model/families.ts';
import { type Behaviour, type Life, liveWith, type Timetable } from '../../support/model/life.ts';
import { RULES } from '../../support/model/rules.ts';
import type { Random } from '../../support/random/seed.ts';
import { answersMax } from '../../support/suite/campaign-length.ts';

type Behave = (random: Random) => Behaviour;

/** 3,000 lives in all: half of them on hosts that run each night at the same time. */
const FAMILIES = Object.keys(LYING).length + Object.keys(HONEST).length;
const worlds = Math.ceil(answersMax(3_000, FAMILIES) / FAMILIES / 2);
const worldsOfHost = Math.ceil(worlds / Object.keys(HOSTS).length);
/** What was stored of ten days or fewer while the service alternated is looked at five times more, in turn with all of history. */
const NIGHTS: ReadonlyMap<Behave, number> = new Map([[LYING['alternates at random for a month'], 70]]);
const livesOf = (behave: Behave, timetable?: Timetable): Life[] =>
  Array.from({ length: timetable === undefined ? worlds : worldsOfHost }, (_, number) =>
    liveWith(behave, 1_000 + number, { timetable, nights: NIGHTS.get(behave) }),
  );

/** What gets through for some nights, see docs/trust.md: an answer that is wrong in the same way on three nights in a row. */
const SILENT_NIGHTS_MAX: Partial<Record<keyof typeof LYING, number>> = {
  'alternates every few nights for a month': 3,
  'alternates at random for a month': 15,
  'answers all of history wrongly for six nights': 3,
};
const FOR_EVER = 'answers all streams wrongly, and alike, for ever';
const families = Object.entries<Behave>(LYING).filter(([name]) => name !== FOR_EVER);

function expectNamed(name: string, lives: readonly Life[], silentNightsMax = SILENT_NIGHTS_MAX): void {
  for (const life of lives) {
    const silentMax = Object.entries(silentNightsMax).find(([known]) => known === name)?.[1] ?? 0;
    expect(life.silentNights.length).toBeLessThanOrEqual(silentMax);
    expect(life.silentAtEnd).toBe(0);
    if (!name.endsWith('for ever')) expect(life.wrongAtEnd).toBe(0);
  }
}

/**
 * The rules of `src/judge` against families of services, for 45 nights from a first sync of 120 days on. A night is silent if
 * a settled unit is wrong, no state names it, and the run exits with 0.
 */
describe('a service that', () => {
  test.each(families)('%s: nothing is wrong without a name in the end', (name, behave) => {
    expectNamed(name, livesOf(behave));
  });

  test(`${FOR_EVER}: is believed`, () => {
    for (const life of livesOf(LYING[FOR_EVER])) {
      expect(life.settledAfter).toBe(3);
      expect(life.suspectNights).toEqual([]);
      expect(life.silentAtEnd).toBeGreaterThan(0);
    }
  });
});

/** Nights with exit code 5, where an honest service has any, and the first of them. */
const SUSPECT: Partial<Record<keyof typeof HONEST, { readonly max: number; readonly first: number }>> = {
  'bills a month again': { max: 4, first: 13 },
  'recalculates everything': { max: 4, first: 13 },
  'has readiness reports that people delete': { max: 3, first: 22 },
};
/** The night after which history has settled, where it is not the third. */
const SETTLED: Partial<Record<keyof typeof HONEST, number>> = {
  'publishes days late': 10,
  'has no activity on its first nights': 19,
  'deletes single users of single days': 14,
};

function expectCopied(name: string, lives: readonly Life[], later = 0): void {
  const suspect = Object.entries(SUSPECT).find(([known]) => known === name)?.[1];
  for (const life of lives) {
    expect(life.suspectNights.length).toBeLessThanOrEqual(suspect === undefined ? 0 : suspect.max + later);
    if (suspect !== undefined && life.suspectNights.length > 0)
      expect(life.suspectNights[0]).toBeGreaterThanOrEqual(suspect.first);
    expect(life.silentAtEnd).toBe(0);
    expect(life.wrongAtEnd).toBe(0);
  }
}

describe('an honest service that', () => {
  test.each(Object.entries<Behave>(HONEST))('%s: is copied, and does not alarm', (name, behave) => {
    const lives = livesOf(behave);
    expectCopied(name, lives);
    const settled = Object.entries(SETTLED).find(([known]) => known === name)?.[1] ?? 3;
    for (const life of lives) expect(life.settledAfter).toBeLessThanOrEqual(settled);
  });
});

/** Nights by which a wait may be longer where runs come at wrong times: some of them are no further look, or look elsewhere. */
const LATER = 2;
const SILENT_ON_HOSTS_MAX: typeof SILENT_NIGHTS_MAX = {
  ...SILENT_NIGHTS_MAX,
  'alternates every few nights for a month': 3 + LATER,
  // Where nights are missed, first looks may fall into the eight nights of this lie, so that they all find the same.
  'says one thing of a day in ranges and another one of it alone': 6,
};

describe.each(Object.entries<Timetable>(HOSTS))('on a host that %s', (_, timetable) => {
  test.each(families)('a service that %s leaves nothing wrong without a name', (name, behave) => {
    expectNamed(name, livesOf(behave, timetable), SILENT_ON_HOSTS_MAX);
  });

  test.each(Object.entries<Behave>(HONEST))(
    'an honest service that %s is copied, and does not alarm',
    (name, behave) => {
      expectCopied(name, livesOf(behave, timetable), LATER);
    },
  );
});

/** These show that the campaign can fail. */
test('lives with ranges that lie otherwise than single days go wrong if such an answer is believed', () => {
  const behave = LYING['says one thing of a day in ranges and another one of it alone'];
  const life = liveWith(behave, 1_000, {
    rules: { ...RULES, isOtherThanLooked: () => false },
  });
  expect(life.silentNights).not.toEqual([]);
});

test('lives with a wrong number for some nights go wrong if no identity counts', () => {
  const behave = LYING['answers one number of single days wrongly for five nights'];
  const life = liveWith(behave, 1_000, {
    rules: { ...RULES, countIdentities: () => [] },
  });
  expect(life.silentNights).not.toEqual([]);
});
