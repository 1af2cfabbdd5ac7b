import { additivityOf, allMetrics, dimensionsOf, type Metric } from '../../schema/metrics/dictionary.ts';
import { queryText, sql } from '../../schema/query.ts';
import { daysFrom, shiftDay, type UtcDay, weekdayOf, yesterdayOf } from '../core/day.ts';
import { runReads } from '../port/index.ts';
import {
  largeEnough,
  nearestWeeks,
  publishedCurrencies,
  publishedNumber,
  publishedRows,
  publishedWeeks,
  restatedWeeks,
  WEEK_DIMENSIONS,
  waitingWeeks,
} from '../weeks/index.ts';
import { explained, listed } from './about.ts';
import { textOf } from './query-metric.ts';
import { dayAsked, metricOf } from './question.ts';
import type {
  CoverageAnswer,
  ExplainArguments,
  ListArguments,
  QueryAnswer,
  QueryArguments,
  Reader,
  Tool,
} from './tools.ts';
import { ROWS_MAX } from './tools.ts';
import { dayWords, foreignText, preliminaryLine, Refusal } from './wording.ts';

type PublishedNumber = ReturnType<typeof publishedNumber>;

const WEEK_DAYS = 7;
/** The number of people is beside each published number. */
const PEOPLE = 'active_users';
const TOTAL = 'total';

/** The weeks that a team may ask about, and what is published of them: the dimensions of each metric. */
interface Published {
  readonly weeks: readonly UtcDay[];
  readonly dimensions: ReadonlyMap<string, readonly string[]>;
}

async function readPublished({ warehouse, orgId }: Reader): Promise<Published> {
  const weeks = await runReads(warehouse, publishedWeeks(orgId));
  const rows = await warehouse.select(sql`
    SELECT DISTINCT dimension, metric FROM published_weeks WHERE org_id = ${orgId} AND metric <> '' AND dimension <> 'currency' ORDER BY dimension, metric`);
  const dimensions = Map.groupBy(rows, ({ metric }) => String(metric));
  const ofPeople = dimensionsOf(metricOf(PEOPLE));
  const peopleIn = [...new Set(rows.map(({ dimension }) => String(dimension)))].filter(
    (dimension) => dimension === TOTAL || ofPeople.some((own) => own === dimension),
  );
  return {
    weeks,
    dimensions: new Map([
      ...[...dimensions].map(
        ([metric, own]) => [metric, own.map(({ dimension }) => String(dimension))] as const,
      ),
      ...(peopleIn.length === 0 ? [] : [[PEOPLE, peopleIn] as const]),
    ]),
  };
}

function metricsOf({ dimensions }: Published): Metric[] {
  return allMetrics.filter(({ name }) => dimensions.has(name));
}

/** The metrics that are published, with the dimensions of their groups. */
export const listPublished: Tool<ListArguments> = async (reader, given) => {
  const published = await readPublished(reader);
  return listed(given, metricsOf(published), ({ name }) => [
    'week',
    ...(published.dimensions.get(name) ?? []).filter((dimension) => dimension !== TOTAL),
  ]);
};

/** What is asked of published weeks: one metric, the total or the groups of one dimension. */
interface Asked {
  readonly metric: Metric;
  readonly dimension: string;
  /** Only this block of the dimension. */
  readonly block: string | undefined;
  readonly from: UtcDay;
  readonly until: UtcDay;
  /** Those of the weeks from the first to the last that are published. */
  readonly weeks: readonly UtcDay[];
}

/** Published weeks as they were published: a row for each week and group, the total of each week if no group is asked for. */
export const queryPublished: Tool<QueryArguments> = async (reader, given) => {
  const published = await readPublished(reader);
  const asked = askedOf(reader, given, published);
  const unit = await unitOf(reader, asked);
  const rows = await readBlocks(reader, asked);
  const own = rows.shown.filter(({ block }) => asked.block === undefined || block === asked.block);
  if (asked.block !== undefined && own.length === 0) throw noBlock(asked, rows.shown, published);
  const numberOf = ({ people, value }: PublishedNumber) => (asked.metric.name === PEOPLE ? people : value);
  const all = own.map((row) => ({
    week: row.week_start,
    ...(asked.dimension !== TOTAL && { [asked.dimension]: foreignText(row.block) }),
    value: numberOf(row),
  }));
  const total = await totalOf(reader, asked, own.map(numberOf));
  const { from, until, metric } = asked;
  const days = daysOf(asked);
  const restated = await runReads(reader.warehouse, restatedWeeks(reader.orgId, asked));
  const data: QueryAnswer = {
    ...{ metric: metric.name, unit, combines: additivityOf(metric), from, until },
    final: days.missing.length === 0,
    ...{ total: total.value, total_note: total.note, previous: null, others: null, run_id: null, days },
    rows: all.slice(0, ROWS_MAX),
    rows_omitted: Math.max(0, all.length - ROWS_MAX),
    groups_hidden: rows.hidden,
    warnings: [
      'these are published weeks: groups of too few people are among the others',
      ...(restated.length === 0
        ? []
        : [`weeks that were restated since keep their numbers: ${restated.join(', ')}`]),
    ],
  };
  return { text: textOf(data, preliminaryLine(days)), data };
};

/** @throws {Refusal} for costs of weeks that have several currencies. */
async function unitOf({ warehouse, orgId }: Reader, { metric, from, until }: Asked): Promise<string> {
  if (metric.unit !== 'currency') return metric.unit;
  const currencies = await runReads(warehouse, publishedCurrencies({ orgId, from, until }));
  if (currencies.length < 2) return currencies[0] ?? metric.unit;
  throw new Refusal(
    `${metric.name} cannot be added over currencies: the weeks have prices in ${currencies.join(' and ')}`,
    'choose weeks with prices in one currency',
  );
}

/** The query that `query_metric` reads published weeks with. */
export const explainPublished: Tool<ExplainArguments> = async (reader, given) => {
  const asked = askedOf(reader, given, await readPublished(reader));
  const { metric, from, until, dimension } = asked;
  const lastWeek = shiftDay(until, 1 - WEEK_DAYS);
  const query = publishedRows({ orgId: reader.orgId, from, until: lastWeek, dimension });
  return explained(metric, { sql: queryText(query), from, until, run_id: null, days: daysOf(asked) });
};

/** Which weeks are published, and which wait. */
export const coverageOfWeeks: Tool<unknown> = async (reader) => {
  const { weeks } = await readPublished(reader);
  const { warehouse, orgId, now } = reader;
  const waiting = await runReads(warehouse, waitingWeeks(orgId, yesterdayOf(now), { now }));
  const last = weeks.at(-1);
  const settled = weeks.length * WEEK_DAYS;
  const data: CoverageAnswer = {
    organization: foreignText(orgId),
    first_day: weeks[0] ?? null,
    last_day: last === undefined ? null : sundayOf(last),
    complete: waiting.length === 0,
    ...{ last_complete_export: null, age_hours: null, late: false },
    streams: waiting.map(({ week, earliest, isTooSmall }) => ({
      week,
      published_from: isTooSmall ? null : earliest,
    })),
    weeks: [...weeks],
    days: { expected: settled, settled, unsettled: [], missing: [] },
  };
  return { text: `Published: ${weekWords(weeks)}. A week is published once it is settled.`, data };
};

/**
 * What a call asks of published weeks.
 * @throws {Refusal} for everything that is not published, with what is.
 */
function askedOf(reader: Reader, given: QueryArguments, published: Published): Asked {
  const { weeks, dimensions } = published;
  const [first, last] = [weeks[0], weeks.at(-1)];
  if (first === undefined || last === undefined)
    throw new Refusal('no week is published yet', 'wait until a week is settled, or ask a manager');
  refuseOthers(given, weeks);
  const metric = publishedMetric(given.metric, published);
  const { name: dimension, block } = dimensionOf(metric, given, dimensions.get(metric.name) ?? [], weeks);
  const from = dayAsked('from', given.from, reader.now) ?? first;
  const until = dayAsked('until', given.until, reader.now) ?? sundayOf(last);
  const nearest = nearestWeeks({ from, until });
  if (nearest.from !== from || nearest.until !== until || until < from)
    throw new Refusal(
      'only whole weeks are published, Monday to Sunday',
      `ask from ${nearest.from} until ${nearest.until}; published are ${weekWords(weeks)}`,
    );
  const own = weeks.filter((week) => week >= from && week <= until);
  if (own.length === 0)
    throw new Refusal('no week of this period is published', `published are ${weekWords(weeks)}`);
  return { metric, dimension, block, from, until, weeks: own };
}

/** Whatever could be subtracted from a published week is refused. */
function refuseOthers({ user, compare, top, by = [] }: QueryArguments, weeks: readonly UtcDay[]): void {
  const other = by.find((name) => name !== 'week' && !WEEK_DIMENSIONS.some((known) => known === name));
  const what =
    user !== undefined || other === 'user'
      ? 'nothing about single people is published'
      : compare !== undefined
        ? 'published weeks are not compared'
        : top !== undefined
          ? 'published weeks are not ranked'
          : other !== undefined
            ? 'only weeks are published, not their parts by this dimension'
            : null;
  if (what !== null)
    throw new Refusal(
      what,
      `ask by week, or by week and one of ${WEEK_DIMENSIONS.join(', ')}: published are ${weekWords(weeks)}`,
    );
}

function publishedMetric(name: string, published: Published): Metric {
  const known = metricsOf(published);
  const metric = metricOf(name, published.dimensions.has(name) ? known : [...allMetrics]);
  if (published.dimensions.has(metric.name)) return metric;
  throw new Refusal(
    `${metric.name} is not published`,
    `choose one of ${known.map((own) => own.name).join(', ')}, in the published weeks: ${weekWords(published.weeks)}`,
  );
}

/** The dimension of a question, and the block of a filter: at most one of both. */
function dimensionOf(
  { name: metric }: Metric,
  { by = [], filter = {}, team }: QueryArguments,
  known: readonly string[],
  weeks: readonly UtcDay[],
): { readonly name: string; readonly block: string | undefined } {
  const filters: Readonly<Record<string, string>> = { ...filter, ...(team !== undefined && { team }) };
  const names = [...new Set([...by.filter((name) => name !== 'week'), ...Object.keys(filters)])];
  const [name = TOTAL, ...others] = names;
  if (others.length > 0)
    throw new Refusal(
      'groups of one dimension are published, and no combinations',
      `ask by week and one of ${WEEK_DIMENSIONS.join(', ')}: published are ${weekWords(weeks)}`,
    );
  if (known.includes(name)) return { name, block: filters[name] };
  const own = known.filter((dimension) => dimension !== TOTAL);
  throw new Refusal(
    `${metric} is not published by this dimension`,
    `ask for it by week${own.length === 0 ? ' alone' : `, or by week and one of ${own.join(', ')}`}: published are ${weekWords(weeks)}`,
  );
}

interface BlockRows {
  /** The rows of the metric, in the order of weeks and blocks. */
  readonly shown: readonly PublishedNumber[];
  /** How many groups are left out because this reader needs larger ones. */
  readonly hidden: number;
}

async function readBlocks({ warehouse, orgId, minGroup }: Reader, asked: Asked): Promise<BlockRows> {
  const { from, until, dimension, metric } = asked;
  const query = publishedRows({ orgId, from, until: shiftDay(until, 1 - WEEK_DAYS), dimension });
  const rows = (await warehouse.select(query)).map(publishedNumber);
  const isShown = largeEnough(rows, minGroup);
  const groupOf = ({ week_start, block }: PublishedNumber) => JSON.stringify([week_start, block]);
  const groups = [...Map.groupBy(rows, groupOf).values()].flatMap(([row]) => row ?? []);
  const own = metric.name === PEOPLE ? groups : rows.filter((row) => row.metric === metric.name);
  return { shown: own.filter(isShown), hidden: groups.filter((row) => !isShown(row)).length };
}

function noBlock({ dimension }: Asked, shown: readonly PublishedNumber[], { weeks }: Published): Refusal {
  return new Refusal(
    `no group of this name is published alone by ${dimension}: it has too few people, or something about few people would follow`,
    `choose one of the names below; published are ${weekWords(weeks)}`,
    [...new Set(shown.map(({ block }) => block))],
  );
}

/** The total of all groups, or of the one that was asked for, over published weeks that all have it. */
async function totalOf(reader: Reader, asked: Asked, own: readonly (number | null)[]) {
  const { metric, block, dimension, weeks } = asked;
  const values =
    block !== undefined || dimension === TOTAL
      ? own
      : (await readBlocks(reader, { ...asked, dimension: TOTAL })).shown.map(({ people, value }) =>
          metric.name === PEOPLE ? people : value,
        );
  const known = values.filter((value) => value !== null);
  if (known.length < weeks.length) return { value: null, note: 'it is not published for every week' };
  if (known.length === 1) return { value: known[0] ?? null, note: 'as published for the week' };
  if (additivityOf(metric) !== 'sum')
    return { value: null, note: 'a person of several weeks would count several times' };
  return { value: known.reduce((sum, value) => sum + value, 0), note: 'the sum of the published weeks' };
}

function daysOf({ from, until, weeks }: Asked) {
  const days = daysFrom(from, until);
  const missing = days.filter((day) => !weeks.includes(shiftDay(day, 1 - weekdayOf(day))));
  return { expected: days.length, settled: days.length - missing.length, unsettled: [], missing };
}

function sundayOf(monday: UtcDay): UtcDay {
  return shiftDay(monday, WEEK_DAYS - 1);
}

/** Weeks for people: "2026-01-19 to 2026-03-01". */
function weekWords(weeks: readonly UtcDay[]): string {
  if (weeks.length === 0) return 'no week';
  return `the weeks in ${dayWords(weeks.flatMap((week) => daysFrom(week, sundayOf(week))))}`;
}
