import { type SQL, sql } from '../../schema/query.ts';
import { dayOf, isDay, mondayOf, shiftDay, type UtcDay } from '../core/day.ts';
import { type Contract, contractOf } from '../expected/index.ts';
import { LOOKS } from '../judge/looks.ts';
import { parseNotes } from '../judge/notes.ts';
import type { QueryRow, Steps } from '../port/index.ts';
import { FIRST_WEEK, ROUNDING, weekStreams } from './publish-weeks.ts';
import { ACTIVE_PEOPLE, METRICS_OF_ORGANIZATION, readTotals } from './week-facts.ts';

/** The weeks of an organization of which numbers are published, in order of time. */
export function* publishedWeeks(orgId: string): Steps<readonly UtcDay[]> {
  const rows = yield sql`
    SELECT DISTINCT week_start FROM published_weeks
    WHERE org_id = ${orgId} AND dimension = 'total' AND metric <> '' ORDER BY week_start`;
  return rows.flatMap(({ week_start }) => (isDay(week_start) ? [week_start] : []));
}

/** A number that is published, as {@link publishedRows} selects it. */
export interface PublishedNumber extends QueryRow {
  readonly week_start: string;
  readonly dimension: string;
  readonly block: string;
  readonly metric: string;
  /** Null if nothing is stored about single people. */
  readonly people: number | null;
  readonly value: number;
}

/** A row that {@link publishedRows} selected. */
export function publishedNumber({ people = null, value, ...row }: QueryRow): PublishedNumber {
  return {
    week_start: String(row['week_start']),
    dimension: String(row['dimension']),
    block: String(row['block']),
    metric: String(row['metric']),
    people: people === null ? null : Number(people),
    value: Number(value),
  };
}

/** What is published of weeks. */
export interface PublishedQuestion {
  readonly orgId: string;
  /** The Mondays of the first and the last week. */
  readonly from: UtcDay;
  readonly until: UtcDay;
  readonly dimension: string;
}

const currenciesIn = ({ orgId, from, until }: Omit<PublishedQuestion, 'dimension'>) =>
  sql`SELECT DISTINCT block FROM published_weeks WHERE org_id = ${orgId} AND week_start BETWEEN ${from} AND ${until} AND dimension = 'currency'`;

/** The currencies of the published costs of weeks. */
export function* publishedCurrencies(weeks: Omit<PublishedQuestion, 'dimension'>): Steps<readonly string[]> {
  return (yield currenciesIn(weeks)).map(({ block }) => String(block)).toSorted();
}

/**
 * The statement that selects what is published of a dimension, in the order of weeks, blocks and metrics. Costs of weeks that have
 * several currencies are left out, because nobody may add or compare them.
 */
export function publishedRows({ orgId, from, until, dimension }: PublishedQuestion): SQL {
  return sql`SELECT week_start, dimension, block, metric, people, value
FROM published_weeks
WHERE org_id = ${orgId} AND week_start BETWEEN ${from} AND ${until} AND dimension = ${dimension} AND value IS NOT NULL
  AND (metric <> 'cost' OR (SELECT COUNT(*) FROM (${currenciesIn({ orgId, from, until })}) c) < 2)
ORDER BY week_start, block, metric`;
}

/**
 * True for rows that a reader may see whose limit is higher than the one with which the weeks were published. Blocks of fewer people
 * are left out, and with them the smallest of the other blocks, because what is left out follows from the total; of models, all of
 * a week, because it follows from the tiers too.
 */
export function largeEnough(
  rows: readonly PublishedNumber[],
  minGroup: number,
): (row: PublishedNumber) => boolean {
  const hidden = new Set<string>();
  const keyOf = ({ week_start, dimension, block }: PublishedNumber) =>
    JSON.stringify([week_start, dimension, block]);
  const families = Map.groupBy(rows, ({ week_start, dimension }) => JSON.stringify([week_start, dimension]));
  for (const family of families.values()) {
    const blocks = [...new Map(family.map((row) => [row.block, row])).values()];
    const sorted = blocks.toSorted((a, b) => sizeOf(a) - sizeOf(b) || (a.block < b.block ? -1 : 1));
    const small = sorted.filter((row) => sizeOf(row) < minGroup).length;
    if (small === 0) continue;
    const count = family[0]?.dimension === 'model' ? sorted.length : small + 1;
    for (const row of sorted.slice(0, count)) hidden.add(keyOf(row));
  }
  return (row) => !hidden.has(keyOf(row));
}

/** Of a total without people, nothing is known but that it is about everybody. */
function sizeOf({ people }: PublishedNumber): number {
  return people ?? Number.POSITIVE_INFINITY;
}

/** A week that is not published, and what it waits for. */
export interface WaitingWeek {
  readonly week: UtcDay;
  /** Days of the week that are not settled in every stream, or that are doubted. None: the next run publishes the week. */
  readonly days: readonly UtcDay[];
  /** The first night on which it can be published. */
  readonly earliest: UtcDay;
  /** True if it never will be, because too few people were active. */
  readonly isTooSmall: boolean;
}

/** The expected weeks up to today of which nothing is published; also the one that has begun, if `until` is not reached. */
export function* waitingWeeks(
  orgId: string,
  until: UtcDay,
  { now }: { readonly now: Date },
): Steps<readonly WaitingWeek[]> {
  const streams = yield* weekStreams(orgId);
  const begin = firstWeekOf(yield* contractOf(orgId));
  const published = new Set(yield* publishedWeeks(orgId));
  const small = yield sql`
    SELECT week_start FROM published_weeks WHERE org_id = ${orgId} AND dimension = 'total' AND metric = ''`;
  const tooSmall = new Set(small.map(({ week_start }) => String(week_start)));
  const units = yield sql`
    SELECT date, stream, state, settled_at, watch FROM export_units WHERE org_id = ${orgId} AND date >= ${FIRST_WEEK}`;
  const byDay = Map.groupBy(units, ({ date }) => String(date));
  const waiting: WaitingWeek[] = [];
  for (let week = begin; week <= until; week = shiftDay(week, 7)) {
    if (published.has(week)) continue;
    const days = Array.from({ length: 7 }, (_, index) => shiftDay(week, index));
    const open = days.filter((day) => !isSettled(byDay.get(day) ?? [], streams));
    const nights = open.map((day) =>
      earliestNight(day, byDay.get(day) ?? [], { today: dayOf(now), streams }),
    );
    const earliest = nights.toSorted().at(-1) ?? dayOf(now);
    waiting.push({ week, days: open, earliest, isTooSmall: tooSmall.has(week) });
  }
  return waiting;
}

/** The first week of which every day is expected, and none has expired. */
function firstWeekOf({ firstDay, usersFrom }: Pick<Contract, 'firstDay' | 'usersFrom'>): UtcDay {
  return mondayOf(shiftDay(usersFrom !== null && usersFrom > firstDay ? usersFrom : firstDay, 6));
}

function isSettled(units: readonly QueryRow[], streams: readonly string[]): boolean {
  const settled = units.filter(
    ({ state, settled_at }) => settled_at !== null && state !== 'doubted' && state !== 'expired',
  );
  return streams.every((stream) => settled.some((unit) => unit['stream'] === stream));
}

/** A day settles with its third look, on the third day after it at the earliest. */
function earliestNight(
  day: UtcDay,
  units: readonly QueryRow[],
  { today, streams }: { readonly today: UtcDay; readonly streams: readonly string[] },
): UtcDay {
  const missing = streams.map((stream) => {
    const watch = units.find((own) => own['stream'] === stream)?.['watch'];
    const { looks = [] } = parseNotes(typeof watch === 'string' ? watch : null);
    return Math.max(1, LOOKS - looks.length);
  });
  const [first, looked] = [shiftDay(day, LOOKS), shiftDay(today, Math.max(...missing) - 1)];
  return first > looked ? first : looked;
}

/**
 * The weeks of a period whose rows no longer add up to what is published: they were restated since. What is published stays. Numbers
 * about users of a week that has no row of users, or of which some have expired, are not compared; nor are costs, which follow from
 * credits.
 */
export function* restatedWeeks(
  orgId: string,
  { from, until }: { readonly from: UtcDay; readonly until: UtcDay },
): Steps<readonly UtcDay[]> {
  const usersFrom = firstWeekOf(yield* contractOf(orgId));
  const now = yield* readTotals(orgId, { from, until, usersFrom });
  const rows = yield publishedRows({ orgId, from, until, dimension: 'total' });
  const restated = rows.map(publishedNumber).filter(({ week_start, metric, people, value }) => {
    const sums = now.get(week_start);
    const active = sums?.get(ACTIVE_PEOPLE) ?? people;
    const sum = sums?.get(metric) ?? (METRICS_OF_ORGANIZATION.has(metric) ? 0 : value);
    return (people !== null && people !== active) || Math.abs(value - sum) > ROUNDING * Math.abs(value);
  });
  return [...new Set(restated.map(({ week_start }) => week_start))].filter(isDay);
}

/** The whole weeks that are nearest to a period. */
export function nearestWeeks({ from, until }: { readonly from: UtcDay; readonly until: UtcDay }) {
  const monday = mondayOf(from);
  const start = monday < FIRST_WEEK ? FIRST_WEEK : monday;
  const sunday = shiftDay(mondayOf(until), 6);
  return { from: start, until: sunday < start ? shiftDay(start, 6) : sunday };
}
