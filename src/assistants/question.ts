import {
  askableMetrics,
  DIMENSIONS,
  type Dimension,
  dimensionsOf,
  type Metric,
} from '../../schema/metrics/dictionary.ts';
import { sql } from '../../schema/query.ts';
import { dayOf, isDay, shiftDay, type UtcDay, yesterdayOf } from '../core/day.ts';
import { nearestName, UsageError } from '../core/errors.ts';
import { type MetricQuestion, readProvenance, resolveFilters } from '../metrics/index.ts';
import { UNASSIGNED } from '../rollups/index.ts';
import type { QueryArguments, Reader } from './tools.ts';
import { foreignText, Refusal } from './wording.ts';

/**
 * The metric of a name.
 * @throws {Refusal} with the nearest one and its definition, if there is none of this name.
 */
export function metricOf(name: string, known: readonly Metric[] = askableMetrics): Metric {
  const found = known.find((metric) => metric.name === name);
  if (found !== undefined) return found;
  const near = nearestName(
    name.toLowerCase(),
    known.map((metric) => metric.name),
  );
  const [nearest = searchMetrics(name, known)[0]] = known.filter((metric) => metric.name === near);
  const instead =
    nearest === undefined
      ? 'call list_metrics without search for all of them'
      : `ask for ${nearest.name}: ${nearest.doc}`;
  throw new Refusal('there is no metric of this name', instead);
}

/** The metrics that have some of the words in their names or definitions, the most words first. */
export function searchMetrics(search: string, known: readonly Metric[]): readonly Metric[] {
  const words = search.toLowerCase().split(/[^a-z\d]+/);
  const stems = words.filter((word) => word.length > 2).map((word) => word.replace(/(?:ing|ed|s)$/, ''));
  const scored = known.map((metric) => {
    const { name, title, doc, unit } = metric;
    const [heading, all] = [
      `${name} ${title}`.toLowerCase(),
      `${doc} ${unit} ${dimensionsOf(metric)}`.toLowerCase(),
    ];
    const score = stems.reduce(
      (sum, stem) => sum + (heading.includes(stem) ? 2 : all.includes(stem) ? 1 : 0),
      0,
    );
    return { metric, score };
  });
  return scored
    .filter(({ score }) => score > 0)
    .toSorted((one, other) => other.score - one.score)
    .map(({ metric }) => metric);
}

/** @throws {Refusal} for a name that is no dimension of the metric. */
export function dimensionOf(metric: Metric, name: string): Dimension {
  const own = dimensionsOf(metric);
  const found = own.find((dimension) => dimension === name);
  if (found !== undefined) return found;
  const near = nearestName(name.toLowerCase(), own);
  const others = askableMetrics
    .filter((other) => dimensionsOf(other).some((dimension) => dimension === name))
    .map((other) => other.name);
  const elsewhere = DIMENSIONS.find((dimension) => dimension === name);
  throw new Refusal(
    `${metric.name} has no dimension ${elsewhere ?? 'of this name'}`,
    `${near === undefined ? `it has ${own.join(', ')}` : `ask by ${near}`}${
      elsewhere === undefined ? '' : `; ${elsewhere} is a dimension of ${others.slice(0, 5).join(', ')}`
    }`,
  );
}

/**
 * A day of a question.
 * @throws {Refusal} for a text that is no day, and for a day of which there can be no data yet.
 */
export function dayAsked(
  which: 'from' | 'until' | 'the end of compare',
  text: string | undefined,
  now: Date,
): UtcDay | undefined {
  if (text === undefined) return undefined;
  if (!isDay(text))
    throw new Refusal(`${which} is not a calendar day`, 'write days as YYYY-MM-DD, for example 2026-11-01');
  const yesterday = yesterdayOf(now);
  if (text <= yesterday) return text;
  throw new Refusal(
    `${which} is ${text}, a day of which there can be no data yet`,
    `ask up to yesterday, ${yesterday}, and say that the period is not over`,
  );
}

/**
 * The question of a call.
 * @throws {Refusal} for what the metric does not have, and for a team, a user or another value that is not there.
 */
export async function questionOf(reader: Reader, given: QueryArguments): Promise<MetricQuestion> {
  const { warehouse, orgId, now } = reader;
  const metric = metricOf(given.metric);
  const by = (given.by ?? []).map((name) => dimensionOf(metric, name));
  const filters = filtersOf(metric, given);
  const { team, ...others } = filters;
  const known = { ...others, ...(team !== undefined && { team: await teamOf(reader, team) }) };
  const asked = {
    ...{ orgId, metric: metric.name, filters: known, today: dayOf(now) },
    ...{ from: dayAsked('from', given.from, now), until: dayAsked('until', given.until, now) },
  };
  const found = await resolveFilters(warehouse, asked).catch((error: unknown) => {
    // The engine names values of the service, which have no place in a sentence.
    throw error instanceof UsageError ? noSuchValue(Object.keys(filters)) : error;
  });
  if (found.from !== undefined) dayAsked('from', found.from, now);
  const question = { metric: metric.name, orgId, by, ...found };
  return given.settled_only === true
    ? { ...question, ...(await settledPart(reader, metric, question)) }
    : question;
}

function noSuchValue(dimensions: readonly string[]): Refusal {
  return new Refusal(
    `no row has this value of ${dimensions.join(' and ')}`,
    `ask by ${dimensions[0]} for its values; a date, week or month is written as answers have it`,
  );
}

type Filters = Partial<Record<Dimension, string>>;

/** The filters of a call: team and user may be among the others, or be given by name. */
function filtersOf(metric: Metric, { filter = {}, team, user }: QueryArguments): Filters {
  const given = [
    ...Object.entries(filter),
    ...(team === undefined ? [] : [['team', team] as const]),
    ...(user === undefined ? [] : [['user', user] as const]),
  ];
  const filters: Filters = {};
  for (const [name, value] of given) {
    const dimension = dimensionOf(metric, name);
    if (filters[dimension] !== undefined && filters[dimension] !== value)
      throw new Refusal(`${dimension} is given twice`, 'give it once');
    filters[dimension] = value;
  }
  return filters;
}

/** A team as it is stored: an answer has shown it without what people do not see. */
async function teamOf({ warehouse, orgId }: Reader, name: string): Promise<string> {
  if (name === UNASSIGNED) return name;
  const rows = await warehouse.select(sql`SELECT DISTINCT team FROM people WHERE org_id = ${orgId}`);
  const teams = rows.flatMap(({ team }) => (typeof team === 'string' ? team : [])).toSorted();
  const found = teams.find((team) => team === name || foreignText(team) === name);
  if (found !== undefined) return found;
  if (teams.length === 0) throw new Refusal('nobody has a team', 'ask without a team');
  const near = nearestName(name, teams);
  throw new Refusal(
    'there is no team of this name',
    `choose one of the names below, or ${UNASSIGNED}`,
    near === undefined ? teams : [near, ...teams.filter((team) => team !== near)],
  );
}

/** The part of a period before its first day that can still change. */
async function settledPart(
  reader: Reader,
  { source }: Metric,
  { from, until }: Pick<MetricQuestion, 'from' | 'until'>,
) {
  const { stream, streams = [stream] } = source;
  const { days, ...period } = await readProvenance(reader.warehouse, {
    orgId: reader.orgId,
    streams,
    from,
    until,
  });
  const [first] = [...days.unsettled, ...days.missing].toSorted();
  if (first === undefined) return { from: period.from, until: period.until };
  if (first > period.from) return { from: period.from, until: shiftDay(first, -1) };
  throw new Refusal(
    `the period begins with ${first}, which can still change`,
    'ask without settled_only, or for a later first day; coverage tells which days are open',
  );
}
