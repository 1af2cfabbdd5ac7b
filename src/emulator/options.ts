import { type Clock, systemClock } from '../core/clock.ts';
import { FIRST_DAY, isDay, startOfDayMs, type UtcDay } from '../core/day.ts';
import { UsageError } from '../core/errors.ts';
import { DAY_MS } from './dataset/population.ts';
import type { Rule } from './faults/rules.ts';
import type { Quirks } from './quirks/quirks.ts';

/** How the emulated organization looks and behaves. Everything but `today` has a default. */
export interface EmulatorOptions {
  /** The day that the service takes for today, `YYYY-MM-DD`; data reach until the day before. */
  readonly today: UtcDay | string;
  /** Decides all data. Default 1. */
  readonly seed?: number | undefined;
  /** Users over the whole first year; 45% are there on the first day. Default 250, at most 1,000,000. */
  readonly users?: number | undefined;
  /** Everyone is there from the first day and active every day: gives a benchmark an exact size. Default false. */
  readonly steady?: boolean | undefined;
  /** Readiness reports. Default 120, at most 100,000. */
  readonly reports?: number | undefined;
  /** Port to listen on; 0, the default, takes a free one. */
  readonly port?: number | undefined;
  /** The emulator listens on the loopback interface only. */
  readonly host?: '127.0.0.1' | undefined;
  /** The owner's key. Derived from the seed unless given. */
  readonly apiKey?: string | undefined;
  /** The organization's id. Derived from the seed unless given. */
  readonly orgId?: string | undefined;
  /** Fault rules. None by default. */
  readonly rules?: readonly Rule[] | undefined;
  /** Deviations from the default behaviour. */
  readonly quirks?: Partial<Quirks> | undefined;
  /** Milliseconds before each answer. Default 0. */
  readonly latencyMs?: number | undefined;
  /** Requests that the journal remembers one by one. Default 1,000. */
  readonly journalEntriesMax?: number | undefined;
  /**
   * Weight of the answers that are kept for the next time they are asked for. Default 64 MiB, room for some 130,000
   * rows of /users; 0 keeps none.
   */
  readonly cacheBytesMax?: number | undefined;
  /**
   * Where the time of day (for the Date header) and durations come from; the day is always `today`. By default it is
   * noon and only durations pass. Give the machine's clock where a client compares the Date header with its own.
   */
  readonly clock?: Clock | undefined;
}

/** The options with their defaults. */
export interface ResolvedOptions {
  readonly today: UtcDay;
  readonly seed: number;
  readonly users: number;
  readonly steady: boolean;
  readonly reports: number;
  readonly port: number;
  readonly host: string;
  readonly apiKey: string | undefined;
  readonly orgId: string | undefined;
  readonly rules: readonly Rule[];
  readonly quirks: Partial<Quirks>;
  readonly latencyMs: number;
  readonly journalEntriesMax: number;
  readonly cacheBytesMax: number;
  readonly clock: Clock;
}

const LIMITS = {
  seed: [0, 4_294_967_295],
  users: [1, 1_000_000],
  reports: [0, 100_000],
  port: [0, 65_535],
  latencyMs: [0, 600_000],
  journalEntriesMax: [0, 100_000],
  cacheBytesMax: [0, 4_294_967_296],
} as const;

/**
 * Fills in the defaults.
 * @throws {UsageError} when a number is out of its limits, `today` leaves no day to query, or a key is unusable.
 */
export function resolveOptions(options: EmulatorOptions): ResolvedOptions {
  return {
    today: checkToday(options.today),
    seed: checkInteger('seed', options.seed ?? 1),
    users: checkInteger('users', options.users ?? 250),
    steady: options.steady ?? false,
    reports: checkInteger('reports', options.reports ?? 120),
    port: checkInteger('port', options.port ?? 0),
    host: options.host ?? '127.0.0.1',
    apiKey: checkKey(options.apiKey),
    orgId: options.orgId,
    rules: options.rules ?? [],
    quirks: options.quirks ?? {},
    latencyMs: checkInteger('latencyMs', options.latencyMs ?? 0),
    journalEntriesMax: checkInteger('journalEntriesMax', options.journalEntriesMax ?? 1_000),
    cacheBytesMax: checkInteger('cacheBytesMax', options.cacheBytesMax ?? 64 * 1024 * 1024),
    clock: options.clock ?? systemClock(new Date(DAY_MS / 2)),
  };
}

/**
 * Checks the emulated day.
 * @throws {UsageError} when it is no day after the first day with data.
 */
export function checkToday(today: unknown): UtcDay {
  if (isDay(today) && startOfDayMs(today) > startOfDayMs(FIRST_DAY)) return today;
  throw new UsageError(`the emulator cannot take ${JSON.stringify(today)} for today`, {
    hint: `give a day after ${FIRST_DAY}, as YYYY-MM-DD`,
  });
}

/**
 * Checks a numeric option against its limits.
 * @throws {UsageError} when it is out of them.
 */
export function checkInteger(name: keyof typeof LIMITS, value: number): number {
  const [min, max] = LIMITS[name];
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
