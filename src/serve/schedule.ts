import { Cron } from 'croner';
import type { Clock } from '../core/clock.ts';
import { dayOf } from '../core/day.ts';
import { messageOf, UsageError } from '../core/errors.ts';
import type { Warehouse } from '../port/index.ts';
import { readState, writeState } from '../records/index.ts';

const MINUTE_MS = 60_000;
/** A run sends some requests even if nothing is new, and the service adds one day per day. */
const GAP_MINUTES_MIN = 5;
const FIELDS = 5;
/** All days with ticks have the same ones: all of the first day are examined, and the last of so many, for the gaps between days. */
const DAYS_EXAMINED_MAX = 400;
/** The midnight from which ticks are examined: a leap year, so that all dates exist. */
const EXAMINED_FROM = new Date('2027-12-31T23:59:59Z');
/** Enough for the gap between two leap days. */
const EXAMINED_UNTIL = new Date('2060-01-01T00:00:00Z');

/** A schedule in UTC. */
export interface Schedule {
  /** As it was written. */
  readonly text: string;
  readonly shortestGapMs: number;
  readonly longestGapMs: number;
  /** The first tick after an instant. */
  next(after: Date): Date;
}

/**
 * Parses the five fields of a cron schedule: minute, hour, day, month, weekday.
 * @throws {UsageError} if it is none, never comes, or comes more often than every five minutes.
 */
export function parseSchedule(text: string): Schedule {
  const cron = parse(text);
  const next = (after: Date) => {
    const tick = cron.nextRun(after);
    if (tick !== null) return tick;
    throw new UsageError(`the schedule "${text}" never comes`, {
      hint: 'it names a day that no month has; write a day that exists, for example 0 3 28 2 *',
    });
  };
  const gaps = gapsOf(next);
  const shortestGapMs = Math.min(...gaps);
  if (shortestGapMs < GAP_MINUTES_MIN * MINUTE_MS) {
    throw new UsageError(
      `the schedule "${text}" comes twice within ${shortestGapMs / MINUTE_MS} min, and ${GAP_MINUTES_MIN} min is the shortest`,
      { hint: 'once a night is enough for daily data: 0 3 * * *' },
    );
  }
  return { text, shortestGapMs, longestGapMs: Math.max(...gaps), next };
}

function parse(text: string): Cron {
  const problem = (why: string, cause?: unknown) =>
    new UsageError(`"${text}" is not a schedule: ${why}`, {
      cause,
      hint: 'write minute, hour, day, month and weekday in UTC, for example 0 3 * * * for every night at 03:00',
    });
  // The parser would also accept dates, names and the question mark, which means the time of the start.
  const fields = text.trim().split(/\s+/);
  if (fields.length !== FIELDS) throw problem(`it needs ${FIELDS} fields and has ${fields.length}`);
  if (text.includes('?')) throw problem('it has a question mark');
  try {
    return new Cron(text.trim(), { mode: '5-part', utcOffset: 0 });
  } catch (error) {
    throw problem(messageOf(error).replace(/^CronPattern: /, ''), error);
  }
}

function gapsOf(next: (after: Date) => Date): number[] {
  const gaps: number[] = [];
  const first = next(EXAMINED_FROM);
  let [tick, spanMs, days] = [first, 0, 0];
  while (days < DAYS_EXAMINED_MAX && tick < EXAMINED_UNTIL) {
    const following = next(tick);
    gaps.push(following.getTime() - tick.getTime());
    if (dayOf(following) === dayOf(first)) spanMs = following.getTime() - first.getTime();
    else days += 1;
    tick = new Date(following.getTime() + (days === 0 ? 0 : spanMs));
  }
  return gaps;
}

/** The instants at which rounds are due. */
interface Timetable {
  /** The first tick after an instant. */
  next(after: Date): Date;
  /** How long after a tick its round begins, so that many installations do not begin at once. The same for the same tick. */
  delayMs(tick: Date): number;
}

/** What the service does next. */
export type Action =
  | { readonly kind: 'wait'; readonly tick: Date; readonly until: Date }
  /** `tick` is the oldest one that the round is for; null for a round that no tick asked for. */
  | { readonly kind: 'run'; readonly tick: Date | null };

/**
 * How far ahead of the clock the mark of the last round may be. A clock that was set back by less repeats no tick; a mark
 * further ahead was made by a clock that was wrong.
 */
export const AHEAD_MS_MAX = 24 * 60 * 60 * 1000;

/**
 * Decides what to do at an instant.
 *
 * One mark says which ticks are handled: all up to the beginning of the last round. So however many ticks passed in a
 * sleep, a stop or a long round, one round is for all of them, and no tick has a second round.
 * @param handledUntil when the last round began; null if there was none
 */
export function nextAction(handledUntil: Date | null, now: Date, timetable: Timetable): Action {
  if (handledUntil === null || handledUntil.getTime() - now.getTime() > AHEAD_MS_MAX) {
    return { kind: 'run', tick: null };
  }
  const tick = timetable.next(handledUntil);
  const until = new Date(tick.getTime() + timetable.delayMs(tick));
  return until <= now ? { kind: 'run', tick } : { kind: 'wait', tick, until };
}

/** The longest sleep. A machine that was suspended notices after its wake-up within this time. */
export const SLICE_MS = 30_000;

/** How to keep a schedule. */
interface KeptSchedule {
  readonly clock: Clock;
  /** Aborted to end. */
  readonly signal: AbortSignal;
  readonly timetable: Timetable;
  /** When the last round began that came to its end; null if there was none. */
  readonly handledUntil: Date | null;
  /** Is called before each wait and each round. */
  readonly turn: (action: Action) => void;
  /** Performs one round. Must not throw. */
  readonly perform: (action: Action & { readonly kind: 'run' }) => Promise<void>;
  /**
   * Remembers when the last round began, for the next start. False if that was impossible; it is tried again at the next
   * turn.
   */
  readonly remember: (handledUntil: Date) => Promise<boolean>;
}

/** Performs a round for every tick, one round at a time, until the signal. A round that the signal ended is not remembered. */
export async function keepSchedule(kept: KeptSchedule): Promise<void> {
  const { clock, signal, timetable, turn, perform, remember } = kept;
  let { handledUntil } = kept;
  let isRemembered = true;
  while (!signal.aborted) {
    const now = clock.now();
    const action = nextAction(handledUntil, now, timetable);
    turn(action);
    if (action.kind === 'run') {
      await perform(action);
      if (signal.aborted) return;
      handledUntil = now;
      isRemembered = await remember(now);
    } else {
      if (!isRemembered && handledUntil !== null) isRemembered = await remember(handledUntil);
      const ms = Math.min(SLICE_MS, action.until.getTime() - clock.now().getTime());
      await clock.sleep(Math.max(ms, 1), signal).catch((error: unknown) => {
        if (!signal.aborted) throw error;
      });
    }
  }
}

/** The name under which the warehouse keeps it. */
const LAST_ROUND = 'serve';

/** Reads when the last round of the service began that came to its end; null if there was none, or if it cannot be read. */
export async function readLastRound(warehouse: Pick<Warehouse, 'read'>): Promise<Date | null> {
  const text = await readState(warehouse, '', LAST_ROUND);
  const at = new Date(text === null ? Number.NaN : text.replaceAll('"', ''));
  return Number.isNaN(at.getTime()) ? null : at;
}

/** Remembers when the last round began. Takes the run lock, so that no run or copy writes meanwhile. */
export async function writeLastRound(warehouse: Warehouse, at: Date): Promise<void> {
  const lock = await warehouse.lock();
  try {
    await writeState(warehouse, '', LAST_ROUND, JSON.stringify(at.toISOString()));
  } finally {
    await lock.release();
  }
}

/** Multiples of it spread evenly over 0 to 1 and do not repeat. */
const GOLDEN_RATIO = 0.618_033_988_749_894_9;

/**
 * Spreads the rounds of many installations: returns how long after a tick its round begins, from 0 to below `jitterMs`. The
 * same tick always gives the same delay; another seed, from 0 to 1, gives other delays.
 */
export function spread(jitterMs: number, seed: number): (tick: Date) => number {
  return (tick) => {
    const share = (seed + (tick.getTime() / MINUTE_MS) * GOLDEN_RATIO) % 1;
    return Math.floor(share * jitterMs);
  };
}
