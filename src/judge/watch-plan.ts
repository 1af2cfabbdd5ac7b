import { daysBetween, FIRST_DAY, isDay, notedDay, shiftDay, type UtcDay } from '../core/day.ts';
import { isObject, parseJson } from '../core/json.ts';
import { DAILY_STREAMS, type Stream } from '../core/stream.ts';
import { isMass, isMassNow, type Mass } from './mass.ts';

/** Number of days between two comparisons of tokens and users of the recent days, … */
const HEAVY_EVERY_DAYS = 7;
/** … unless these cost so few requests that every run compares them. */
const RECENT_REQUESTS_MAX = 60;
/** The smallest default for the requests that a run spends on older stretches. */
const OLDER_REQUESTS_MIN = 12;
/** The default is what compares the users of all history in so many nights, if a request covers a stretch. */
const ROUND_DAYS = 31;

/** Consecutive days, both ends included. */
export interface Stretch {
  readonly first: UtcDay;
  readonly last: UtcDay;
}

/** An older stretch. Of a full one all streams are compared, otherwise the light ones and the sums by model. */
export interface OlderStretch extends Stretch {
  readonly isFull: boolean;
}

/** Pages of users that are compared because users seem to have left, since a UTC day. */
export interface Chase {
  readonly since: UtcDay;
  /** Users who come before those who are gone. */
  readonly cursors: readonly string[];
}

/** Units that were to be compared or seen once more, and for which runs had no requests, since a UTC day. */
export interface LeftOut {
  readonly since: UtcDay;
  readonly units: number;
  readonly first: UtcDay;
  readonly last: UtcDay;
}

/** The progress of the watch, stored as JSON under `watch` in `export_state`. */
export interface WatchState {
  /** The first day of the older stretch whose light streams were compared last; null at the start of a round. */
  readonly olderFrom: UtcDay | null;
  /** The first day of the older stretch that was compared last in all streams. @default none was */
  readonly fullFrom?: UtcDay;
  /** The UTC day on which tokens and users of the recent days were last compared; null if never. */
  readonly heavyOn: UtcDay | null;
  /** Requests for older stretches that earlier runs have left. @default 0 */
  readonly credit?: number;
  /** Where the next page of users begins, by the first day of a stretch: a cursor of the service. @default page 1 */
  readonly cursors?: Readonly<Record<string, string>>;
  /** Users seem to have left: for some nights, the pages that lack them are compared, too. @default none have */
  readonly chase?: Chase;
  /** While many days differ, every run compares all of history. @default they do not */
  readonly mass?: Mass;
  /** What the last run left to the next one, because its requests were spent. @default nothing */
  readonly leftOut?: LeftOut;
  /**
   * A comparison of the last run failed, so the next run compares the same stretch again, but only once: a request that
   * always fails must not stop the watch at one stretch.
   */
  readonly isAgain?: boolean;
}

/** The requests that the watch costs. */
export interface WatchCost {
  /** The light streams and the sums by model of a stretch. */
  readonly light: number;
  /** Days that one request covers: a stretch of which all streams are compared has no more. */
  readonly fullDays: number;
  /** Memory does not hold the users of so many days: they are compared page by page. */
  readonly walksFull: boolean;
  /** Tokens of such a stretch. */
  readonly tokens: number;
  /** Its pages of users. */
  readonly users: number;
  /** Tokens and users of the recent days. */
  readonly recent: number;
  /** The same if users are compared page by page: memory holds a page of many days, but not all users of them. */
  readonly walk: number;
}

export interface WatchPlan {
  readonly recent: Stretch;
  /** From the newest to the oldest, then from the start; empty if all of history is recent. */
  readonly older: readonly OlderStretch[];
  /** The other stretches: of each, a page of users is compared. */
  readonly sampled: readonly Stretch[];
  /** Compare tokens and users of the recent days too. */
  readonly heavy: boolean;
  /** Compare these users page by page. */
  readonly walks: boolean;
  /** Compare the users of full older stretches page by page. */
  readonly walksFull: boolean;
  /** Requests for older stretches that the run leaves to the next one. */
  readonly credit: number;
}

/** What a run may compare, and at what cost. */
export interface WatchScope {
  /** The first day of the run's range; history begins there. */
  readonly firstDay: UtcDay;
  /** The newest day that the service has. */
  readonly lastDay: UtcDay;
  readonly today: UtcDay;
  readonly watchDays: number;
  readonly cost: WatchCost;
  /** Requests for older stretches. @default a 31st of the pages of users of all history, at least 12 */
  readonly requests?: number | null;
}

/**
 * The stretches that a run compares: the last `watchDays` days in every run, and older ones in turn, from the newest to the
 * oldest and then from the start: all streams of as many as the requests allow, with those that earlier runs have left, or
 * else the light streams of one. While many days differ, all streams of all.
 */
export function planWatch(state: WatchState, scope: WatchScope): WatchPlan | null {
  const { firstDay, lastDay, today, watchDays, cost } = scope;
  if (watchDays <= 0 || lastDay < FIRST_DAY) return null;
  const recent = { first: latest(shiftDay(lastDay, 1 - watchDays), FIRST_DAY), last: lastDay };
  const isMass = state.mass !== undefined;
  const { heavyOn } = state;
  // A comparison from the future was made while a clock was ahead.
  const isDue = heavyOn === null || heavyOn > today || daysBetween(heavyOn, today) >= HEAVY_EVERY_DAYS;
  const isCheap = cost.recent <= RECENT_REQUESTS_MAX;
  const heavy = isMass || isDue || isCheap;
  const walks = heavy && !isMass && !isCheap && cost.walk < cost.recent;
  const begin = latest(firstDay, FIRST_DAY);
  const stretches = stretchesBefore(recent.first, begin, watchDays);
  const fullDays = isMass ? watchDays : Math.min(watchDays, cost.fullDays);
  const full = cost.light + cost.tokens + cost.users;
  const usual = Math.max(OLDER_REQUESTS_MIN, Math.ceil((stretches.length * cost.users) / ROUND_DAYS));
  const budget = scope.requests ?? usual;
  let credit = Math.min((state.credit ?? 0) + budget, Math.max(budget, full) + budget);
  const older: OlderStretch[] = [];
  for (const stretch of inTurn(stretchesBefore(recent.first, begin, fullDays), state.fullFrom ?? null)) {
    if (!isMass && credit < full) break;
    if (!isMass) credit -= full;
    older.push({ ...stretch, isFull: true });
  }
  const isFull = ({ first, last }: Stretch) =>
    older.some((stretch) => stretch.first === first && stretch.last === last);
  const sampled = stretches.filter((stretch) => !isFull(stretch));
  const [light] = inTurn(stretches, state.olderFrom);
  if (older.length === 0 && light !== undefined) older.push({ ...light, isFull: false });
  return { recent, older, sampled, heavy, walks, walksFull: cost.walksFull && !isMass, credit };
}

/** The stretches of history, from the newest. They begin at the first day, so that a stretch has the same days each night. */
function stretchesBefore(end: UtcDay, begin: UtcDay, days: number): Stretch[] {
  const stretches: Stretch[] = [];
  for (let first = begin; first < end; first = shiftDay(first, days)) {
    const next = shiftDay(first, days);
    stretches.push({ first, last: shiftDay(next < end ? next : end, -1) });
  }
  return stretches.reverse();
}

/** The stretches in the order of their turn, after the one that was compared last. */
function inTurn(stretches: readonly Stretch[], olderFrom: UtcDay | null): Stretch[] {
  const next = stretches.findIndex(({ first }) => first < (olderFrom ?? ''));
  const from = Math.max(0, next);
  return [...stretches.slice(from), ...stretches.slice(0, from)];
}

function latest(a: UtcDay, b: UtcDay): UtcDay {
  return a > b ? a : b;
}

/** What the stored progress says today; the start of a round if there is none that this version understands. */
export function parseWatchState(text: string | null, today: UtcDay): WatchState {
  const value = parseJson(text ?? 'null');
  const { olderFrom, fullFrom, heavyOn, credit, cursors, chase, isAgain, mass, leftOut } = isObject(value)
    ? value
    : {};
  return {
    olderFrom: isDay(olderFrom) ? olderFrom : null,
    ...(isDay(fullFrom) ? { fullFrom } : {}),
    heavyOn: isDay(heavyOn) ? heavyOn : null,
    ...(typeof credit === 'number' && credit > 0 ? { credit } : {}),
    ...(isObject(cursors) ? { cursors: cursorsIn(cursors) } : {}),
    ...(isChase(chase) ? { chase: sinceNoted(chase, today) } : {}),
    ...(isMass(mass) ? { mass: sinceNoted(mass, today) } : {}),
    ...(isLeftOut(leftOut) ? { leftOut: sinceNoted(leftOut, today) } : {}),
    ...(isAgain === true ? { isAgain } : {}),
  };
}

function sinceNoted<Noted extends { readonly since: UtcDay }>(noted: Noted, today: UtcDay): Noted {
  return { ...noted, since: notedDay(noted.since, today) };
}

function cursorsIn(value: object): Record<string, string> {
  return Object.fromEntries(
    Object.entries(value).filter((entry): entry is [string, string] => typeof entry[1] === 'string'),
  );
}

function isChase(value: unknown): value is Chase {
  if (!isObject(value) || !isDay(value['since']) || !Array.isArray(value['cursors'])) return false;
  return value['cursors'].every((cursor) => typeof cursor === 'string');
}

function isLeftOut(value: unknown): value is LeftOut {
  if (!isObject(value) || typeof value['units'] !== 'number') return false;
  return isDay(value['since']) && isDay(value['first']) && isDay(value['last']);
}

/**
 * What a run leaves to the next one.
 * @param days the day of each unit that it had no request for.
 */
export function leftOutAfter(
  before: LeftOut | undefined,
  days: readonly UtcDay[],
  today: UtcDay,
): LeftOut | undefined {
  const [first, ...others] = days.toSorted();
  if (first === undefined) return undefined;
  return { since: before?.since ?? today, units: days.length, first, last: others.at(-1) ?? first };
}

/** What earlier runs left out, if a run asks for later days only than some of it: undefined if the run reaches all of it. */
export function leftBefore(
  left: LeftOut | undefined,
  { firstDay }: { readonly firstDay: UtcDay },
  expected: { readonly firstDay: UtcDay },
): LeftOut | undefined {
  if (left === undefined || firstDay <= expected.firstDay || firstDay <= left.first) return undefined;
  return left;
}

/** What a run found out about the watch as a whole. */
interface Watched {
  readonly today: UtcDay;
  readonly isComplete: boolean;
  readonly mass: Mass | null;
  /** Where the next pages of users begin. */
  readonly cursors: Readonly<Record<string, string>>;
  readonly chase: Chase | null;
  /** @default nothing was left out */
  readonly leftOut?: LeftOut | undefined;
}

/** The progress after a run, which may have compared only a part of its stretches. */
export function afterWatch(
  before: WatchState,
  { older, heavy, credit }: Pick<WatchPlan, 'older' | 'heavy' | 'credit'>,
  { today, isComplete, mass, cursors, chase, leftOut }: Watched,
): WatchState {
  const named = {
    ...(chase === null ? {} : { chase }),
    ...(mass === null ? {} : { mass }),
    ...(leftOut === undefined ? {} : { leftOut }),
    ...(Object.keys(cursors).length === 0 ? {} : { cursors }),
  };
  const { olderFrom, fullFrom, heavyOn } = before;
  if (!isComplete && before.isAgain !== true) {
    const left = before.credit === undefined ? {} : { credit: before.credit };
    return { olderFrom, ...(fullFrom && { fullFrom }), heavyOn, ...left, ...named, isAgain: true };
  }
  const lastOf = (isFull: boolean) => older.filter((stretch) => stretch.isFull === isFull).at(-1)?.first;
  const full = lastOf(true) ?? fullFrom;
  return {
    olderFrom: lastOf(false) ?? olderFrom,
    ...(full && { fullFrom: full }),
    heavyOn: heavy ? today : heavyOn,
    ...(credit > 0 ? { credit } : {}),
    ...named,
  };
}

/** The same progress, with what is named now. */
export function withNamed(
  { mass: _mass, leftOut: _left, ...others }: WatchState,
  mass: Mass | null = null,
  leftOut?: LeftOut,
): WatchState {
  return { ...others, ...(mass === null ? {} : { mass }), ...(leftOut === undefined ? {} : { leftOut }) };
}

/** For so many nights after users seem to have left, the pages that lack them are compared. */
const CHASE_NIGHTS = 4;
/** At most so many pages of each stretch. */
const CHASE_PAGES = 2;

/**
 * The pages to compare in the next runs.
 * @param found the users who come before those whom a run found to be gone.
 */
export function chaseAfter(before: Chase | undefined, found: readonly string[], today: UtcDay): Chase | null {
  const isOn = before !== undefined && daysBetween(before.since, today) < CHASE_NIGHTS;
  if (isOn || found.length === 0) return isOn ? before : null;
  return { since: today, cursors: [...new Set(found)].slice(0, CHASE_PAGES) };
}

/** The name in `export_state` for the progress of the watch over all streams. */
export const WATCH = 'watch';

/** The name for the progress of a job. Those over a part of the streams have progress of their own. */
export function watchName(streams: readonly Stream[]): string {
  const daily = DAILY_STREAMS.filter((stream) => streams.includes(stream));
  return daily.length === DAILY_STREAMS.length ? WATCH : `${WATCH} ${daily.join(' ')}`;
}

/** What the watch of a job knows when it begins. */
interface KnownWatches {
  /** Its progress. Many days differ at once if any of these jobs has seen it. */
  readonly own: WatchState;
  /** The progress of other jobs, by name, of which it has all expected streams: it asks for whatever they have left open. */
  readonly covered: ReadonlyMap<string, WatchState>;
}

/** @param states the stored progress of all jobs, by name. */
export function watchesOf(
  states: ReadonlyMap<string, string>,
  {
    streams,
    expected,
    today,
  }: Readonly<Record<'streams' | 'expected', readonly Stream[]>> & { readonly today: UtcDay },
): KnownWatches {
  const name = watchName(streams);
  const own = parseWatchState(states.get(name) ?? null, today);
  const isCovered = (other: string) =>
    other !== name && expected.every((stream) => streams.includes(stream) || !isWatchOf(other, stream));
  const covered = new Map(
    [...states].flatMap(([other, text]) =>
      isCovered(other) ? [[other, parseWatchState(text, today)] as const] : [],
    ),
  );
  const [mass = null] = [own, ...covered.values()]
    .flatMap((state) => (state.mass !== undefined && isMassNow(state.mass, today) ? [state.mass] : []))
    .toSorted((a, b) => (a.since < b.since ? -1 : 1));
  return { own: withNamed(own, mass, own.leftOut), covered };
}

function isWatchOf(name: string, stream: Stream): boolean {
  return name === WATCH ? stream !== 'readiness' : name.split(' ').includes(stream);
}
