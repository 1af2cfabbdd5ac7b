import { daysBetween, FIRST_DAY, shiftDay, type UtcDay } from '../core/day.ts';
import { UsageError } from '../core/errors.ts';
import { DAILY_STREAMS, type DailyStream } from '../core/stream.ts';
import { LANGUAGES, MODELS } from './dataset/catalog.ts';
import { type Dataset, hasBit, membersOf } from './dataset/dataset.ts';
import { CREDITS } from './dataset/day-numbers.ts';
import { hash } from './dataset/pseudo-random.ts';
import type { DayChange } from './dataset/variant.ts';
import { day, integer, listOf, number, object, oneOf, type Parsed, text } from './parse.ts';
import type { World } from './world.ts';

/** The kinds of revisions. */
export const REVISION_KINDS = [
  'restate',
  'vanish-users',
  'add-users',
  'vanish-models',
  'vanish-languages',
  'empty',
  'add-reports',
  'delete-report',
  'change-report',
  'revert',
] as const;

/** One of {@link REVISION_KINDS}. */
export type RevisionKind = (typeof REVISION_KINDS)[number];

/** Reads a request to revise the data. Throws `UsageError` that names the place and what is accepted there. */
export const parseRevision = object(
  { kind: oneOf(...REVISION_KINDS) },
  {
    /** The past day to change. Every kind that changes a day needs it. With it, `revert` undoes only this day. */
    day,
    /** The endpoints that show the change. Default: all of them, so that they stay coherent. */
    streams: listOf(oneOf(...DAILY_STREAMS)),
    /** How many users, models, languages or reports. Default 1. */
    count: integer(0, 1_000_000),
    /** The share of users whose numbers `restate` changes. Default 1. */
    share: number(0, 1),
    /** The ids of the users, instead of `count`. */
    users: listOf(text),
    /** The ids of the models, instead of `count`. */
    models: listOf(text),
    /** The names of the languages, instead of `count`. */
    languages: listOf(text),
    /** The report that `delete-report` and `change-report` change. Default: the newest. */
    reportId: text,
  },
);

/** A change to data that the emulator has already served. */
export type RevisionRequest = Parsed<typeof parseRevision>;

/** What a revision changed. */
export interface RevisionOutcome {
  /** Counts revisions from 1. */
  readonly number: number;
  readonly kind: RevisionKind;
  readonly day: UtcDay | null;
  /** Ids or names of the users, models, languages or reports that changed. */
  readonly names: readonly string[];
}

/**
 * Changes past data. The seed, the request and the number of earlier revisions decide which users, models or languages
 * change.
 * @throws {UsageError} when the day is missing or not in the past, or when the request names something that does not exist.
 */
export function revise(request: RevisionRequest, world: World): RevisionOutcome {
  const number = world.revisions.nextNumber();
  const outcome = { number, kind: request.kind, day: null };
  switch (request.kind) {
    case 'revert':
      world.revisions.revert(request.day);
      return { ...outcome, day: request.day ?? null, names: [] };
    case 'add-reports':
      refuseGivenReports(world);
      return { ...outcome, names: addReports(request.count ?? 1, world) };
    case 'delete-report':
    case 'change-report':
      refuseGivenReports(world);
      return { ...outcome, names: [changeReport(request, number, world)] };
    default: {
      const day = requirePastDay(request, world.today());
      const streams = request.streams ?? DAILY_STREAMS;
      refuseGiven(day, streams, world);
      const task = { request, number, world, day, stream: streams[0] ?? 'users' };
      const { change, names } = changeDay(request.kind, task);
      world.revisions.addDay({ day, streams, change: { key: `revision-${number}`, ...change } });
      return { ...outcome, day, names };
    }
  }
}

interface DayTask {
  readonly request: RevisionRequest;
  readonly number: number;
  readonly world: World;
  readonly day: UtcDay;
  readonly stream: DailyStream;
}

type DayKind = Exclude<RevisionKind, 'revert' | 'add-reports' | 'delete-report' | 'change-report'>;

function changeDay(
  kind: DayKind,
  { request, number, world, day, stream }: DayTask,
): { change: Omit<DayChange, 'key'>; names: readonly string[] } {
  const { count = 1, share = 1, users, models, languages } = request;
  const wish = { dataset: world.dataset, day: daysBetween(FIRST_DAY, day), stream, salt: number, count };
  switch (kind) {
    case 'restate':
      return { change: { renumbered: { salt: number, share } }, names: [] };
    case 'empty':
      return { change: { empty: true }, names: [] };
    case 'vanish-users': {
      const { places, names } = chooseUsers({ ...wish, named: users });
      return { change: { withoutUsers: places }, names };
    }
    case 'add-users': {
      const { places, names } = chooseNewUsers({ ...wish, named: users });
      return { change: { withUsers: places }, names };
    }
    case 'vanish-models': {
      const { places, names } = chooseModels({ ...wish, named: models });
      return { change: { withoutModels: toBits(places) }, names };
    }
    case 'vanish-languages': {
      const { places, names } = chooseLanguages({ ...wish, named: languages });
      return { change: { withoutLanguages: toBits(places) }, names };
    }
  }
}

function requirePastDay({ kind, day }: RevisionRequest, today: UtcDay): UtcDay {
  if (day !== undefined && day >= FIRST_DAY && day < today) return day;
  const problem = day === undefined ? 'no day is given' : `${day} is not a past day`;
  throw new UsageError(`the emulator cannot apply the revision ${kind}: ${problem}`, {
    hint: `name a day from ${FIRST_DAY} to ${shiftDay(today, -1)}`,
  });
}

function refuseGiven(day: UtcDay, streams: readonly DailyStream[], { days }: World): void {
  const given = streams.find((stream) => days.rowsOf(stream, day) !== null);
  if (given === undefined) return;
  throw new UsageError(`the rows of ${given} ${day} are given, so no revision changes them`, {
    hint: 'put other rows with PUT /__admin/days',
  });
}

function refuseGivenReports({ days }: World): void {
  if (days.reports() === null) return;
  throw new UsageError('the readiness reports are given, so no revision changes them', {
    hint: 'put another list of reports with PUT /__admin/days',
  });
}

function addReports(count: number, { reports, revisions }: World): string[] {
  const first = reports.initial + revisions.reportChanges().added.length;
  revisions.addReports(count);
  return Array.from({ length: count }, (_, index) => reports.idOf(first + index));
}

function changeReport({ kind, reportId }: RevisionRequest, salt: number, world: World): string {
  const list = world.reportList();
  const report = reportId === undefined ? list.newest : (list.numbers[list.placeOf(reportId)] ?? -1);
  if (report < 0) {
    const problem = reportId === undefined ? 'there are no reports' : `there is no report ${reportId}`;
    throw new UsageError(`the emulator cannot apply the revision ${kind}: ${problem}`, {
      hint: 'use a reportId from the readiness list',
    });
  }
  if (kind === 'delete-report') world.revisions.deleteReport(report);
  else world.revisions.changeReport(report, salt);
  return world.reports.idOf(report);
}

function toBits(places: readonly number[]): number {
  return places.reduce((bits, place) => bits | (1 << place), 0);
}

/** What to choose on a day: the named items, or `count` items that the salt selects. */
interface Wish {
  readonly dataset: Dataset;
  readonly day: number;
  readonly stream: DailyStream;
  /** Selects the items if none are named. */
  readonly salt: number;
  readonly count: number;
  readonly named: readonly string[] | undefined;
}

/** The chosen users, models or languages. */
interface Choice {
  /** Their indexes in the population or the catalog. */
  readonly places: readonly number[];
  /** Their ids or names. */
  readonly names: readonly string[];
}

/** Chooses users who were active on the day. */
function chooseUsers(wish: Wish): Choice {
  const active = [...membersOf(wish.dataset.activeOn(wish.day, wish.stream))];
  return choose('user', active, wish.dataset.population.idOf, wish);
}

/** Chooses members of the organization who were not active on the day. */
function chooseNewUsers(wish: Wish): Choice {
  const { population } = wish.dataset;
  const active = wish.dataset.activeOn(wish.day, wish.stream);
  const idle: number[] = [];
  for (let user = 0; user < population.size; user++) {
    if (!hasBit(active, user) && population.isMember(user, wish.day)) idle.push(user);
  }
  return choose('user', idle, population.idOf, wish);
}

/** Chooses models that were used on the day. At least one remains. */
function chooseModels(wish: Wish): Choice {
  const credits = wish.dataset.orgDay(wish.day, wish.stream)?.models;
  const inputOf = (model: number) => credits?.[model * CREDITS.count + CREDITS.input] ?? 0;
  return chooseExceptOne(
    'model',
    MODELS.map(({ id }) => id),
    inputOf,
    wish,
  );
}

/** Chooses languages that were used on the day. At least one remains. */
function chooseLanguages(wish: Wish): Choice {
  const files = wish.dataset.orgDay(wish.day, wish.stream)?.languages;
  return chooseExceptOne(
    'language',
    LANGUAGES.map(({ name }) => name),
    (place) => files?.[place] ?? 0,
    wish,
  );
}

/** Chooses items, but never all of them: a remaining item gets the numbers of those that vanish. */
function chooseExceptOne(
  what: string,
  names: readonly string[],
  useOf: (place: number) => number,
  wish: Wish,
): Choice {
  const used = [...names.keys()].filter((place) => useOf(place) > 0);
  const count = Math.min(wish.count, used.length - 1);
  const choice = choose(what, used, (place) => names[place] ?? '', { ...wish, count });
  if (choice.places.length < used.length) return choice;
  throw new UsageError(`every ${what} of that day cannot vanish`, {
    hint: `leave one ${what}, or use the kind "empty"`,
  });
}

function choose(
  what: string,
  candidates: readonly number[],
  nameOf: (place: number) => string,
  wish: Wish,
): Choice {
  const placeOf = (name: string): number => {
    const place = candidates.find((candidate) => nameOf(candidate) === name);
    if (place !== undefined) return place;
    throw new UsageError(`${what} ${JSON.stringify(name)} cannot be chosen on that day`, {
      hint: `name a ${what} as the endpoints of that day show it; a user to be added must not be active yet`,
    });
  };
  const places = wish.named?.map(placeOf) ?? chooseBySalt(candidates, wish);
  if (places.length > 0) return { places, names: places.map(nameOf) };
  throw new UsageError(`that day has no ${what} to choose`, {
    hint: 'choose another day, or a count above 0',
  });
}

function chooseBySalt(candidates: readonly number[], { dataset, salt, count }: Wish): number[] {
  const key = (place: number) => hash(dataset.population.seed, place, salt, ASPECT.chosen);
  return candidates
    .toSorted((a, b) => key(a) - key(b) || a - b)
    .slice(0, count)
    .sort((a, b) => a - b);
}

const ASPECT = { chosen: 80 } as const;
