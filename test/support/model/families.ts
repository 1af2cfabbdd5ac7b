import { DAILY_STREAMS, type DailyStream } from '../../../src/core/stream.ts';
import { pick, type Random } from '../random/seed.ts';
import type { Lie } from './lies.ts';
import { type Behaviour, type Changed, FIRST, HISTORY, nightsFrom, type Timetable } from './life.ts';

const USERS: readonly DailyStream[] = ['users'];
const ALL = DAILY_STREAMS;
const LIGHT: readonly DailyStream[] = ['tools', 'activity', 'productivity'];

function someOf(random: Random): readonly DailyStream[] {
  return pick(random, [ALL, USERS, ['tokens'], ['users', 'tokens'], LIGHT, [pick(random, LIGHT_PICK)]]);
}
const LIGHT_PICK = ['tools', 'activity', 'productivity'] as const;

/** The ways in which single answers are wrong. */
const KINDS = [
  'answers of another day',
  'other numbers of the same users',
  'numbers of users exchanged',
  'a share of the users',
  'one user less',
] as const;

/** A wrong answer about all of history on these nights: the same one each time. */
function wrong(
  nights: readonly number[],
  streams: readonly DailyStream[],
  kind: Lie['kind'] = 'answers of another day',
  more: Partial<Lie> = {},
): Behaviour {
  return {
    lies: nights.map((night) => ({
      ...{ kind, firstNight: night, lastNight: night, streams, isSteady: true },
      ...more,
    })),
  };
}

const later = (night: number, count = 1) => nightsFrom(FIRST + night, count);
const FOR_EVER = nightsFrom(FIRST, 60);

/** Nights on which a run finds the same wrong records. */
const heldNights = (random: Random) => pick(random, [[FIRST], later(9), later(9, 3)]);
/** Recent days only: the last four or the last month. */
const recent = (random: Random) => ({ firstDay: HISTORY - pick(random, [-4, 20]) });

/** Services that lie, by what they do. Afterwards they are honest, unless they lie for ever. */
export const LYING = {
  'lacks a user of every day on the first night': () => wrong([FIRST], USERS, 'one user less'),
  'answers one stream wrongly on the first night': (random) =>
    wrong([FIRST], [pick(random, ALL)], pick(random, KINDS)),
  'answers all streams wrongly, and alike, on the first night': () => wrong([FIRST], ALL),
  'lacks users on the first two nights': (random) =>
    wrong(
      later(0, 2),
      USERS,
      pick(random, ['a share of the users', 'one user less', 'answers of another day']),
    ),
  'answers all streams wrongly, and alike, on the first two nights': () => wrong(later(0, 2), ALL),
  'alternates every night for a month': (random) =>
    wrong(nightsFrom(FIRST + pick(random, [0, 1]), 15, 2), pick(random, [ALL, USERS, LIGHT])),
  'alternates every few nights for a month': (random) => {
    const each = pick(random, [3, 4, 5]);
    const nights = nightsFrom(0, 3).flatMap((turn) => later(5 + 2 * each * turn, each));
    const [week = 0] = daysFrom(random, 1, HISTORY - 20, HISTORY - 10);
    const days = pick(random, [{}, { firstDay: week, lastDay: week + 6 }]);
    return wrong(nights, pick(random, [ALL, LIGHT]), 'other numbers of the same users', days);
  },
  'alternates at random for a month': (random) =>
    wrong(
      later(0, 30).filter(() => random() < 0.5),
      pick(random, [ALL, USERS, LIGHT]),
    ),
  'contradicts itself inside answers': (random) =>
    wrong(heldNights(random), someOf(random), 'a contradiction'),
  'sends values that cannot be true': (random) =>
    wrong(heldNights(random), someOf(random), 'a contradiction', recent(random)),
  'answers for another organization for some nights': (random) =>
    wrong(later(9, 1 + Math.floor(random() * 4)), ALL, 'another organization'),
  'answers for another organization from a night on': () => wrong(later(9, 60), ALL, 'another organization'),
  'loses readiness reports for a night': (random) => ({
    reports: {
      count: pick(random, [5, 12, 19, 40]),
      hidden: { night: 7 * (1 + Math.floor(random() * 4)), share: pick(random, [1, 0.5, 0.1]) },
    },
  }),
  'answers all of history wrongly for one night': (random) => wrong(later(10), someOf(random)),
  'answers all of history wrongly for two nights': (random) => wrong(later(10, 2), someOf(random)),
  'answers all of history wrongly for three nights': (random) => wrong(later(10, 3), someOf(random)),
  'answers all of history wrongly for six nights': (random) => wrong(later(10, 6), someOf(random)),
  'is empty on the first nights': (random) =>
    wrong(later(0, 1 + Math.floor(random() * 5)), ALL, 'empty answers'),
  'answers recent days wrongly for one night': (random) =>
    wrong(
      later(5 + Math.floor(random() * 15)),
      someOf(random),
      pick(random, [...KINDS, 'empty streams']),
      recent(random),
    ),
  'answers recent days wrongly for two nights': (random) =>
    wrong(
      later(5 + Math.floor(random() * 15), 2),
      someOf(random),
      pick(random, [...KINDS, 'empty streams']),
      recent(random),
    ),
  'answers one number of single days wrongly for five nights': (random) => ({
    lies: daysFrom(random, 3, 30, HISTORY - 5).flatMap((day) => {
      const lie = wrong(later(8, 5), [pick(random, ALL)], 'other numbers of the same users', {
        firstDay: day,
        lastDay: day,
      });
      return lie.lies ?? [];
    }),
  }),
  'says one thing of a day in ranges and another one of it alone': (random) => ({
    lies: daysFrom(random, 2, HISTORY - 12, HISTORY - 5).flatMap((day) => {
      const kind = 'numbers exchanged, and otherwise in ranges';
      return wrong(later(5, 8), USERS, kind, { firstDay: day, lastDay: day }).lies ?? [];
    }),
  }),
  'answers differently and wrongly every night for ten nights': (random) => ({
    lies: [
      {
        ...{ kind: 'answers of another day', firstNight: FIRST + 5, lastNight: FIRST + 14 },
        ...{ streams: someOf(random), isSteady: false },
      },
    ],
  }),
  'lacks a user of every day for ever': () => wrong(FOR_EVER, USERS, 'one user less'),
  'answers all streams wrongly, and alike, for ever': () => wrong(FOR_EVER, ALL),
} as const satisfies Readonly<Record<string, (random: Random) => Behaviour>>;

/** So many days, drawn from some. */
const daysFrom = (random: Random, count: number, first: number, last: number) => [
  // A day that is drawn twice would change back and forth.
  ...new Set(nightsFrom(0, count).map(() => first + Math.floor(random() * (last - first)))),
];

/** A day is published late: nobody was active, or only half of the people, until it is so old. */
function late(random: Random, day: number): Changed[] {
  const streams = pick(random, [ALL, USERS, ['tokens'] as const, LIGHT]);
  const as = pick(random, ['nobody', 'half of the people'] as const);
  const age = pick(random, [2, 2, 3, 3, 4, 10]);
  return [
    { days: [day], from: day + 1, streams, as },
    { days: [day], from: day + age, streams, as: 'everybody' },
  ];
}

/** Services that are honest, by what they do. */
export const HONEST = {
  'never changes an answer': () => ({}),
  'publishes days late': (random) => ({
    changed: daysFrom(random, 20, HISTORY - 5, HISTORY + 30).flatMap((day) => late(random, day)),
  }),
  'restates single days': (random) => ({
    changed: daysFrom(random, 6, HISTORY - 95, HISTORY - 5).map((day) => ({
      days: [day],
      from: FIRST + 5 + Math.floor(random() * 20),
      streams: pick(random, [ALL, USERS, LIGHT]),
      as: 'restated',
    })),
  }),
  'corrects a restatement a few nights later': (random) => ({
    changed: daysFrom(random, 6, HISTORY - 95, HISTORY - 5).flatMap((day): Changed[] => {
      const from = FIRST + 5 + Math.floor(random() * 12);
      const streams = pick(random, [ALL, USERS, LIGHT]);
      return [
        { days: [day], from, streams, as: 'restated' },
        { days: [day], from: from + 3 + Math.floor(random() * 6), streams, as: 'restated again' },
      ];
    }),
  }),
  'recalculates one stream some nights later than the others': (random) => ({
    changed: daysFrom(random, 6, HISTORY - 40, HISTORY - 5).flatMap((day): Changed[] => {
      const last = pick(random, ALL);
      const from = FIRST + 5 + Math.floor(random() * 15);
      const others = ALL.filter((stream) => stream !== last);
      const delay = 1 + Math.floor(random() * 4);
      return [
        { days: [day], from, streams: others, as: 'restated' },
        { days: [day], from: from + delay, streams: [last], as: 'restated' },
      ];
    }),
  }),
  'bills a month again': () => ({
    changed: [{ days: nightsFrom(HISTORY - 50, 31), from: FIRST + 12, streams: ALL, as: 'restated' }],
  }),
  'recalculates everything': () => ({
    changed: [{ days: nightsFrom(0, HISTORY), from: FIRST + 12, streams: ALL, as: 'restated' }],
  }),
  'begins in the middle of its history': (random) => ({ idle: [[0, pick(random, [40, 80, HISTORY - 8])]] }),
  'has no activity on its first nights': () => ({ idle: [[0, FIRST + 15]] }),
  'is idle for weeks': (random) => ({
    idle: daysFrom(random, 3, 30, HISTORY + 20).map(
      (day) => [day, day + 14 + Math.floor(random() * 20)] as const,
    ),
  }),
  'deletes single users of single days': (random) => ({
    changed: daysFrom(random, 14, HISTORY - 40, HISTORY + 25).map((day) => ({
      days: [day],
      from: Math.max(day, FIRST) + pick(random, [1, 2, 5]),
      streams: USERS,
      as: 'without one',
    })),
  }),
  'deletes a user from all days': () => ({
    changed: [{ days: nightsFrom(0, FIRST + 10), from: FIRST + 10, streams: USERS, as: 'without one' }],
  }),
  'has readiness reports that people delete': (random) => ({
    reports: {
      count: pick(random, [12, 40]),
      deleted: [
        { night: 10, count: 3 },
        { night: 22, count: 8 },
      ],
    },
  }),
  'publishes figures that never agree': (random) => ({
    changed: [
      {
        days: nightsFrom(0, HISTORY + 45),
        from: 0,
        streams: [pick(random, ['tools', 'tokens', 'productivity'] as const)],
        as: 'other figures',
      },
    ],
  }),
} as const satisfies Readonly<Record<string, (random: Random) => Behaviour>>;

/** Hosts that do not run once each night, or not at the right time, for 35 nights. */
export const HOSTS = {
  'misses nights': (random) => (random() < 0.3 ? [] : [{ hour: 3 }]),
  'runs again on the same day': (random) => [
    { hour: 3 },
    ...(random() < 0.5 ? [{ hour: pick(random, [4, 16]) }] : []),
  ],
  'has a clock that jumps by hours': (random) => [
    { hour: 3, clockHours: random() < 0.6 ? 0 : pick(random, [-13, -6, 6, 13]) },
  ],
  'has a clock that jumps by a day': (random) => [
    { hour: 3, clockHours: random() < 0.6 ? 0 : pick(random, [-25, -24, 24, 25]) },
  ],
  'has a clock that is 40 days ahead on a few nights': (random) => [
    { hour: 3, clockHours: random() < 0.9 ? 0 : 40 * 24 },
  ],
  'has a clock that is 40 days behind on a few nights': (random) => [
    { hour: 3, clockHours: random() < 0.9 ? 0 : -40 * 24 },
  ],
} as const satisfies Readonly<Record<string, Timetable>>;
