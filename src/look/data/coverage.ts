import { type SQL, sql } from '../../../schema/query.ts';
import { dayOf, FIRST_DAY, isDay, shiftDay, type UtcDay } from '../../core/day.ts';
import type { DailyStream } from '../../core/stream.ts';
import { PERIOD_DAYS_MAX } from '../../metrics/period.ts';
import { PHRASES } from '../../metrics/query/select.ts';
import { isRestricted } from '../audience/audience.ts';
import { MARK_STATES, type MarkState } from '../page/page.ts';
import { OPEN_REASONS, type OpenReason } from '../words/next-steps.ts';
import type { PageReader } from './reader.ts';
import type { Result } from './result.ts';

/** Consecutive days of a stream in one state. */
export interface CoverageSpan {
  readonly from: UtcDay;
  readonly until: UtcDay;
  readonly state: MarkState;
  /** Null unless the state is `open`. */
  readonly reason: OpenReason | null;
  /** ISO instant, see {@link streamCoverage}. */
  readonly since: string | null;
  /** When the least recently pulled day of the span was pulled. */
  readonly pulledAt: string | null;
  /** Row of the span in the result. */
  readonly row: number;
}

export interface StreamCoverage {
  readonly stream: DailyStream;
  /** Oldest first, without a gap between them. */
  readonly spans: readonly CoverageSpan[];
  readonly result: Result;
}

/**
 * The last day that the warehouse should hold: the newest day of the ledger, or the day before the newest run began if that
 * is later. It comes from the warehouse and not from a clock, so that one warehouse always gives one page. Null if nothing
 * was ever run.
 */
export async function lastExpectedDay(reader: PageReader): Promise<UtcDay | null> {
  const { orgId } = reader.filters;
  const { rows } = await reader.select({
    title: 'Newest day and newest run',
    query: sql`
SELECT MAX(date) AS newest_day,
  (SELECT MAX(started_at) FROM export_runs WHERE org_id = ${orgId} OR org_id IS NULL) AS newest_run
FROM export_units WHERE org_id = ${orgId} AND date <> ''`,
    streams: ['activity'],
  });
  const { newest_day: newest, newest_run: run } = rows[0] ?? {};
  const before = typeof run === 'string' ? [shiftDay(dayOf(new Date(run)), -1)] : [];
  const days = [...(isDay(newest) ? [newest] : []), ...before].filter((day) => day >= FIRST_DAY).toSorted();
  const last = days.at(-1);
  if (last === undefined) return null;
  // A run whose clock was wrong by years must not make the page fail.
  return last < LAST_DAY_MAX ? last : LAST_DAY_MAX;
}

const LAST_DAY_MAX = shiftDay(FIRST_DAY, PERIOD_DAYS_MAX - 1);

/**
 * Reads the states of a stream from the first day of the service to `until`, as spans. `since` is the beginning of a doubt,
 * the time at which the first day of a settled span settled, or the first load of days that are not settled. The ledger
 * does not record since when a unit fails or awaits data. `last_error` is that of the span's newest day; only managers read
 * it, because it may hold parts of a response.
 */
export async function streamCoverage(
  reader: PageReader,
  stream: DailyStream,
  until: UtcDay,
): Promise<StreamCoverage> {
  const result = await reader.select({
    title: `Coverage of ${stream}`,
    query: spansQuery(reader, stream, until),
    streams: [stream],
    from: FIRST_DAY,
    until,
  });
  const spans = result.rows.flatMap((cells, row) => {
    const { first_day: from, last_day: last, state } = cells;
    if (!isDay(from) || !isDay(last) || !isMark(state)) return [];
    const { reason, since, pulled_at: pulledAt } = cells;
    return {
      from,
      until: last,
      state,
      reason: isOpenReason(reason) ? reason : null,
      since: typeof since === 'string' ? since : null,
      pulledAt: typeof pulledAt === 'string' ? pulledAt : null,
      row,
    };
  });
  return { stream, spans, result };
}

/** The mark of a unit `u` of the ledger, as SQL. What settled by its age alone was never confirmed, so it is open. */
export const UNIT_MARK: SQL = sql`CASE
      WHEN u.state IS NULL THEN 'pending'
      WHEN u.state IN ('loaded', 'empty') AND (u.settled_at IS NULL OR u.confirmed = 'age') THEN 'open'
      ELSE u.state
    END`;

const OPEN_REASON: SQL = sql`CASE
      WHEN u.state NOT IN ('loaded', 'empty') THEN NULL
      WHEN u.confirmed = 'age' THEN 'never-confirmed'
      WHEN u.settled_at IS NOT NULL THEN NULL
      WHEN CAST(u.watch AS TEXT) LIKE '%"due"%' THEN 'reopened'
      WHEN CAST(u.watch AS TEXT) LIKE '%"shortOn"%' THEN 'fewer-users'
      ELSE 'young'
    END`;

function spansQuery({ warehouse, filters, viewer }: PageReader, stream: DailyStream, until: UtcDay): SQL {
  const phrases = PHRASES[warehouse.dialect];
  const error = !isRestricted(viewer);
  return sql`
WITH RECURSIVE calendar (date) AS (
${phrases.calendar('calendar', FIRST_DAY, until)}
), marked AS (
  SELECT c.date, ${UNIT_MARK} AS state,
    ${OPEN_REASON} AS reason,
    CASE
      WHEN u.state = 'doubted' THEN u.doubted_at
      WHEN u.state IN ('loaded', 'empty', 'quarantined') THEN COALESCE(u.settled_at, u.first_loaded_at)
    END AS since,
    u.last_pulled_at${error ? sql`, u.last_error` : sql``}
  FROM calendar c
  LEFT JOIN export_units u ON u.org_id = ${filters.orgId} AND u.stream = ${stream}
    AND u.date = ${phrases.textOf(sql`c.date`)}
), numbered AS (
  SELECT marked.*,
    ROW_NUMBER() OVER (ORDER BY date)
      - ROW_NUMBER() OVER (PARTITION BY state, COALESCE(reason, '') ORDER BY date) AS span
  FROM marked
), spans AS (
  SELECT numbered.*, MAX(date) OVER (PARTITION BY state, COALESCE(reason, ''), span) AS last_day
  FROM numbered
)
SELECT MIN(date) AS first_day, last_day, COUNT(*) AS days, state, reason,
  MIN(since) AS since, MIN(last_pulled_at) AS pulled_at${
    error ? sql`,\n  MAX(CASE WHEN date = last_day THEN last_error END) AS last_error` : sql``
  }
FROM spans
GROUP BY state, reason, span, last_day
ORDER BY first_day`;
}

function isMark(value: unknown): value is MarkState {
  return (MARK_STATES as readonly unknown[]).includes(value);
}

function isOpenReason(value: unknown): value is OpenReason {
  return (OPEN_REASONS as readonly unknown[]).includes(value);
}
