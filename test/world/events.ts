import { pick, type Random, sequence } from '../support/random/seed.ts';
import { type Night, RETAIN_DAYS, STREAMS, type Stream, truthOf } from './truth.ts';

/** What the service publishes for good, and when: later nights are honest about it. */
const HONEST = ['late', 'partial', 'restated', 'user-gone'] as const;
/** What it publishes for some nights although it is not so. */
const LIES = [
  'empty',
  'stale',
  'wrong-numbers',
  'lacks-user',
  'lacks-turns',
  'user-replaced',
  'lacks-report',
  'flapping',
  'trimmed-ranges',
  'other-organization',
  'other-users',
  'contradiction',
  'impossible',
] as const;
/** What it does not answer. */
const FAILURES = ['outage', 'flaky', 'limited', 'reset', 'key-refused'] as const;
/** What befalls the machine. */
const BLOWS = [
  'killed',
  'killed-in-request',
  'disk-full',
  'missed',
  'twice',
  'clock-ahead',
  'clock-behind',
] as const;
/** How people run it. */
const WISHES = ['force', 'accept-loss', 'few-requests'] as const;
/** What people do in the morning. */
export const ACTS = [
  'people',
  'prices',
  'erase',
  'policy',
  'backup',
  'restore',
  'copy',
  'replay',
  'publish',
  'lost-volume',
  'retain',
  'accept-quarantine',
  'upgrade',
] as const;

/** All kinds of events. */
export const KINDS = [...HONEST, ...LIES, ...FAILURES, ...BLOWS, ...WISHES, ...ACTS] as const;
export type Kind = (typeof KINDS)[number];

const includes = <Item extends string>(items: readonly Item[], item: string): item is Item =>
  items.some((one) => one === item);
export const isHonest = (kind: Kind) => includes(HONEST, kind);
export const isLie = (kind: Kind) => includes(LIES, kind);
export const isFailure = (kind: Kind) => includes(FAILURES, kind);

/** Something that happens in a world. Each can be left out alone. */
export interface Event {
  readonly kind: Kind;
  /** The first and the last night of it. */
  readonly from: Night;
  readonly until: Night;
  readonly streams: readonly Stream[];
  readonly firstDay: number;
  readonly lastDay: number;
  /** Any number that decides the rest, such as the write at which the process is killed. */
  readonly salt: number;
}

/** A world: an organization, and what happens. */
export interface World {
  readonly seed: number;
  readonly events: readonly Event[];
  /** The first night without anything that disturbs. */
  readonly quietFrom: Night;
  /** The last night, by which all is settled and true. */
  readonly lastNight: Night;
}

/** Nights with events. */
const UNQUIET_NIGHTS = 12;
/** Honest nights after which everything must be settled; longer where a rule of trust waits for longer. */
const QUIET_NIGHTS = 10;
const QUIET_NIGHTS_AFTER_LIES = 22;
const QUIET_NIGHTS_AFTER_LONG_LIES = 35;
const EVENTS = [0, 0, 1, 1, 2, 3, 4] as const;
/** Most lies last for a night or two, as those of caches and replicas do. */
const LENGTHS = [1, 1, 1, 2, 2, 3, 4] as const;
/** In one of so many worlds, lies last for weeks. */
const LONG_EVERY = 16;
const LONG_LENGTHS = [7, 14, 30] as const;

/** Lies that are most dangerous at the age at which a day settles. */
const AIMED = ['wrong-numbers', 'empty', 'stale', 'lacks-user', 'lacks-turns', 'user-replaced'] as const;
/** Looks of a lie that is one look too short to be believed (docs/trust.md), and the age at which its days have settled then. */
const AIMED_NIGHTS = 2;
const AIMED_AGE = 2;

/** Draws the world of a seed. @param only keeps these events alone, by their number. @default all */
export function drawWorld(seed: number, only?: readonly number[]): World {
  const { firstNight } = truthOf(seed);
  const random = sequence(seed ^ 0x5eed);
  // The first two kinds are the turn of a pair, so that all pairs meet; what else happens is drawn.
  const kinds = [
    ...pairOfTurn(seed),
    ...Array.from({ length: pick(random, EVENTS) }, () => pick(random, KINDS)),
    ...(firstNight >= RETAIN_DAYS ? (['retain'] as const) : []),
  ];
  const alone = kinds.map((kind) => drawEvent(random, kind, { seed, firstNight }));
  // Half of the pairs begin together: most defects are found where two things meet in one night.
  const [first, second] = alone;
  const met =
    first === undefined || second === undefined || random() < 0.5
      ? alone
      : alone.with(1, movedTo(second, first));
  const drawn = random() < 0.5 ? met : [...met, aim(random, pick(random, AIMED), firstNight)];
  return worldOf(seed, only === undefined ? drawn : drawn.filter((_, index) => only.includes(index)));
}

/** A world of these events. */
export function worldOf(seed: number, events: readonly Event[]): World {
  const quietFrom = Math.max(truthOf(seed).firstNight, ...events.map(lastNightOf)) + 1;
  const needsLong = events.some(({ kind }) => isLie(kind) || isHonest(kind));
  const afterLies = hasLongLies(seed) ? QUIET_NIGHTS_AFTER_LONG_LIES : QUIET_NIGHTS_AFTER_LIES;
  return { seed, events, quietFrom, lastNight: quietFrom + (needsLong ? afterLies : QUIET_NIGHTS) };
}

/** The first night with all of a day that is published late. */
export function lateNight({ salt }: Event, day: number): Night {
  return day + 2 + (salt % 3);
}

function lastNightOf(event: Event): Night {
  const { kind, until, lastDay } = event;
  return kind === 'late' || kind === 'partial' ? Math.max(until, lateNight(event, lastDay)) : until;
}

/** What an honest service does to days that it has published. */
export const CHANGES: ReadonlySet<Kind> = new Set<Kind>(['late', 'partial', 'restated', 'user-gone']);

/** So many days differ by chance. */
const CHANGED_DAYS_FEW = 10;

/** How many units an event changes, if that is a mass by docs/trust.md; else zero. Each of them is pulled again in one night. */
export function unitsOfMass({ kind, firstDay, lastDay, streams }: Event, night: Night): number {
  const days = Math.min(lastDay, night) - firstDay;
  return CHANGES.has(kind) && days > CHANGED_DAYS_FEW ? days * streams.length : 0;
}

/** A pair of kinds; after as many seeds as there are pairs, each has come once. */
function pairOfTurn(seed: number): readonly [Kind, Kind] {
  const pairs = KINDS.length * (KINDS.length + 1) * 0.5;
  // A stride without a common divisor, so that neighbouring worlds differ.
  let turn = (seed * 7_919) % pairs;
  for (const [index, kind] of KINDS.entries()) {
    const other = KINDS[index + turn];
    if (other !== undefined) return [kind, other];
    turn -= KINDS.length - index;
  }
  throw new Error(`there is no pair for ${seed}`);
}

/** An event that begins with another one, or a night later. */
function movedTo(event: Event, { from, salt }: Event): Event {
  const by = from + (salt % 2) - event.from;
  return { ...event, from: event.from + by, until: event.until + by };
}

/** A lie for one look less than is believed: about all days of a first run, or about the day that is about to settle. */
function aim(random: Random, kind: Kind, firstNight: Night): Event {
  const isFirst = random() < 0.5;
  const from = isFirst ? firstNight : firstNight + 2 + Math.floor(random() * UNQUIET_NIGHTS);
  return {
    ...{ kind, from, until: from + AIMED_NIGHTS - 1 },
    streams: drawStreams(random),
    ...(isFirst
      ? { firstDay: Math.max(0, from - 60), lastDay: from - 1 }
      : { firstDay: from - AIMED_AGE, lastDay: from - AIMED_AGE }),
    salt: Math.floor(random() * 1e6),
  };
}

/** True if the lies of a world last for weeks. */
export function hasLongLies(seed: number): boolean {
  return seed % LONG_EVERY === 0;
}

function drawEvent(
  random: Random,
  kind: Kind,
  { seed, firstNight }: { readonly seed: number; readonly firstNight: Night },
): Event {
  const from = firstNight + Math.floor(random() * UNQUIET_NIGHTS);
  const lasts =
    isLie(kind) || isFailure(kind) || kind === 'missed' || kind === 'twice' || kind === 'few-requests';
  const lengths = isLie(kind) && hasLongLies(seed) ? LONG_LENGTHS : LENGTHS;
  const nights = lasts ? pick(random, lengths) : 1;
  const [firstDay, lastDay] = drawDays(random, from);
  return {
    ...{ kind, from, firstDay, lastDay },
    until: from + nights - 1,
    streams: drawStreams(random),
    salt: Math.floor(random() * 1e6),
  };
}

function drawDays(random: Random, from: Night): readonly [first: number, last: number] {
  const last = from - 1 - (random() < 0.5 ? 0 : Math.floor(random() * 8));
  if (random() < 0.25) return [Math.max(0, from - 60), from + 10];
  return [Math.max(0, last - Math.floor(random() * 4)), Math.max(0, last)];
}

function drawStreams(random: Random): readonly Stream[] {
  if (random() < 0.4) return STREAMS;
  const some = STREAMS.filter(() => random() < 0.4);
  return some.length === 0 ? [pick(random, STREAMS)] : some;
}
