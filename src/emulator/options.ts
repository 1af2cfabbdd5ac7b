import { isLoopback } from '../core/addresses.ts';
import { type Clock, systemClock } from '../core/clock.ts';
import { FIRST_DAY, isDay, startOfDayMs, type UtcDay } from '../core/day.ts';
import { UsageError } from '../core/errors.ts';
import { DAY_MS } from './dataset/population.ts';
import type { DaySource } from './days.ts';
import { parseRules, type Rule } from './faults/rules.ts';
import { DEFAULT_QUIRKS, parseQuirks, type Quirks, REALISTIC_QUIRKS } from './quirks.ts';
import { deriveJwt } from './request.ts';

/** The size and the behaviour of the emulated organization. */
export interface EmulatorOptions {
  /** The emulated day, `YYYY-MM-DD`; data exist until the day before. */
  readonly today: UtcDay | string;
  /**
   * Decides all data.
   * @default 1
   */
  readonly seed?: number | undefined;
  /**
   * Users over the whole first year, at most 1,000,000; 45 % exist on the first day.
   * @default 250
   */
  readonly users?: number | undefined;
  /**
   * Every user exists from the first day and is active every day, which gives a benchmark an exact size.
   * @default false
   */
  readonly steady?: boolean | undefined;
  /**
   * Readiness reports, at most 100,000.
   * @default 120
   */
  readonly reports?: number | undefined;
  /**
   * Port to listen on; 0 means any free port.
   * @default 0
   */
  readonly port?: number | undefined;
  /**
   * The address to listen on. Beyond loopback it needs a `token`.
   * @default '127.0.0.1'
   */
  readonly host?: string | undefined;
  /**
   * What requests below `/__admin` and the page at `/` must show, at least 16 characters. With it, they may come from
   * any host; without it, only from this machine. With it, all keys and the JWT follow from it and the seed.
   * @default none
   */
  readonly token?: string | undefined;
  /**
   * The owner's key.
   * @default derived from the seed, and the token if there is one
   */
  readonly apiKey?: string | undefined;
  /**
   * The organization's id.
   * @default derived from the seed
   */
  readonly orgId?: string | undefined;
  /**
   * Fault rules.
   * @default []
   */
  readonly rules?: readonly Rule[] | undefined;
  /**
   * Deviates from the specification where services of this kind are likely to.
   * @default false
   */
  readonly realistic?: boolean | undefined;
  /**
   * Changes to the default behaviour.
   * @default {}
   */
  readonly quirks?: Partial<Quirks> | undefined;
  /**
   * The rows of some days, or of all, instead of generated ones.
   * @default none
   */
  readonly days?: DaySource | undefined;
  /**
   * Milliseconds before each response.
   * @default 0
   */
  readonly latencyMs?: number | undefined;
  /**
   * Requests that the journal keeps individually.
   * @default 1000
   */
  readonly journalEntriesMax?: number | undefined;
  /**
   * Maximum weight of the responses kept for repeated requests; 0 keeps none. 64 MiB hold about 130,000 rows of /users.
   * @default 67108864
   */
  readonly cacheBytesMax?: number | undefined;
  /**
   * Source of durations and of the time of day for the Date header; the day is always `today`. Use the machine's clock
   * when a client compares the Date header with its own.
   * @default a clock at which it is always noon, with real durations
   */
  readonly clock?: Clock | undefined;
}

/** Default, minimum and maximum of each number. */
const NUMBERS = {
  seed: [1, 0, 4_294_967_295],
  users: [250, 1, 1_000_000],
  reports: [120, 0, 100_000],
  port: [0, 0, 65_535],
  latencyMs: [0, 0, 600_000],
  journalEntriesMax: [1_000, 0, 100_000],
  cacheBytesMax: [64 * 1024 * 1024, 0, 4_294_967_296],
} as const;

/** The options with their defaults. */
export type ResolvedOptions = ReturnType<typeof resolveOptions>;

/**
 * Fills in the defaults.
 * @throws {UsageError} when a number is out of range, `today` is not after the first day, a rule, a quirk or the key is
 *   unusable, or the address needs a token.
 */
export function resolveOptions(options: EmulatorOptions) {
  const numberOf = (name: keyof typeof NUMBERS) => checkInteger(name, options[name] ?? NUMBERS[name][0]);
  const seed = numberOf('seed');
  const address = checkAddress(options.host ?? '127.0.0.1', options.token);
  const defaultQuirks: Quirks = {
    ...DEFAULT_QUIRKS,
    ...(options.realistic === true ? REALISTIC_QUIRKS : {}),
    ...(address.token === null ? {} : { sessionsJwt: deriveJwt({ seed, token: address.token }) }),
  };
  return {
    today: checkToday(options.today),
    seed,
    users: numberOf('users'),
    steady: options.steady ?? false,
    reports: numberOf('reports'),
    port: numberOf('port'),
    ...address,
    apiKey: checkKey(options.apiKey),
    orgId: options.orgId,
    rules: parseRules(options.rules ?? []),
    defaultQuirks,
    quirks: { ...defaultQuirks, ...parseQuirks(options.quirks) },
    days: options.days ?? null,
    latencyMs: numberOf('latencyMs'),
    journalEntriesMax: numberOf('journalEntriesMax'),
    cacheBytesMax: numberOf('cacheBytesMax'),
    clock: options.clock ?? systemClock(new Date(DAY_MS / 2)),
  };
}

/**
 * Checks the emulated day.
 * @throws {UsageError} when it is not a day after the first day with data.
 */
export function checkToday(today: unknown): UtcDay {
  if (isDay(today) && startOfDayMs(today) > startOfDayMs(FIRST_DAY)) return today;
  throw new UsageError(`the emulator cannot use ${JSON.stringify(today)} as today`, {
    hint: `give a day after ${FIRST_DAY}, as YYYY-MM-DD`,
  });
}

/**
 * Checks a numeric option against its limits.
 * @throws {UsageError} when it is out of range.
 */
export function checkInteger(name: keyof typeof NUMBERS, value: number): number {
  const [, min, max] = NUMBERS[name];
  if (Number.isInteger(value) && value >= min && value <= max) return value;
  throw new UsageError(`the emulator cannot use ${name} ${value}`, {
    hint: `${name} is a whole number from ${min} to ${max}`,
  });
}

function checkKey(apiKey: string | undefined): string | undefined {
  if (apiKey === undefined || /^[\x21-\x7e]+$/.test(apiKey)) return apiKey;
  throw new UsageError('the emulator cannot use this API key', {
    hint: 'use printable ASCII characters without spaces',
  });
}

const TOKEN_CHARS_MIN = 16;

function checkAddress(host: string, token: string | undefined): { host: string; token: string | null } {
  if (token !== undefined && !(token.length >= TOKEN_CHARS_MIN && /^[\x21-\x7e]+$/.test(token))) {
    throw new UsageError('the emulator cannot use this token', {
      hint: `use at least ${TOKEN_CHARS_MIN} printable ASCII characters without spaces`,
    });
  }
  if (token !== undefined || host === 'localhost' || isLoopback(host)) return { host, token: token ?? null };
  throw new UsageError(`the emulator cannot listen on ${host} without a token: others could read its keys`, {
    reason: 'emulator-needs-token',
    hint: 'give a token, or listen on 127.0.0.1',
  });
}
