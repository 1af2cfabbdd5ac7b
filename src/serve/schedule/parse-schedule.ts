import { Cron } from 'croner';
import { messageOf, UsageError } from '../../core/errors.ts';

const MINUTE_MS = 60_000;
/** A run sends some requests even if nothing is new, and the service adds one day per day. */
const GAP_MINUTES_MIN = 5;
const FIELDS = 5;
/** Two days of ticks at the shortest gap. Gaps within a day and between two days are the same on all days. */
const TICKS_EXAMINED_MAX = (2 * 24 * 60) / GAP_MINUTES_MIN;
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
  let tick = next(EXAMINED_FROM);
  for (let count = 0; count < TICKS_EXAMINED_MAX && tick < EXAMINED_UNTIL; count += 1) {
    const following = next(tick);
    gaps.push(following.getTime() - tick.getTime());
    tick = following;
    if ((gaps.at(-1) ?? 0) < GAP_MINUTES_MIN * MINUTE_MS) break;
  }
  return gaps;
}
