import { type SQL, sql } from '../../../schema/query.ts';
import { dayOf, FIRST_DAY, isDay, shiftDay, type UtcDay, yesterdayOf } from '../../core/day.ts';
import type { DailyStream } from '../../core/stream.ts';
import { contractOf, dailyOf } from '../../expected/index.ts';
import { CONFIRM_DAYS } from '../../judge/agreement.ts';
import { ACCEPT_AFTER_MS, ACCEPT_LOOKS } from '../../judge/doubt.ts';
import { LOOKS } from '../../judge/looks.ts';
import { PERIOD_DAYS_MAX, PHRASES } from '../../metrics/index.ts';
import { runReads } from '../../port/index.ts';
import { storedUnit } from '../../units/index.ts';
import type { Result } from '../numbers.ts';
import { MARK_STATES, type MarkState } from '../page.ts';
import type { PageReader } from '../reader.ts';

/** Consecutive days of a stream in one state. */
export interface CoverageSpan {
  readonly from: UtcDay;
  readonly until: UtcDay;
  readonly state: MarkState;
  /** Null if the state says enough. */
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

/** The days and streams that a warehouse should hold of an organization. */
export interface ExpectedDays {
  readonly from: UtcDay;
  readonly until: UtcDay;
  readonly daily: readonly DailyStream[];
}

/**
 * The days and streams that the warehouse should hold: those of the contract, up to yesterday. Without a clock, up to the newest day
 * of the ledger, or the day before the newest run began if that is later. Null if nothing was ever run, or no day is expected.
 */
export async function expectedDays(reader: PageReader): Promise<ExpectedDays | null> {
  const { orgId, today } = reader.filters;
  const { rows } = await reader.select({
    title: 'Newest day and newest run',
    query: sql`
SELECT MAX(date) AS newest_day,
  (SELECT MAX(started_at) FROM export_runs WHERE org_id = ${orgId} OR org_id IS NULL) AS newest_run
FROM export_units WHERE org_id = ${orgId} AND date <> ''`,
    streams: ['activity'],
  });
  const { newest_day: newest, newest_run: run } = rows[0] ?? {};
  const contract = await runReads(reader.warehouse, contractOf(orgId));
  const before = typeof run === 'string' ? [shiftDay(dayOf(new Date(run)), -1)] : [];
  const days = [...(isDay(newest) ? [newest] : []), ...before].filter((day) => day >= FIRST_DAY).toSorted();
  const last = days.length === 0 ? undefined : today === undefined ? days.at(-1) : yesterdayOf(today.now);
  const daily = dailyOf(contract);
  if (last === undefined || last < contract.firstDay || daily.length === 0) return null;
  // A run whose clock was wrong by years must not make the page fail.
  return { from: contract.firstDay, until: last < LAST_DAY_MAX ? last : LAST_DAY_MAX, daily };
}

const LAST_DAY_MAX = shiftDay(FIRST_DAY, PERIOD_DAYS_MAX - 1);

/**
 * Reads the states of a stream on the expected days, as spans. `since` is the beginning of a doubt,
 * the time at which the first day of a settled span settled, or the first load of days that are not settled. The ledger
 * does not record since when a unit fails or awaits data. `last_error` is that of the span's newest day; only managers read
 * it, because it may hold parts of a response.
 */
export async function streamCoverage(
  reader: PageReader,
  stream: DailyStream,
  { from, until }: ExpectedDays,
): Promise<StreamCoverage> {
  const result = await reader.select({
    title: `Coverage of ${stream}`,
    query: spansQuery(reader, stream, { from, until }),
    streams: [stream],
    from,
    until,
  });
  const spans = result.rows.flatMap((cells, row) => {
    const { first_day: first, last_day: last, state } = cells;
    if (!isDay(first) || !isDay(last) || !isMark(state)) return [];
    const { reason, since, pulled_at: pulledAt } = cells;
    return {
      from: first,
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

/** True for a unit `u` of the ledger that was old when it was first seen, and has been seen once or twice, as SQL. */
const IN_FIRST_LOOKS: SQL = sql`u.state IN ('loaded', 'awaiting') AND u.settled_at IS NULL
        AND CAST(u.watch AS TEXT) LIKE '%"settlesOn"%'`;

/** The mark of a unit `u` of the ledger, as SQL. What settled by its age alone was never confirmed, so it is open. */
export const UNIT_MARK: SQL = sql`CASE
      WHEN u.state IS NULL THEN 'pending'
      WHEN ${IN_FIRST_LOOKS} THEN 'seen'
      WHEN u.state IN ('loaded', 'empty') AND (u.settled_at IS NULL OR u.confirmed = 'age') THEN 'open'
      ELSE u.state
    END`;

const OPEN_REASON: SQL = sql`CASE
      WHEN u.state = 'quarantined' AND u.settled_at IS NOT NULL THEN 'never-confirmed'
      WHEN u.state IS NULL OR u.state NOT IN ('loaded', 'empty') OR ${IN_FIRST_LOOKS} THEN NULL
      WHEN u.confirmed = 'age' THEN 'never-confirmed'
      WHEN u.settled_at IS NOT NULL THEN NULL
      WHEN CAST(u.watch AS TEXT) LIKE '%"due"%' THEN 'reopened'
      WHEN CAST(u.watch AS TEXT) LIKE '%"odd"%' THEN 'figures-disagree'
      ELSE 'young'
    END`;

function spansQuery(
  { warehouse, filters }: PageReader,
  stream: DailyStream,
  { from, until }: Omit<ExpectedDays, 'daily'>,
): SQL {
  const phrases = PHRASES[warehouse.dialect];
  return sql`
WITH RECURSIVE calendar (date) AS (
${phrases.calendar('calendar', from, until)}
), marked AS (
  SELECT c.date, ${UNIT_MARK} AS state,
    ${OPEN_REASON} AS reason,
    CASE
      WHEN u.state = 'doubted' THEN u.doubted_at
      WHEN u.state IN ('loaded', 'empty', 'quarantined') THEN COALESCE(u.settled_at, u.first_loaded_at)
    END AS since,
    u.last_pulled_at, u.last_error
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
  MIN(since) AS since, MIN(last_pulled_at) AS pulled_at,
  MAX(CASE WHEN date = last_day THEN last_error END) AS last_error
FROM spans
GROUP BY state, reason, span, last_day
ORDER BY first_day`;
}

export function isMark(value: unknown): value is MarkState {
  return (MARK_STATES as readonly unknown[]).includes(value);
}

function isOpenReason(value: unknown): value is OpenReason {
  return (OPEN_REASONS as readonly unknown[]).includes(value);
}

/** The states of a day, worst first: a day has the worst state of its streams. It is empty only if all streams are. */
export const WORST_FIRST: readonly MarkState[] = [
  'failed',
  'doubted',
  'quarantined',
  'pending',
  'awaiting',
  'open',
  'seen',
  'loaded',
  'empty',
  'expired',
];

/**
 * Counts the expected days: one row with all `days`, those `stored` in all expected streams,
 * one column per state with the days of which it is the worst,
 * and those that are `differing`: settled in a stream of which the service has given another answer since.
 */
export function dayStates(
  { warehouse, filters, select }: PageReader,
  { from, until, daily }: ExpectedDays,
): Promise<Result> {
  const phrases = PHRASES[warehouse.dialect];
  const streams = sql.join(
    daily.map((stream) => sql`(${stream})`),
    sql`, `,
  );
  const rank = sql.join(
    WORST_FIRST.map((state, index) => sql`WHEN ${state} THEN ${sql.raw(String(index))}`),
    sql` `,
  );
  const counts = MARK_STATES.map(
    (state) =>
      sql`,\n  SUM(CASE WHEN worst = ${sql.raw(String(WORST_FIRST.indexOf(state)))} THEN 1 ELSE 0 END) AS ${sql.raw(state)}`,
  );
  return select({
    title: 'Days by their worst state',
    query: sql`
WITH RECURSIVE calendar (date) AS (
${phrases.calendar('calendar', from, until)}
), streams (stream) AS (
  VALUES ${streams}
), units AS (
  SELECT c.date, ${UNIT_MARK} AS state,
    CASE WHEN ${storedUnit('u')} OR u.state = 'expired' THEN 1 ELSE 0 END AS stored,
    CASE WHEN u.settled_at IS NOT NULL AND CAST(u.watch AS TEXT) LIKE '%"looks"%' THEN 1 ELSE 0 END AS differs
  FROM calendar c
  CROSS JOIN streams s
  LEFT JOIN export_units u ON u.org_id = ${filters.orgId} AND u.stream = s.stream
    AND u.date = ${phrases.textOf(sql`c.date`)}
), days AS (
  SELECT date, MIN(CASE state ${rank} END) AS worst, MIN(stored) AS stored, MAX(differs) AS differs
  FROM units GROUP BY date
)
SELECT COUNT(*) AS days, SUM(stored) AS stored, SUM(differs) AS differing${sql.join(counts, sql``)}
FROM days`,
    streams: daily,
    from,
    until,
  });
}

const HOUR_MS = 3_600_000;

/** Why days are not settled: `young` ones have not reached the age at which days settle. */
const OPEN_REASONS = ['young', 'figures-disagree', 'reopened', 'never-confirmed'] as const;
type OpenReason = (typeof OPEN_REASONS)[number];

const OPEN_STEPS: Readonly<Record<OpenReason, string>> = {
  young: 'Too young to settle: every run pulls it again, and the service may still change it.',
  'figures-disagree':
    'Its numbers contradict those of another stream. It settles when runs have found the same for seven days.',
  reopened: 'The service changed it after it settled. The next run pulls it again.',
  'never-confirmed':
    'It settled by its age, although nothing confirmed it. Runs compare it with the service, and pull it again once the service sends something else.',
};

const STEPS: Readonly<Record<Exclude<MarkState, 'open'>, string>> = {
  loaded: 'Nothing: it is settled.',
  empty: 'Nothing: it is settled without activity.',
  seen: `It was old when it was first pulled. It settles once looks on ${LOOKS} days have found the same.`,
  awaiting: `It had no activity when it was pulled. Every run pulls it again until all streams are empty, or, if another stream has activity, until it is ${CONFIRM_DAYS} days old.`,
  doubted:
    `Stored rows stay. The loss is accepted once runs on ${ACCEPT_LOOKS} days within ${ACCEPT_AFTER_MS / HOUR_MS} hours or more ` +
    'have found it.',
  failed: 'The next run pulls it again.',
  quarantined:
    'Records could not be stored. The next run pulls it again; daywalk quarantine accept accepts them.',
  pending: 'The next run pulls it.',
  expired: 'Nothing: it is older than rows about people are kept.',
};

/** What happens next to a day in a state, in words. docs/trust.md has the rules. */
export function nextStep(state: MarkState, reason: OpenReason | null): string {
  return reason === null && state !== 'open' ? STEPS[state] : OPEN_STEPS[reason ?? 'young'];
}
