import {
  allMetrics,
  DIMENSIONS,
  type Dimension,
  dimensionsOf,
  isGrain,
  type Metric,
} from '../../schema/metrics/dictionary.ts';
import { sql } from '../../schema/query.ts';
import { isDay, shiftDay, type UtcDay, yesterdayOf } from '../core/day.ts';
import { nearestName, UsageError } from '../core/errors.ts';
import { checkUser, type MetricQuestion, readProvenance } from '../metrics/index.ts';
import type { Warehouse } from '../port/index.ts';
import { UNASSIGNED } from '../rollups/index.ts';
import type { QueryArguments } from './tools.ts';
import { foreignText, Refusal } from './wording.ts';

/** Who asks: `managers` see everything, a `team` sees published weeks and nothing else. */
export const ASSISTANT_AUDIENCES = ['managers', 'team'] as const;
export type AssistantAudience = (typeof ASSISTANT_AUDIENCES)[number];

/** What a tool answers from: one snapshot of a warehouse, about one organization. */
export interface Reader {
  readonly warehouse: Warehouse;
  readonly orgId: string;
  readonly now: Date;
  readonly audience: AssistantAudience;
  /** The fewest people about whom a published number is shown. */
  readonly minGroup: number;
}

/**
 * The metric of a name.
 * @throws {Refusal} with the nearest one and its definition, if there is none of this name.
 */
export function metricOf(name: string, known: readonly Metric[] = allMetrics): Metric {
  const found = known.find((metric) => metric.name === name);
  if (found !== undefined) return found;
  const near = nearestName(
    name.toLowerCase(),
    known.map((metric) => metric.name),
  );
  const [nearest = searchMetrics(name, known)[0]] = known.filter((metric) => metric.name === near);
  const instead =
    nearest === undefined ? 'call list_metrics for the names' : `ask for ${nearest.name}: ${nearest.doc}`;
  throw new Refusal('there is no metric of this name', instead);
}

/** The metrics that have some of the words in their names or definitions, the most words first. */
export function searchMetrics(search: string, known: readonly Metric[]): readonly Metric[] {
  const words = search.toLowerCase().split(/[^a-z\d]+/);
  const stems = words.filter((word) => word.length > 2).map((word) => word.replace(/(?:ing|ed|s)$/, ''));
  const scored = known.map((metric) => {
    const { name, title, doc, unit } = metric;
    const [heading, all] = [`${name} ${title}`.toLowerCase(), `${doc} ${unit} ${dimensionsOf(metric)}`.toLowerCase()];
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
  const others = allMetrics
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
export function dayAsked(which: 'from' | 'until', text: string | undefined, now: Date): UtcDay | undefined {
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
 * @throws {Refusal} for what the metric does not have, and for a team or user that is not there.
 */
export async function questionOf(reader: Reader, given: QueryArguments): Promise<MetricQuestion & { metric: string }> {
  const { warehouse, orgId, now } = reader;
  const metric = metricOf(given.metric);
  const by = (given.by ?? []).map((name) => dimensionOf(metric, name));
  const { team, user, ...where } = filtersOf(metric, given);
  const question = {
    metric: metric.name,
    orgId,
    by,
    from: dayAsked('from', given.from, now),
    until: dayAsked('until', given.until, now),
    team: team === undefined ? undefined : await teamOf(reader, team),
    user,
    ...(Object.keys(where).length > 0 && { where }),
  };
  if (user !== undefined) await expectUser(warehouse, orgId, user);
  return given.settled_only === true ? { ...question, ...(await settledPart(reader, metric, question)) } : question;
}

type Filters = Partial<Record<Dimension, string>>;

/** The filters of a call: team and user may be among the others, or be given by name. */
function filtersOf(metric: Metric, { filter = {}, team, user }: QueryArguments): Filters {
  const filters: Filters = {};
  for (const [name, value] of Object.entries(filter)) {
    const dimension = dimensionOf(metric, name);
    if (isGrain(dimension))
      throw new Refusal(`${dimension} is not a filter`, 'give a period, with from and until');
    filters[dimension] = value;
  }
  if (team !== undefined) filters[dimensionOf(metric, 'team')] = team;
  if (user !== undefined) filters[dimensionOf(metric, 'user')] = user;
  return filters;
}

async function teamOf({ warehouse, orgId }: Reader, name: string): Promise<string | null> {
  if (name === UNASSIGNED) return null;
  const rows = await warehouse.select(sql`SELECT DISTINCT team FROM people WHERE org_id = ${orgId}`);
  const teams = rows.flatMap(({ team }) => (typeof team === 'string' ? team : [])).toSorted();
  // An answer has shown the name without what people do not see.
  const found = teams.find((team) => team === name || foreignText(team) === name);
  if (found !== undefined) return found;
  const near = nearestName(name, teams);
  if (teams.length === 0) throw new Refusal('nobody has a team', 'ask without a team');
  throw new Refusal(
    'there is no team of this name',
    `choose one of the names below, or ${UNASSIGNED}`,
    near === undefined ? teams : [near, ...teams.filter((team) => team !== near)],
  );
}

async function expectUser(warehouse: Warehouse, orgId: string, user: string): Promise<void> {
  try {
    await checkUser(warehouse, orgId, user);
  } catch (error) {
    if (!(error instanceof UsageError)) throw error;
    throw new Refusal('no row is of this user', 'ask by user, which lists the user IDs');
  }
}

/** The part of a period before its first day that can still change. */
async function settledPart(reader: Reader, { source }: Metric, { from, until }: Pick<MetricQuestion, 'from' | 'until'>) {
  const { stream, streams = [stream] } = source;
  const { days, ...period } = await readProvenance(reader.warehouse, { orgId: reader.orgId, streams, from, until });
  const [first] = [...days.unsettled, ...days.missing].toSorted();
  if (first === undefined) return { from: period.from, until: period.until };
  if (first > period.from) return { from: period.from, until: shiftDay(first, -1) };
  throw new Refusal(
    `the period begins with ${first}, which can still change`,
    'ask without settled_only, or for a later first day; coverage tells which days are open',
  );
}
