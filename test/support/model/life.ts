import { dayOf, daysBetween, type UtcDay } from '../../../src/core/day.ts';
import { DAILY_STREAMS, type DailyStream } from '../../../src/core/stream.ts';
import { isMostMissing, weighReports } from '../../../src/judge/missing-reports.ts';
import { parseNotes } from '../../../src/judge/notes.ts';
import { openStatesOf } from '../../../src/status/open-states.ts';
import { pick, type Random, sequence } from '../random/seed.ts';
import { isSame, type Person } from './content.ts';
import type { Lie } from './lies.ts';
import { Memory } from './memory.ts';
import { ModelRun } from './nightly.ts';
import { RULES, type Rules } from './rules.ts';
import { type DayHistory, dayAt, type Run, type Said, Truth, timeOf, type World } from './world.ts';

/** Days of history before the first night. */
export const HISTORY = 120;
/** The first night. */
export const FIRST = HISTORY + 1;
const NIGHTS = 45;
/** So many nights of a host that does not run at the same time each night, … */
const UNSTEADY_NIGHTS = 35;
/** … of so many: a missed night, or a run at a wrong time, makes everything later. */
const UNSTEADY_LIFE = 55;

/** Honest answers about some days from a night on, in these streams. */
export interface Changed {
  readonly days: readonly number[];
  readonly from: number;
  readonly streams: readonly DailyStream[];
  readonly as: keyof typeof CHANGES;
}

/** What a service does beyond answering the same every night. */
export interface Behaviour {
  readonly lies?: readonly Partial<Lie>[];
  readonly changed?: readonly Changed[];
  /** Days without activity: from the first to before the second. */
  readonly idle?: readonly (readonly [from: number, until: number])[];
  /** Its readiness reports; nights count from 1. */
  readonly reports?: {
    readonly count: number;
    /** A share of them is not listed for one night. */
    readonly hidden?: { readonly night: number; readonly share: number };
    readonly deleted?: readonly { readonly night: number; readonly count: number }[];
  };
}

/** What the people of a day become. */
const CHANGES = {
  everybody: (people) => [...people],
  nobody: () => [],
  'half of the people': (people) => people.slice(0, Math.ceil(people.length / 2)),
  /** A day whose only user is deleted would be a loss. */
  'without one': (people) => (people.length > 1 ? people.slice(1) : [...people]),
  /** Other numbers of the same people: nobody is lost. */
  restated: (people, others) =>
    people.map((who, index) => ({
      ...who,
      sessions: (others[index]?.sessions ?? 0) + 10,
      tools: who.tools + 1,
      files: who.files + 2,
    })),
  'restated again': (people, others) =>
    people.map((who, index) => ({
      ...who,
      sessions: (others[index]?.sessions ?? 0) + 20,
      tools: who.tools + 3,
      files: who.files + 5,
    })),
  'other figures': (people) =>
    people.map((who) => ({ ...who, tools: who.tools + 1, files: who.files + 1, tokens: who.tokens + 1 })),
} as const satisfies Record<string, (people: readonly Person[], others: readonly Person[]) => Person[]>;

/** The runs of a night, which counts from 1; none if it was missed. */
export type Timetable = (random: Random, night: number) => readonly Pick<Run, 'hour' | 'clockHours'>[];

const everyNight: Timetable = () => [{ hour: 3 }];

/** What a life showed. Nights count from 1. */
export interface Life {
  /** Nights on which a settled unit was wrong, no state named it, and the run exited with 0. */
  readonly silentNights: readonly number[];
  /** Settled units that are wrong after the last night, … */
  readonly wrongAtEnd: number;
  /** … and those of them that nothing names. */
  readonly silentAtEnd: number;
  /** Nights that ended with exit code 5. */
  readonly suspectNights: readonly number[];
  /** The night after which all but the young days had settled; null if none. */
  readonly settledAfter: number | null;
  /** The last night on which a settled unit was wrong; 0 if none was. */
  readonly lastWrong: number;
}

/** Lives through some nights with a service, 45 unless told, or 55 with a timetable, from a first sync on. The same for the same seed. */
export function liveWith(
  behave: (random: Random) => Behaviour,
  seed: number,
  {
    rules = RULES,
    timetable,
    nights = timetable === undefined ? NIGHTS : UNSTEADY_LIFE,
  }: {
    readonly rules?: Rules;
    readonly timetable?: Timetable | undefined;
    readonly nights?: number | undefined;
  } = {},
): Life {
  const behaviour = behave(sequence(seed));
  const runs = runsOf(timetable, nights, sequence(seed + 3));
  if (behaviour.reports !== undefined) return liveWithReports(behaviour.reports, runs);
  const world = worldOf(behaviour, seed, runs);
  const memory = new Memory(rules);
  memory.activeSince = null;
  const truth = new Truth(world);
  const model = { world, truth, memory, rules, random: sequence(seed + 1) };
  const life = { silentNights: [] as number[], suspectNights: [] as number[] };
  const end = { settledAfter: null as number | null, lastWrong: 0, wrongAtEnd: 0, silentAtEnd: 0 };
  for (const run of runs) {
    const number = run.night - FIRST + 1;
    const night = new ModelRun(model, run);
    night.perform();
    const bad = wrongUnits(memory, truth, run.night);
    const silent = night.isSuspect ? 0 : bad.filter(({ isNamed }) => !isNamed).length;
    if (bad.length > 0) end.lastWrong = number;
    if (night.isSuspect && life.suspectNights.at(-1) !== number) life.suspectNights.push(number);
    if (silent > 0 && life.silentNights.at(-1) !== number) life.silentNights.push(number);
    [end.wrongAtEnd, end.silentAtEnd] = [bad.length, silent];
    if (end.settledAfter === null && isAllSettled(memory, run.night)) end.settledAfter = number;
  }
  return { ...life, ...end };
}

function runsOf(timetable: Timetable | undefined, nights: number, random: Random): Run[] {
  const timesOf = timetable ?? everyNight;
  return nightsFrom(1, nights).flatMap((night) =>
    (night > UNSTEADY_NIGHTS ? everyNight : timesOf)(random, night).map((time) => ({
      ...{ night: FIRST + night - 1, ...time, force: false, acceptLoss: false },
      ...{ killedAfter: null, failing: 0, streams: DAILY_STREAMS },
    })),
  );
}

/** The list is read in full every seven days, and in every run while a report is missing. */
function liveWithReports(
  { count, hidden, deleted = [] }: NonNullable<Behaviour['reports']>,
  runs: readonly Run[],
): Life {
  const ids = nightsFrom(0, count).map((id) => `r${id}`);
  const stored = new Set<string>();
  const life = { silentNights: [] as number[], suspectNights: [] as number[] };
  let standing: ReturnType<typeof weighReports>['doubt'] = null;
  let lacking = 0;
  let readOn: UtcDay | null = null;
  for (const run of runs) {
    const night = run.night - FIRST + 1;
    const now = timeOf(run);
    const gone = deleted.reduce((sum, each) => sum + (each.night <= night ? each.count : 0), 0);
    const listed = ids.slice(gone);
    const age = readOn === null ? 7 : daysBetween(readOn, dayOf(now));
    const isFresh = age >= 0 && age < 7;
    if (!isFresh || standing !== null) {
      readOn = dayOf(now);
      const isHidden = hidden?.night === night - 1;
      const seen = isHidden ? listed.slice(Math.ceil(hidden.share * listed.length)) : listed;
      const missing = [...stored].filter((id) => !seen.includes(id));
      const loss = { missing, stored: stored.size };
      for (const id of seen) stored.add(id);
      const weighed = weighReports(standing, loss, { now, acceptsLoss: false });
      for (const id of weighed.gone) stored.delete(id);
      standing = weighed.doubt;
    }
    const isSuspect = standing !== null && isMostMissing(standing);
    if (isSuspect && life.suspectNights.at(-1) !== night) life.suspectNights.push(night);
    lacking = listed.filter((id) => !stored.has(id)).length;
    if (lacking > 0 && standing === null) life.silentNights.push(night);
  }
  const wrongAtEnd =
    lacking + (stored.size - ids.length + deleted.reduce((sum, each) => sum + each.count, 0));
  return {
    ...life,
    wrongAtEnd,
    silentAtEnd: standing === null ? wrongAtEnd : 0,
    settledAfter: 3,
    lastWrong: 0,
  };
}

function wrongUnits(memory: Memory, truth: Truth, night: number): { readonly isNamed: boolean }[] {
  return nightsFrom(0, night).flatMap((day) =>
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
  return nightsFrom(0, HISTORY - 3).every(
    (day) =>
      day < night && DAILY_STREAMS.every((stream) => memory.unit(stream, dayAt(day)).settledAt !== null),
  );
}

function worldOf(
  { lies = [], changed = [], idle = [] }: Behaviour,
  seed: number,
  runs: readonly Run[],
): World {
  const random = sequence(seed + 2);
  const lastNight = runs.at(-1)?.night ?? FIRST;
  const days = nightsFrom(0, lastNight).map((day): DayHistory => {
    const isIdle = idle.some(([from, until]) => from <= day && day < until);
    const [drawn, others] = [peopleOf(random, day), peopleOf(random, day)];
    const people = isIdle ? [] : drawn;
    const about = changed.filter((each) => each.days.includes(day));
    const saidBy = (stream: DailyStream): Said[] =>
      [
        { from: day + 1, people },
        ...about.flatMap(({ from, streams, as }) =>
          streams.includes(stream)
            ? [{ from: Math.max(from, day + 1), people: CHANGES[as](people, others) }]
            : [],
        ),
      ].toSorted((a, b) => a.from - b.from);
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
        ...{ kind: 'answers of another day', firstNight: 0, lastNight: 0, streams: DAILY_STREAMS },
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
    checksOrganization: true,
    runs,
    quietFrom: lastNight,
  };
}

/** So many numbers from a first one on. */
export function nightsFrom(first: number, count: number, step = 1): number[] {
  return Array.from({ length: count }, (_, index) => first + index * step);
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
