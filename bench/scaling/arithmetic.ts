import { FIRST_DAY, shiftDay } from '../../src/core/day.ts';
import { afterWatch, planWatch, type WatchState } from '../../src/judge/watch-plan.ts';
import { comparedDays } from '../../src/pipeline/run/range-gauge.ts';
import { MEASURED } from './measured.ts';

/** How the program requests days, see `src/pipeline/run/range-gauge.ts` and `src/api/limits.ts`; a test compares. */
export const ASKING = {
  usersPerPage: 100,
  rangeDaysMax: 31,
  batchRows: 8_000,
  concurrency: 8,
  /** Days per stream that are requested one at a time before the first range succeeds. */
  singleDays: 7,
} as const;

/** Number of streams whose rows do not grow with users: tools, activity, productivity. */
const SMALL_STREAMS = 3;
const DAYS_PER_YEAR = 365;
const SECONDS_PER_HOUR = 3_600;

/** A fixed part per day, and a part per active user. */
interface Fit {
  readonly perDay: number;
  readonly perUserDay: number;
}

/** Cost of a day of an organization. */
export function perDay(fit: Fit, users: number): number {
  return fit.perDay + fit.perUserDay * users;
}

/** Cost of a year of an organization. */
export function perYear(fit: Fit, users: number): number {
  return DAYS_PER_YEAR * perDay(fit, users);
}

/** Number of pages of users in one range. */
export function pages(users: number): number {
  return Math.ceil(users / ASKING.usersPerPage);
}

/** Days that are pulled each night until they settle. */
const UNSETTLED_DAYS = 3;
/** Nights over which a night is averaged: all of history has been compared by then. */
const NIGHTS = 62;

/** Requests for tokens and users of some days, at so many days per request. */
function heavyRequests(users: number, days: number, perRequest: { tokens: number; users: number }): number {
  return Math.ceil(days / perRequest.tokens) + Math.ceil(days / perRequest.users) * pages(users);
}

/** The plan of the watch expects so many users in a stretch for each user of a day: not everybody is active every day. */
const EXPECTED_USERS = 1.5;

/** Days per request of tokens and users, while they are pulled and while they are only compared. */
function daysPerRequest(users: number) {
  const rows = MEASURED.streamRowsPerUserDay;
  const compared = (perUser: number) => comparedDays(perUser * users, ASKING.rangeDaysMax);
  return {
    pulled: { tokens: rangeDays(rows.tokens * users), users: rangeDays(rows.users * users) },
    compared: { tokens: compared(rows.tokens), users: compared(rows.users) },
  };
}

/** Stored users and readiness. The request that finds the organization is the first one of a day. */
const EACH_NIGHT = 2;

/**
 * Requests of each of the two nights after a first sync, which look at all of history once more.
 * @param days of history.
 */
export function requestsPerLook(users: number, days: number): number {
  const light = SMALL_STREAMS * Math.ceil(days / ASKING.rangeDaysMax);
  // The page that finds the organization is of a day alone.
  return EACH_NIGHT + 1 + light + heavyRequests(users, days, daysPerRequest(users).compared);
}

/**
 * Upper bound of the requests of a normal night, on average: stored users, readiness, the unsettled days of tokens and users,
 * and the watch: recent days, with the unsettled ones of the other streams, and what its plan takes of the older ones.
 * @param days of history.
 */
export function requestsPerNight(users: number, days = DAYS_PER_YEAR): number {
  const watchDays = ASKING.rangeDaysMax;
  const { pulled, compared } = daysPerRequest(users);
  const light = SMALL_STREAMS + 1;
  const tokens = Math.ceil(watchDays / compared.tokens);
  const recentOf = (number: number) => heavyRequests(number, watchDays, compared);
  const walkOf = (number: number) => heavyRequests(number, watchDays, { ...compared, users: watchDays });
  const walksFull = compared.users < watchDays;
  const expected = EXPECTED_USERS * users;
  const heavyCost = { tokens, users: pages(expected), recent: recentOf(expected), walk: walkOf(expected) };
  const cost = { light, fullDays: watchDays, walksFull, ...heavyCost };
  let state: WatchState = { olderFrom: null, heavyOn: null };
  let requests = 0;
  for (let night = 0; night < NIGHTS; night += 1) {
    const today = shiftDay(FIRST_DAY, days + night);
    const range = { firstDay: FIRST_DAY, lastDay: shiftDay(today, -1), today, watchDays };
    const plan = planWatch(state, { ...range, cost });
    if (plan === null) continue;
    state = afterWatch(state, plan, { today, isComplete: true, mass: null, cursors: {}, chase: null });
    const full = plan.older.filter(({ isFull }) => isFull).length;
    const older = full > 0 ? full * (light + tokens + pages(users)) : plan.older.length * light;
    const isCompared = plan.heavy || full > 0;
    const unsettled = heavyRequests(users, UNSETTLED_DAYS, isCompared ? compared : pulled);
    const heavy = plan.heavy ? (plan.walks ? walkOf : recentOf)(users) : 0;
    requests += unsettled + light + heavy + older + plan.sampled.length;
  }
  return EACH_NIGHT + Math.round(requests / NIGHTS);
}

/** Days per range if a day of the stream has this number of rows. */
export function rangeDays(rowsPerDay: number): number {
  const fitting = Math.floor(ASKING.batchRows / Math.max(1, rowsPerDay));
  return Math.min(ASKING.rangeDaysMax, Math.max(1, fitting));
}

/** Requests for days that were never pulled. */
export function backfillRequests(users: number, days = DAYS_PER_YEAR): number {
  const single = Math.min(days, ASKING.singleDays);
  const ranges = (rows: number) => Math.ceil((days - single) / rangeDays(rows));
  const { tokens, users: perUser } = MEASURED.streamRowsPerUserDay;
  return (
    single * (1 + SMALL_STREAMS + pages(users)) +
    SMALL_STREAMS * ranges(0) +
    ranges(tokens * users) +
    ranges(perUser * users) * pages(users) +
    1
  );
}

/** Latency and rate limit of a service. */
export interface Pace {
  readonly latencyMs: number;
  /** Null if there is no limit. */
  readonly perMinute: number | null;
}

/** Duration of requests in seconds, by the concurrency of the program and the rate limit. */
export function requestSeconds(requests: number, { latencyMs, perMinute }: Pace): number {
  const waiting = (requests * latencyMs) / 1_000 / ASKING.concurrency;
  return Math.max(waiting, perMinute === null ? 0 : (requests / perMinute) * 60);
}

/** Hours to fill an empty PostgreSQL warehouse with a year: requests or storing, whichever takes longer. */
export function backfillHours(users: number, pace: Pace): number {
  const storing = perYear(MEASURED.rows, users) / MEASURED.rowsPerSecond.postgres;
  return Math.max(requestSeconds(backfillRequests(users), pace), storing) / SECONDS_PER_HOUR;
}

/** Assumptions about many organizations; none is measured. */
export const FLEET = {
  users: 1_000,
  pace: { latencyMs: 200, perMinute: 60 },
  startSeconds: 2,
  windowHours: 4,
  connectionsPerRun: 2,
  /** Bytes per second of a backup or restore, and the hours that it may take. */
  restoreBytesPerSecond: 100e6,
  restoreHours: 8,
} as const;

/** Organizations with one key and one nightly run each, in one PostgreSQL. */
export interface Fleet {
  readonly organizations: number;
  readonly requestsPerNight: number;
  readonly secondsPerRun: number;
  /** Parallel runs, so that all end within the window. */
  readonly workers: number;
  readonly connections: number;
  /** Connections if all runs start in the same minute. */
  readonly connectionsAtOnce: number;
  readonly rowsPerNight: number;
  /** On average over the window. */
  readonly rowsPerSecond: number;
  readonly bytesPerYear: number;
  /** Years until one server cannot be restored in time. */
  readonly years: number;
}

/** Computes the numbers for many organizations. */
export function fleet(organizations: number): Fleet {
  const requests = requestsPerNight(FLEET.users);
  const secondsPerRun = FLEET.startSeconds + requestSeconds(requests, FLEET.pace);
  const windowSeconds = FLEET.windowHours * SECONDS_PER_HOUR;
  const workers = Math.ceil((organizations * secondsPerRun) / windowSeconds);
  const rowsPerNight = organizations * perDay(MEASURED.rows, FLEET.users);
  const bytesPerYear = organizations * perYear(MEASURED.postgresBytes, FLEET.users);
  const restorable = FLEET.restoreBytesPerSecond * FLEET.restoreHours * SECONDS_PER_HOUR;
  return {
    organizations,
    requestsPerNight: organizations * requests,
    secondsPerRun,
    workers,
    connections: workers * FLEET.connectionsPerRun,
    connectionsAtOnce: organizations * FLEET.connectionsPerRun,
    rowsPerNight,
    rowsPerSecond: rowsPerNight / windowSeconds,
    bytesPerYear,
    years: restorable / bytesPerYear,
  };
}
