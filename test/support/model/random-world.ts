import { DAILY_STREAMS, type DailyStream } from '../../../src/core/stream.ts';
import { pick, type Random, sequence } from '../random/seed.ts';
import type { Person } from './content.ts';
import { LIES, type Lie } from './lies.ts';
import type { DayHistory, Run, Said, World } from './world.ts';

/** Honest nights after the last lie, after which all settled units must be right. */
const QUIET_NIGHTS = 35;
/** Nights with possible lies, changes and failures. */
const UNQUIET_NIGHTS = 16;

/** Draws a random world; the same for the same seed. */
export function randomWorld(seed: number): World {
  const random = sequence(seed);
  const firstNight = random() < 0.2 ? within(random, 40, 80) : within(random, 4, 30);
  const lies = Array.from({ length: within(random, 0, 3) }, () => randomLie(random, firstNight));
  const lastLie = Math.max(0, ...lies.map(({ lastNight }) => lastNight));
  const quietFrom = Math.max(lastLie + 1, firstNight + within(random, 2, UNQUIET_NIGHTS));
  const lastNight = quietFrom + QUIET_NIGHTS;
  const zeroShare = pick(random, [0, 0.1, 0.4]);
  const crowd = random() < 0.15 ? 24 : within(random, 1, 7);
  const unsteady = pick(random, [0, 0.05, 0.3]);
  const days = Array.from({ length: lastNight }, (_, day) =>
    randomDay(random, { day, quietFrom, firstNight, crowd: random() < zeroShare ? 0 : crowd, unsteady }),
  );
  if (random() < 0.15) deleteSome(random, days, { firstNight, quietFrom });
  return {
    seed,
    days,
    zeroRows: random() < 0.5,
    lies,
    rangeMax: pick(random, [1, 2, 5, 31, 31, 31]),
    watchDays: pick(random, [31, 31, 10]),
    sums: pick(random, ['by-model', 'by-model', 'other', 'refused']),
    broken: someUnits(random, lastNight),
    malformed: someUnits(random, lastNight),
    runs: randomRuns(random, { firstNight, quietFrom, lastNight }),
    quietFrom,
  };
}

/** Picks few units of few worlds, for example `tools 3`. */
function someUnits(random: Random, days: number): ReadonlySet<string> {
  const count = random() < 0.1 ? within(random, 1, 2) : 0;
  return new Set(
    Array.from({ length: count }, () => `${pick(random, DAILY_STREAMS)} ${within(random, 0, days)}`),
  );
}

function within(random: Random, least: number, most: number): number {
  return least + Math.floor(random() * (most - least + 1));
}

function someStreams(random: Random): DailyStream[] {
  if (random() < 0.35) return [...DAILY_STREAMS];
  const share = 0.2 + random() * 0.6;
  const chosen = DAILY_STREAMS.filter(() => random() < share);
  return chosen.length === 0 ? [pick(random, DAILY_STREAMS)] : chosen;
}

function randomLie(random: Random, since: number): Lie {
  const firstNight = since + within(random, 0, 12);
  const nights = random() < 0.4 ? 1 : within(random, 2, 20);
  const lastDay = random() < 0.4 ? firstNight : within(random, 0, firstNight);
  return {
    kind: pick(random, LIES),
    firstNight,
    lastNight: firstNight + nights - 1,
    streams: someStreams(random),
    firstDay: random() < 0.3 ? 0 : Math.max(0, lastDay - within(random, 0, 10)),
    lastDay: random() < 0.3 ? firstNight + nights : lastDay,
    isSteady: random() < 0.6,
    inSums: random() < 0.5,
    seed: within(random, 0, 1e9),
  };
}

interface DayOptions {
  readonly day: number;
  readonly firstNight: number;
  readonly quietFrom: number;
  readonly crowd: number;
  /** Share of the days that are late, partial, restated or deleted. */
  readonly unsteady: number;
}

function randomDay(random: Random, options: DayOptions): DayHistory {
  const { day, crowd, unsteady } = options;
  const people = randomPeople(random, crowd);
  const unnamed = random() < 0.02 && people.length > 0 ? 1 : 0;
  const said = DAILY_STREAMS.map((stream): [DailyStream, Said[]] => [
    stream,
    [{ from: day + 1, people, unnamed }],
  ]);
  const history = new Map(said);
  if (random() < unsteady) change(random, history, options, people);
  return {
    tokens: history.get('tokens') ?? [],
    tools: history.get('tools') ?? [],
    activity: history.get('activity') ?? [],
    productivity: history.get('productivity') ?? [],
    users: history.get('users') ?? [],
  };
}

function randomPeople(random: Random, crowd: number): Person[] {
  const isIdleOfFiles = random() < 0.1;
  return Array.from({ length: crowd + Math.round((random() - 0.5) * crowd * 0.5) }, (_, id) => ({
    id,
    sessions: within(random, 1, 9),
    tools: within(random, 0, 9),
    files: isIdleOfFiles ? 0 : within(random, 0, 9),
    tokens: within(random, 1, 99),
    model: random() < 0.7 ? 'a' : 'b',
  }));
}

/** The honest histories of a day: published late or in parts, restated, deleted. */
function change(
  random: Random,
  history: Map<DailyStream, Said[]>,
  { day, firstNight, quietFrom }: DayOptions,
  people: readonly Person[],
): void {
  // Changes before the first run look like the original content.
  const from = Math.min(quietFrom - 1, Math.max(day + 1, firstNight) + within(random, 1, 20));
  if (from <= day + 1) return;
  const streams = someStreams(random);
  const kind = pick(random, ['late', 'partial', 'restated', 'restated', 'shuffled', 'deleted']);
  const part = people.filter(() => random() < 0.5);
  const others =
    kind === 'deleted' ? [] : randomPeople(random, Math.max(1, people.length - 1 + within(random, 0, 2)));
  for (const [stream, [first]] of history) {
    if (first === undefined || (kind !== 'shuffled' && !streams.includes(stream))) continue;
    if (kind === 'late') history.set(stream, [{ ...first, from }]);
    else if (kind === 'partial')
      history.set(stream, [
        { ...first, people: part },
        { ...first, from },
      ]);
    else if (kind === 'shuffled') {
      if (stream === 'users') history.set(stream, [first, { ...first, from, people: shuffled(people) }]);
    } else history.set(stream, [first, { from, people: others }]);
  }
}

/** The same totals, from other users. */
function shuffled(people: readonly Person[]): Person[] {
  return people.map((who, index) => ({ ...who, sessions: people.at(index - 1)?.sessions ?? 1 }));
}

/** Several consecutive days are missing in some streams. */
function deleteSome(
  random: Random,
  days: DayHistory[],
  { firstNight, quietFrom }: Pick<DayOptions, 'firstNight' | 'quietFrom'>,
): void {
  const from = within(random, firstNight + 1, quietFrom - 1);
  const first = within(random, 0, Math.max(0, from - 8));
  const streams = someStreams(random);
  for (let day = first; day < Math.min(first + within(random, 2, 8), from - 1); day += 1) {
    const history = days[day];
    if (history === undefined) continue;
    const gone = streams.map((stream) => [
      stream,
      [...history[stream].filter((said) => said.from < from), { from, people: [] }],
    ]);
    days[day] = { ...history, ...Object.fromEntries(gone) };
  }
}

function randomRuns(
  random: Random,
  { firstNight, quietFrom, lastNight }: { firstNight: number; quietFrom: number; lastNight: number },
): Run[] {
  const [missed, killed, forced, accepting, failing] = [0.15, 0.1, 0.05, 0.05, 0.1].map((share) =>
    random() < 0.5 ? share : 0,
  );
  const runs: Run[] = [];
  for (let night = firstNight; night <= lastNight; night += 1) {
    const isQuiet = night >= quietFrom;
    const happens = (share = 0) => !isQuiet && random() < share;
    if (happens(missed)) continue;
    const hours = happens(0.1) ? [within(random, 0, 11), within(random, 12, 23)] : [within(random, 0, 5)];
    for (const hour of hours) {
      runs.push({
        night,
        hour,
        force: happens(forced),
        acceptLoss: happens(accepting),
        killedAfter: happens(killed) ? within(random, 0, 60) : null,
        failing: happens(failing) ? 0.2 : 0,
        streams: happens(0.03) ? someStreams(random) : DAILY_STREAMS,
      });
    }
  }
  return runs;
}
