import type { RowOf } from '../../schema/row.ts';
import type { tables } from '../../schema/tables.ts';
import { shiftDay, type UtcDay } from '../core/day.ts';
import type { TeamPeriod } from '../rollups/index.ts';
import {
  type Blocks,
  decideBlocks,
  OTHERS,
  othersIn,
  WEEK_DIMENSIONS,
  type WeekDimension,
} from './blocks.ts';
import type { Sums, WeekFacts } from './week-facts.ts';

/** A row of `published_weeks`. */
export type PublishedRow = RowOf<typeof tables.publishedWeeks>;

/** A week, and what its blocks are decided from. */
export interface WeekRequest {
  readonly orgId: string;
  readonly week: UtcDay;
  /** The fewest people about whom a number is published. */
  readonly minGroup: number;
  readonly teams: readonly TeamPeriod[];
  /** False if nothing is stored about single people: then a week has its total only. */
  readonly hasPeople: boolean;
  /** True for the name of a group that names a person. */
  readonly namesPerson: (group: string) => boolean;
}

/** The rows of a week of which nothing is published yet. */
export function newWeek(facts: WeekFacts, due: WeekRequest): PublishedRow[] {
  if (!due.hasPeople) return totalRows(facts, due);
  const dimensions = WEEK_DIMENSIONS.filter((dimension) => dimension !== 'team' || hasTeams(due));
  const blocks = blocksOf(facts, due, dimensions);
  if (blocks === null) return [withoutMetric(due, 'total')];
  return [
    ...totalRows(facts, due),
    ...dimensions.flatMap((dimension) => shownRows(facts, due, dimension, blocks.get(dimension))),
  ];
}

/**
 * The rows of the teams of a week that is published without teams. Its numbers must still be those that are published: otherwise the
 * teams and what is published would give away what changed.
 */
export function addedTeams(
  facts: WeekFacts,
  stored: readonly PublishedRow[],
  due: WeekRequest,
): PublishedRow[] {
  const published = new Map(
    WEEK_DIMENSIONS.flatMap((dimension) => {
      const own = storedBlocks(facts, stored, dimension);
      return own === null ? [] : [[dimension, own] as const];
    }),
  );
  const again = [
    ...totalRows(facts, due),
    ...[...published].flatMap(([dimension, own]) => rowsOf(facts, due, dimension, own)),
  ];
  const blocks = isSame(again, stored) ? blocksOf(facts, due, ['team'], published) : null;
  return shownRows(facts, due, 'team', blocks?.get('team'));
}

/** True if somebody has a team in the week. */
function hasTeams({ teams, week }: WeekRequest): boolean {
  return teams.some(
    ({ team, valid_from, valid_to }) => team !== null && valid_from <= shiftDay(week, 6) && valid_to >= week,
  );
}

function blocksOf(
  { people }: WeekFacts,
  { minGroup, namesPerson }: WeekRequest,
  dimensions: readonly WeekDimension[],
  published: ReadonlyMap<WeekDimension, Blocks> = new Map(),
) {
  return decideBlocks({ people, k: minGroup, dimensions, published, isUnprintable: namesPerson });
}

/** The blocks of a dimension that are published, with the groups that are in them now. Null if none is. */
function storedBlocks(
  facts: WeekFacts,
  stored: readonly PublishedRow[],
  dimension: WeekDimension,
): Blocks | null {
  const names = new Set(
    stored.flatMap((row) => (row.dimension === dimension && row.metric !== '' ? row.block : [])),
  );
  if (names.size === 0) return null;
  const tiers = dimension === 'model' ? storedBlocks(facts, stored, 'tier') : null;
  const parts = facts.people.flatMap(({ days, credits, files }) => [...days, ...credits, ...files]);
  return new Map(
    parts.flatMap((part) => {
      const group = part[dimension];
      if (group === undefined) return [];
      const others = tiers === null ? OTHERS : othersIn(tiers.get(part.tier ?? '') ?? '');
      return [[group, names.has(group) ? group : others] as const];
    }),
  );
}

/** Further digits of a sum depend on the order in which a database adds. */
const COMPARED_DIGITS = 12;

/** True if both have the same blocks with the same numbers. Cost follows from credits. */
function isSame(computed: readonly PublishedRow[], stored: readonly PublishedRow[]): boolean {
  const textOf = (rows: readonly PublishedRow[]) =>
    rows
      .filter(({ metric }) => metric !== '' && metric !== 'cost')
      .map(({ dimension, block, metric, people, value }) =>
        JSON.stringify([dimension, block, metric, people, value?.toPrecision(COMPARED_DIGITS)]),
      )
      .toSorted()
      .join();
  return textOf(computed) === textOf(stored);
}

/** The rows of the total. Files by language are left out if fewer people have any, because the number is about these alone. */
function totalRows(facts: WeekFacts, request: WeekRequest): PublishedRow[] {
  const rows = rowsOf(facts, request, 'total', new Map([['', '']]));
  const withFiles = facts.people.filter(({ files }) => files.length > 0).length;
  if (!request.hasPeople || withFiles >= request.minGroup) return rows;
  const byLanguage = facts.sums.get('language') ?? new Map<string, Sums>();
  const metrics = new Set([...byLanguage.values()].flatMap((sums) => [...sums.keys()]));
  return rows.filter(({ metric }) => !metrics.has(metric));
}

/** The rows of a dimension, or one that says that nothing of it is shown. */
function shownRows(
  facts: WeekFacts,
  request: WeekRequest,
  dimension: WeekDimension,
  blocks: Blocks | undefined,
): PublishedRow[] {
  const rows = blocks === undefined ? [] : rowsOf(facts, request, dimension, blocks);
  return rows.length === 0 ? [withoutMetric(request, dimension)] : rows;
}

/** One row for each block and metric of a dimension. */
function rowsOf(
  { people, sums }: WeekFacts,
  about: WeekRequest,
  dimension: WeekDimension | 'total',
  blocks: Blocks,
): PublishedRow[] {
  const members = new Map<string, Set<number>>();
  for (const [person, { days, credits, files }] of people.entries())
    for (const part of [...days, ...credits, ...files]) {
      const block = blocks.get(dimension === 'total' ? '' : (part[dimension] ?? ''));
      if (block !== undefined) members.set(block, (members.get(block) ?? new Set()).add(person));
    }
  const values = new Map<string, Map<string, number>>();
  for (const [group, own] of sums.get(dimension) ?? []) {
    const block = blocks.get(group);
    if (block === undefined) continue;
    const whole = values.get(block) ?? new Map<string, number>();
    for (const [metric, value] of own) whole.set(metric, (whole.get(metric) ?? 0) + value);
    values.set(block, whole);
  }
  return [...values].flatMap(([block, own]) => {
    const count = about.hasPeople ? (members.get(block)?.size ?? 0) : null;
    return [...own].map(([metric, value]) =>
      rowOf(about, { dimension, block, metric, people: count, value }),
    );
  });
}

function rowOf({ orgId, week }: WeekRequest, row: Omit<PublishedRow, 'org_id' | 'week_start'>): PublishedRow {
  return { org_id: orgId, week_start: week, ...row };
}

/** Says that nothing is shown of a dimension. */
function withoutMetric(about: WeekRequest, dimension: WeekDimension | 'total'): PublishedRow {
  return rowOf(about, { dimension, block: '', metric: '', people: null, value: null });
}

/** What a million credits cost in a week. */
export interface WeekPrice {
  readonly amount: number;
  readonly currency: string;
}

/**
 * What the credits of rows cost; the cost of the total is also that of its currency. A row of the total without a value says that no
 * cost is published: the price changes within the week, or no credits are published.
 */
export function costOf(
  rows: readonly PublishedRow[],
  request: WeekRequest,
  price: WeekPrice | null | undefined,
): PublishedRow[] {
  if (price === undefined || rows.length === 0) return [];
  const costs = rows.flatMap((row) => {
    if (row.metric !== 'billable_tokens' || price === null) return [];
    const cost = { ...row, metric: 'cost', value: ((row.value ?? 0) * price.amount) / 1_000_000 };
    const whole = { ...cost, dimension: 'currency', block: price.currency };
    return row.dimension === 'total' ? [cost, whole] : cost;
  });
  return costs.length > 0 ? costs : [{ ...withoutMetric(request, 'total'), metric: 'cost' }];
}
