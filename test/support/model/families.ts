import { DAILY_STREAMS, type DailyStream } from '../../../src/core/stream.ts';
import { parseNotes } from '../../../src/judge/notes.ts';
import { openStatesOf } from '../../../src/status/open-states.ts';
import { pick, type Random, sequence } from '../random/seed.ts';
import { isSame, type Person } from './content.ts';
import type { Lie } from './lies.ts';
import { Memory } from './memory.ts';
import { ModelRun } from './nightly.ts';
import { RULES } from './rules.ts';
import { type DayHistory, dayAt, type Run, type Said, Truth, type World } from './world.ts';

/** Days of history before the first night. */
const HISTORY = 120;
/** The first night. */
const FIRST = HISTORY + 1;
const NIGHTS = 45;

/** What a service does beyond answering the same every night. */
export interface Behaviour {
  readonly lies?: readonly Partial<Lie>[];
  /** Days that are answered with other people from a night on, in these streams. */
  readonly restated?: readonly {
    readonly days: readonly number[];
    readonly from: number;
    readonly streams: readonly DailyStream[];
  }[];
}

const USERS: readonly DailyStream[] = ['users'];
const ALL = DAILY_STREAMS;
const LIGHT: readonly DailyStream[] = ['tools', 'activity', 'productivity'];

function someOf(random: Random): readonly DailyStream[] {
  return pick(random, [ALL, USERS, LIGHT, [pick(random, ALL)]]);
}

/** A wrong answer about all of history on these nights: the same one each time. */
function wrong(
  nights: readonly number[],
  streams: readonly DailyStream[],
  kind: Lie['kind'] = 'answers of another day',
) {
  return nights.map((night) => ({ kind, firstNight: night, lastNight: night, streams, isSteady: true }));
}

const nightsFrom = (first: number, count: number, step = 1) =>
  Array.from({ length: count }, (_, index) => first + index * step);

/** Services that lie, by what they do. Afterwards they are honest. */
export const LYING = {
  'answers one stream wrongly on the first night': (random) => ({
    lies: wrong([FIRST], [pick(random, ALL)]),
  }),
  'answers all streams wrongly, and alike, on the first night': () => ({ lies: wrong([FIRST], ALL) }),
  'lacks users on the first two nights': () => ({
    lies: wrong([FIRST, FIRST + 1], USERS, 'a share of the users'),
  }),
  'answers all streams wrongly, and alike, on the first two nights': () => ({
    lies: wrong([FIRST, FIRST + 1], ALL),
  }),
  'alternates every night for a month': (random) => ({
    lies: wrong(nightsFrom(FIRST + pick(random, [0, 1]), 15, 2), pick(random, [ALL, USERS, LIGHT])),
  }),
  'answers all of history wrongly for one night': (random) => ({ lies: wrong([FIRST + 10], someOf(random)) }),
  'answers all of history wrongly for two nights': (random) => ({
    lies: wrong([FIRST + 10, FIRST + 11], someOf(random)),
  }),
  'answers recent days wrongly for two nights': (random) => ({
    lies: wrong([FIRST + 9, FIRST + 10], someOf(random)).map((lie) => ({ ...lie, firstDay: HISTORY - 20 })),
  }),
  'answers differently and wrongly every night for ten nights': (random) => ({
    lies: [
      {
        kind: 'answers of another day',
        firstNight: FIRST + 5,
        lastNight: FIRST + 14,
        streams: someOf(random),
        isSteady: false,
      },
    ],
  }),
} as const satisfies Readonly<Record<string, (random: Random) => Behaviour>>;

/** Services that are honest, by what they do. */
export const HONEST = {
  'never changes an answer': () => ({}),
  'restates single days': (random) => ({
    restated: nightsFrom(0, 6).map(() => ({
      days: [HISTORY - 5 - Math.floor(random() * 90)],
      from: FIRST + 5 + Math.floor(random() * 20),
      streams: pick(random, [ALL, USERS, LIGHT]),
    })),
  }),
  'bills a month again': () => ({
    restated: [{ days: nightsFrom(HISTORY - 50, 31), from: FIRST + 12, streams: ALL }],
  }),
  'recalculates everything': () => ({
    restated: [{ days: nightsFrom(0, HISTORY), from: FIRST + 12, streams: ALL }],
  }),
} as const satisfies Readonly<Record<string, (random: Random) => Behaviour>>;

/** What a life of 45 nights showed. */
export interface Life {
  /** Nights on which a settled unit was wrong, no state named it, and the run exited with 0. */
  readonly silentNights: readonly number[];
  /** Settled units that are wrong after the last night. */
  readonly wrongAtEnd: number;
  /** Nights that ended with exit code 5. */
  readonly suspectNights: readonly number[];
  /** The night after which all but the young days had settled; null if none. */
  readonly settledAfter: number | null;
  /** The last night on which a settled unit was wrong; 0 if none was. */
  readonly lastWrong: number;
  readonly requests: readonly number[];
}

/** Lives through 45 nights with a service, from a first sync on. The same for the same seed. */
export function liveWith(behaviour: (random: Random) => Behaviour, seed: number): Life {
  const world = worldOf(behaviour(sequence(seed)), seed);
  const memory = new Memory(RULES);
  const truth = new Truth(world);
  const model = { world, truth, memory, rules: RULES, random: sequence(seed + 1) };
  const life = { silentNights: [] as number[], suspectNights: [] as number[], requests: [] as number[] };
  let settledAfter: number | null = null;
  let lastWrong = 0;
  let wrongAtEnd = 0;
  for (const [index, run] of world.runs.entries()) {
    const night = new ModelRun(model, run);
    night.perform();
    life.requests.push(night.requests);
    const bad = wrongUnits(memory, truth, run.night);
    wrongAtEnd = bad.length;
    if (bad.length > 0) lastWrong = index + 1;
    if (night.isSuspect) life.suspectNights.push(index + 1);
    else if (bad.some(({ isNamed }) => !isNamed)) life.silentNights.push(index + 1);
    if (settledAfter === null && isAllSettled(memory, run.night)) settledAfter = index + 1;
  }
  return { ...life, wrongAtEnd, settledAfter, lastWrong };
}

function wrongUnits(memory: Memory, truth: Truth, night: number): { readonly isNamed: boolean }[] {
  return Array.from({ length: night }, (_, day) => day).flatMap((day) =>
    DAILY_STREAMS.flatMap((stream) => {
      const unit = memory.unit(stream, dayAt(day));
      if (unit.settledAt === null) return [];
      if (isSame(memory.content(stream, dayAt(day)), truth.of(stream, day, night))) return [];
      const facts = { units: [unit], records: [], isNeverActive: false, today: dayAt(night) };
      const isNamed = openStatesOf(facts).length > 0 || parseNotes(unit.watch).noted !== undefined;
      return [{ isNamed: isNamed || unit.confirmed === 'age' }];
    }),
  );
}

function isAllSettled(memory: Memory, night: number): boolean {
  return Array.from({ length: HISTORY - 3 }, (_, day) => day).every(
    (day) =>
      day < night && DAILY_STREAMS.every((stream) => memory.unit(stream, dayAt(day)).settledAt !== null),
  );
}

function worldOf({ lies = [], restated = [] }: Behaviour, seed: number): World {
  const random = sequence(seed + 2);
  const lastNight = FIRST + NIGHTS - 1;
  const days = Array.from({ length: lastNight }, (_, day): DayHistory => {
    const people = peopleOf(random, day);
    const others = peopleOf(random, day);
    const saidBy = (stream: DailyStream): Said[] => [
      { from: day + 1, people },
      ...restated.flatMap(({ days: which, from, streams }) =>
        which.includes(day) && streams.includes(stream) ? [{ from, people: restatedAs(people, others) }] : [],
      ),
    ];
    return {
      tokens: saidBy('tokens'),
      tools: saidBy('tools'),
      activity: saidBy('activity'),
      productivity: saidBy('productivity'),
      users: saidBy('users'),
    };
  });
  const whole = { firstDay: 0, lastDay: lastNight, inSums: true, isSteady: true };
  return {
    seed,
    days,
    zeroRows: false,
    lies: lies.map(
      (lie, index): Lie => ({
        ...{ kind: 'answers of another day', firstNight: 0, lastNight: 0, streams: ALL },
        ...whole,
        ...{ seed: seed + (lie.isSteady === false ? index : 0) },
        ...lie,
      }),
    ),
    rangeMax: 31,
    watchDays: 31,
    sums: pick(random, ['by-model', 'by-model', 'refused']),
    broken: new Set(),
    malformed: new Set(),
    runs: nightsFrom(FIRST, NIGHTS).map(
      (night): Run => ({
        night,
        hour: 3,
        force: false,
        acceptLoss: false,
        killedAfter: null,
        failing: 0,
        streams: ALL,
      }),
    ),
    quietFrom: lastNight,
  };
}

/** Restated numbers of the same people: nobody is lost. */
function restatedAs(people: readonly Person[], others: readonly Person[]): Person[] {
  return people.map((who, index) => ({
    ...who,
    sessions: (others[index]?.sessions ?? 0) + 10,
    tools: who.tools + 1,
  }));
}

/** Weekends are idle. */
function peopleOf(random: Random, day: number): Person[] {
  const count = day % 7 >= 5 ? 0 : 5 + Math.floor(random() * 4);
  return Array.from({ length: count }, (_, id) => ({
    id,
    sessions: 1 + Math.floor(random() * 9),
    tools: 1 + Math.floor(random() * 9),
    files: 1 + Math.floor(random() * 9),
    tokens: 1 + Math.floor(random() * 99),
    model: random() < 0.7 ? 'a' : 'b',
  }));
}
