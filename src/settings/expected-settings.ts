import { FIRST_DAY, parseDay, type UtcDay } from '../core/day.ts';
import { UsageError } from '../core/errors.ts';
import { isStream, STREAMS, type Stream } from '../core/stream.ts';
import { oneOf } from './parsers.ts';
import { setting } from './setting.ts';

/** What a duration is counted in, the shortest first. A month is a calendar month, or 31 days where only a length counts. */
const UNITS_MS = { s: 1_000, m: 60_000, h: 3_600_000, d: 86_400_000, mo: 31 * 86_400_000 } as const;
type DurationUnit = keyof typeof UNITS_MS;

const DURATION = /^(\d{1,6})(s|m|h|d|mo)$/;

/** The grammar of every duration: a whole number and its unit. Null for another text. */
function durationIn(text: string): { readonly count: number; readonly unit: DurationUnit } | null {
  const [, digits = '', unit] = DURATION.exec(text) ?? [];
  return unit === undefined ? null : { count: Number(digits), unit: unit as DurationUnit };
}

/** About a hundred years. */
const RETAINED_MAX: Readonly<Record<Retention['unit'], number>> = { d: 36_500, mo: 1_200 };

/**
 * Parses a duration as milliseconds: `90s`, `5m`, `1h`, `2d`, `1mo`; `0` needs no unit.
 * @throws {UsageError} if it is none, or longer than about a hundred years
 */
export function parseDuration(text: string): number {
  const duration = text === '0' ? { count: 0, unit: 's' as const } : durationIn(text);
  const ms = duration === null ? Infinity : duration.count * UNITS_MS[duration.unit];
  if (ms <= RETAINED_MAX.d * UNITS_MS.d) return ms;
  throw new UsageError(`"${text}" is not a duration`, {
    hint: 'write it as 90s, 5m, 1h or 2d, at most 36500d',
  });
}

/** The duration as {@link parseDuration} reads it. */
export function showDuration(ms: number): string {
  const [unit] = (['d', 'h', 'm', 's'] as const).filter((name) => ms % UNITS_MS[name] === 0);
  return ms === 0 || unit === undefined ? '0' : `${ms / UNITS_MS[unit]}${unit}`;
}

/**
 * Parses a time limit, as milliseconds.
 * @throws {UsageError} if it is not a duration from a second to a day
 */
export function parseTimeLimit(text: string): number {
  const ms = parseDuration(text);
  if (ms >= UNITS_MS.s && ms <= UNITS_MS.d) return ms;
  throw new UsageError(`"${text}" is not between a second and a day`, { hint: 'write it as 60s, 5m or 1h' });
}

const AGE_MS_MIN = UNITS_MS.h;
const AGE_MS_MAX = 100_000 * UNITS_MS.h;

/**
 * Parses how old an export may be, as milliseconds: a duration of at least an hour, or a number of hours.
 * @throws {UsageError} if it is none
 */
export function parseAge(text: string): number {
  const ms = /^\d{1,6}$/.test(text) ? Number(text) * UNITS_MS.h : parseDuration(text);
  if (ms >= AGE_MS_MIN && ms <= AGE_MS_MAX) return ms;
  throw new UsageError(`"${text}" is not an age of 1 to ${AGE_MS_MAX / UNITS_MS.h} hours`, {
    hint: 'write it as 26h or 8d',
  });
}

/** How long something is kept. */
export interface Retention {
  readonly count: number;
  readonly unit: 'd' | 'mo';
}

/**
 * Parses how long something is kept: whole days or calendar months, `400d` or `13mo`. No shorter unit: what is removed is gone.
 * @throws {UsageError} if it is none
 */
export function parseRetention(text: string): Retention {
  const { count, unit } = durationIn(text) ?? { count: 0, unit: 's' };
  if ((unit === 'd' || unit === 'mo') && count >= 1 && count <= RETAINED_MAX[unit]) return { count, unit };
  throw new UsageError(`"${text}" is not a number of days or months`, {
    hint: unit === 'm' ? `write ${text}o for months` : 'write 400d or 13mo',
  });
}

/** The shortest time for which rows about people are kept: looks, the watch, and figures over a quarter need them. Four months are longer. */
const USERS_KEPT_MIN: Readonly<Record<Retention['unit'], number>> = { d: 100, mo: 4 };

/**
 * As {@link parseRetention}, for rows about people.
 * @throws {UsageError} if it is shorter than {@link USERS_KEPT_MIN}
 */
export function parseUserRetention(text: string): Retention {
  const kept = parseRetention(text);
  if (kept.count >= USERS_KEPT_MIN[kept.unit]) return kept;
  throw new UsageError(`"${text}" is shorter than ${USERS_KEPT_MIN.d} days`, {
    hint: `write ${USERS_KEPT_MIN.d}d, ${USERS_KEPT_MIN.mo}mo or longer; to store nothing about people, set DAYWALK_USERS=none`,
  });
}

/** Declares a setting that says how long something is kept. */
function retained(env: string, what: string, parse: (text: string) => Retention = parseRetention) {
  return setting(env, {
    doc: `how many days (d) or calendar months (mo) ${what}; every run removes what is older`,
    ...({ group: 'retention', fallbackDoc: 'for ever', example: '400d' } as const),
    parse,
    show: ({ count, unit }: Retention) => `${count}${unit}`,
  });
}

/**
 * Parses a comma-separated list of streams. The result is in canonical order, each once.
 * @throws {UsageError} if a name is unknown or the list is empty
 */
export function parseStreams(list: string): readonly Stream[] {
  const names = list
    .split(',')
    .map((name) => name.trim())
    .filter((name) => name !== '');
  const unknown = names.find((name) => !isStream(name));
  if (unknown === undefined && names.length > 0) return STREAMS.filter((stream) => names.includes(stream));
  const problem = unknown === undefined ? 'the list of streams is empty' : `"${unknown}" is not a stream`;
  throw new UsageError(problem, { hint: `choose from ${STREAMS.join(', ')}` });
}

/** Parses the streams of a contract, which may be `all`. */
export function parseExpectedStreams(text: string): readonly Stream[] {
  return text === 'all' ? STREAMS : parseStreams(text);
}

/**
 * Parses the first day of a contract.
 * @throws {UsageError} if it is no day, or before the first day of the service
 */
export function parseFirstDay(text: string): UtcDay {
  const day = parseDay(text);
  if (day >= FIRST_DAY) return day;
  throw new UsageError(`${text} is before the first day of the service`, {
    hint: `the first day with data is ${FIRST_DAY}`,
  });
}

/** What is expected of an export, and how long what it has stored is kept. A run without one of the first three keeps what an earlier run has stored. */
export const EXPECTED_SETTINGS = {
  firstDay: setting('DAYWALK_FIRST_DAY', {
    group: 'expected',
    doc: 'the first day that is expected; a later one removes no row; a run without it keeps that of the last run',
    fallbackDoc: FIRST_DAY,
    example: '2026-03-01',
    parse: parseFirstDay,
  }),
  streams: setting('DAYWALK_STREAMS', {
    group: 'expected',
    doc: 'the streams that are expected, separated by commas, or all; a run without it keeps those of the last run',
    fallbackDoc: 'all',
    example: 'tokens,users',
    parse: parseExpectedStreams,
  }),
  maxAgeMs: setting('DAYWALK_MAX_AGE', {
    group: 'expected',
    doc: 'how old the last complete export may become before health and alerts report it: 26h, 8d, or a number of hours; a run without it keeps that of the last run',
    fallbackDoc: 'of serve, the longest gap of its schedule with an allowance, at least 26h; otherwise 26h',
    example: '26h',
    parse: parseAge,
    show: showDuration,
  }),
  userMode: setting('DAYWALK_USERS', {
    group: 'emails',
    flag: '--user-policy <policy>',
    doc: 'what is stored of users: keep (their IDs), pseudonym (an HMAC in place of each ID) or none (nothing that belongs to one person); the last two need hash or drop for emails',
    fallback: 'keep',
    parse: oneOf(['keep', 'pseudonym', 'none']),
  }),
  retainUsers: retained(
    'DAYWALK_RETAIN_USERS',
    'rows about single people are kept, at least 100d; older days pass as under DAYWALK_USERS=none',
    parseUserRetention,
  ),
  retainEvents: retained('DAYWALK_RETAIN_EVENTS', 'hook events are kept, for example 90d or 3mo'),
  retainQuarantine: retained('DAYWALK_RETAIN_QUARANTINE', 'records in quarantine keep their text'),
  retainArchive: retained('DAYWALK_RETAIN_ARCHIVE', 'replaced answers stay in the archive'),
} as const;
