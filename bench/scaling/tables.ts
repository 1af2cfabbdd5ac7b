import {
  backfillHours,
  backfillRequests,
  fleet,
  perDay,
  perYear,
  rangeDays,
  requestsPerLook,
  requestsPerNight,
} from './arithmetic.ts';
import { MEASURED } from './measured.ts';

const USERS = [50, 250, 1_000, 3_000, 10_000, 50_000];
const HISTORIES = [60, 300, 1_000];
/** Days of the first sync of which the next two nights are shown. */
const SYNCED = 300;
const LATENCIES_MS = [50, 200, 1_000];
const LIMITS = [null, 600, 60];
const ORGANIZATIONS = [1, 100, 1_000, 10_000];

/** The tables of docs/scaling.md by the name of their markers. */
export function scalingTables(): Record<'nights' | 'organizations' | 'backfills' | 'fleets', string> {
  return { nights: nights(), organizations: organizations(), backfills: backfills(), fleets: fleets() };
}

function nights(): string {
  const looks = [`first sync of ${SYNCED} days`, 'each of the next two nights'];
  const heads = ['active users', ...looks, ...HISTORIES.map((days) => `${whole(days)} days of history`)];
  return markdown(
    heads,
    [100, 3_000, 50_000].map((users) => [
      whole(users),
      whole(backfillRequests(users, SYNCED)),
      whole(requestsPerLook(users, SYNCED)),
      ...HISTORIES.map((days) => whole(requestsPerNight(users, days))),
    ]),
  );
}

function organizations(): string {
  const heads = [
    'active users',
    'rows a day',
    'SQLite a year',
    'PostgreSQL a year',
    'requests a night',
    'days a request',
    'requests for a year',
  ];
  return markdown(
    heads,
    USERS.map((users) => [
      whole(users),
      whole(perDay(MEASURED.rows, users)),
      bytes(perYear(MEASURED.sqliteBytes, users)),
      bytes(perYear(MEASURED.postgresBytes, users)),
      whole(requestsPerNight(users)),
      whole(rangeDays(MEASURED.streamRowsPerUserDay.users * users)),
      whole(backfillRequests(users)),
    ]),
  );
}

function backfills(): string {
  const columns = LIMITS.flatMap((perMinute) => LATENCIES_MS.map((latencyMs) => ({ latencyMs, perMinute })));
  const heads = columns.map(
    ({ latencyMs, perMinute }) => `${latencyMs} ms, ${perMinute === null ? 'no limit' : `${perMinute}/min`}`,
  );
  return markdown(
    ['active users', ...heads],
    USERS.map((users) => [whole(users), ...columns.map((pace) => hours(backfillHours(users, pace)))]),
  );
}

function fleets(): string {
  const heads = [
    'organizations',
    'requests a night',
    'runs at a time',
    'connections',
    'connections if all start at once',
    'rows a night',
    'rows/s',
    'PostgreSQL a year',
    'years until a restore takes too long',
  ];
  return markdown(
    heads,
    ORGANIZATIONS.map(fleet).map((of) => [
      whole(of.organizations),
      whole(of.requestsPerNight),
      whole(of.workers),
      whole(of.connections),
      whole(of.connectionsAtOnce),
      whole(of.rowsPerNight),
      whole(of.rowsPerSecond),
      bytes(of.bytesPerYear),
      of.years >= 100 ? 'over 100' : of.years.toFixed(1),
    ]),
  );
}

function markdown(heads: readonly string[], lines: readonly (readonly string[])[]): string {
  const rule = heads.map(() => '---:');
  return [heads, rule, ...lines].map((cells) => `| ${cells.join(' | ')} |\n`).join('');
}

function whole(value: number): string {
  return Math.round(value).toLocaleString('en');
}

function bytes(value: number): string {
  if (value >= 1e12) return `${(value / 1e12).toFixed(1)} TB`;
  return value >= 1e9 ? `${(value / 1e9).toFixed(1)} GB` : `${Math.round(value / 1e6)} MB`;
}

function hours(value: number): string {
  return value < 0.1 ? `${Math.ceil(value * 60)} min` : `${value.toFixed(1)} h`;
}
