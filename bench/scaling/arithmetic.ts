import { MEASURED } from './measured.ts';

/** How the program asks, see `src/pipeline/run/schedule/range-gauge.ts` and `src/api/limits.ts`; a test compares. */
export const ASKING = {
  usersPerPage: 100,
  rangeDaysMax: 31,
  batchRows: 8_000,
  concurrency: 8,
  /** Ranges of each stream in a night: the three unsettled days go with the 31 that are compared with the service. */
  nightRanges: 2,
  /** Days of each stream that go one by one until the first range was answered: as many as are in flight then. */
  singleDays: 7,
} as const;

/** Streams whose days hold few rows, whatever the number of users: tools, activity, productivity. */
const SMALL_STREAMS = 3;
const DAYS_PER_YEAR = 365;
const SECONDS_PER_HOUR = 3_600;

/** A part of its own for every day, and a part for every active user. */
interface Fit {
  readonly perDay: number;
  readonly perUserDay: number;
}

/** What a day of an organization takes. */
export function perDay(fit: Fit, users: number): number {
  return fit.perDay + fit.perUserDay * users;
}

/** What a year of an organization takes. */
export function perYear(fit: Fit, users: number): number {
  return DAYS_PER_YEAR * perDay(fit, users);
}

/** Pages of users that one request for whatever number of days is followed by. */
export function pages(users: number): number {
  return Math.ceil(users / ASKING.usersPerPage);
}

/** Requests of a night when all is well, at most: the organization, the ranges of each stream, the readiness reports. */
export function requestsPerNight(users: number): number {
  return 1 + ASKING.nightRanges * (1 + SMALL_STREAMS + pages(users)) + 1;
}

/** Days that are asked for at once when a day of the stream has so many rows. */
export function rangeDays(rowsPerDay: number): number {
  const fitting = Math.floor(ASKING.batchRows / Math.max(1, rowsPerDay));
  return Math.min(ASKING.rangeDaysMax, Math.max(1, fitting));
}

/** Requests for so many days that were never pulled. */
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

/** How fast a service answers, and how many requests it allows. */
export interface Pace {
  readonly latencyMs: number;
  /** Null without a limit. */
  readonly perMinute: number | null;
}

/** Seconds that requests take: as many at once as the program has in flight, but no more than the limit. */
export function requestSeconds(requests: number, { latencyMs, perMinute }: Pace): number {
  const waiting = (requests * latencyMs) / 1_000 / ASKING.concurrency;
  return Math.max(waiting, perMinute === null ? 0 : (requests / perMinute) * 60);
}

/** Hours to fill an empty PostgreSQL warehouse with a year: requests or rows, whatever takes longer. */
export function backfillHours(users: number, pace: Pace): number {
  const storing = perYear(MEASURED.rows, users) / MEASURED.rowsPerSecond.postgres;
  return Math.max(requestSeconds(backfillRequests(users), pace), storing) / SECONDS_PER_HOUR;
}

/** What is assumed of a fleet; none of it is measured. */
export const FLEET = {
  users: 1_000,
  pace: { latencyMs: 200, perMinute: 60 },
  startSeconds: 2,
  windowHours: 4,
  connectionsPerRun: 2,
  /** Bytes per second at which a server is backed up or restored, and the hours that this may take. */
  restoreBytesPerSecond: 100e6,
  restoreHours: 8,
} as const;

/** Organizations with a key and a nightly run each, into one PostgreSQL. */
export interface Fleet {
  readonly organizations: number;
  readonly requestsPerNight: number;
  readonly secondsPerRun: number;
  /** Runs at a time, so that all end within the window. */
  readonly workers: number;
  readonly connections: number;
  /** Connections when every run starts at the same minute. */
  readonly connectionsAtOnce: number;
  readonly rowsPerNight: number;
  /** Over the window. */
  readonly rowsPerSecond: number;
  readonly bytesPerYear: number;
  /** Until one server cannot be restored in time. */
  readonly years: number;
}

/** The arithmetic of a fleet. */
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
