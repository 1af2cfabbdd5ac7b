import { type SQL, sql } from '../../schema/query.ts';
import { encoderOf, type RowOf } from '../../schema/row.ts';
import { tables } from '../../schema/tables.ts';
import { FIRST_DAY, isDay, shiftDay, type UtcDay, weekdayOf } from '../core/day.ts';
import { DAILY_STREAMS } from '../core/stream.ts';
import { type QueryRow, runReads, type Steps, type Warehouse } from '../port/index.ts';
import { publicName } from '../privacy/index.ts';
import { readStanding, type TeamPeriod, teamPeriods } from '../rollups/index.ts';
import {
  type Blocks,
  decideBlocks,
  OTHERS,
  othersIn,
  WEEK_DIMENSIONS,
  type WeekDimension,
} from './blocks.ts';
import { readWeek, type WeekFacts } from './week-facts.ts';

/** A row of `published_weeks`. */
export type PublishedRow = RowOf<typeof tables.publishedWeeks>;

/** The first week of which all days can be settled: the service began on a Wednesday. */
export const FIRST_WEEK: UtcDay = shiftDay(FIRST_DAY, 8 - weekdayOf(FIRST_DAY));

/** The name under which one process at a time publishes weeks, see `Warehouse.oneAtATime`. */
const PUBLISHING = 'published weeks';

/** What to publish. */
interface PublishOptions {
  readonly orgId: string;
  /** The fewest people about whom a number is published. */
  readonly minGroup: number;
  /** Aborted when the process must stop: publishing ends between two weeks, and the next run resumes. */
  readonly signal?: AbortSignal | undefined;
}

/**
 * Computes and stores what reports for a team or the public may show of each week of which every day is settled in all streams and
 * none is doubted. A week is published once. Teams are added to it once, when the first people are loaded, and cost when prices
 * cover it; nothing else is changed, whatever happens to the numbers later. Returns how many weeks got rows. May be repeated at
 * will, also after a kill: each week is one transaction.
 * @throws {StorageError} when the database fails; what was published before stays.
 */
export async function publishWeeks(warehouse: Warehouse, options: PublishOptions): Promise<number> {
  const { orgId, minGroup, signal } = options;
  if ((await runReads(warehouse, weeksDue(orgId))).length === 0) return 0;
  return warehouse.oneAtATime(PUBLISHING, async () => {
    const [due, teams] = await warehouse.inSnapshot(async () => [
      await runReads(warehouse, weeksDue(orgId)),
      await runReads(warehouse, teamsOf(orgId)),
    ]);
    let published = 0;
    for (const week of due) {
      if (signal?.aborted) break;
      await warehouse.transact('publish a week of', () => publishWeek({ orgId, minGroup, teams, ...week }));
      published += 1;
    }
    return published;
  });
}

function* teamsOf(orgId: string): Steps<readonly TeamPeriod[]> {
  return yield* teamPeriods(orgId, yield* readStanding(orgId));
}

/** A week to publish, and what is missing of it: everything, or what needs people or prices. */
interface DueWeek {
  readonly week: UtcDay;
  readonly lacks: readonly ('all' | 'team' | 'cost')[];
}

/** The weeks of which something can be published, in order of time. */
function* weeksDue(orgId: string): Steps<readonly DueWeek[]> {
  const stored = yield sql`
    SELECT week_start, MAX(CASE WHEN dimension = 'total' AND metric = '' THEN 1 ELSE 0 END) AS is_too_small,
      MAX(CASE WHEN dimension = 'team' THEN 1 ELSE 0 END) AS has_teams,
      MAX(CASE WHEN metric = 'cost' THEN 1 ELSE 0 END) AS has_cost
    FROM published_weeks WHERE org_id = ${orgId} GROUP BY week_start ORDER BY week_start`;
  const published = new Set(stored.map(({ week_start }) => week_start));
  const [{ first_day = null, last_day = null } = {}] = yield sql`
    SELECT MIN(valid_from) AS first_day, MAX(valid_to) AS last_day FROM user_teams
    WHERE org_id = ${orgId} AND team IS NOT NULL`;
  const prices = yield selectPrices(orgId);
  const later = stored.flatMap(({ week_start: week, is_too_small, has_teams, has_cost }): DueWeek[] => {
    if (!isDay(week) || Number(is_too_small) === 1) return [];
    const hasPeople = first_day !== null && first_day <= shiftDay(week, 6) && String(last_day) >= week;
    const lacks = [
      ...(Number(has_teams) === 0 && hasPeople ? (['team'] as const) : []),
      ...(Number(has_cost) === 0 && priceOf(prices, week) !== undefined ? (['cost'] as const) : []),
    ];
    return lacks.length === 0 ? [] : [{ week, lacks }];
  });
  const settled = (yield* settledWeeks(orgId)).filter((week) => !published.has(week));
  const all = [...later, ...settled.map((week) => ({ week, lacks: ['all'] as const }))];
  return all.toSorted((a, b) => (a.week < b.week ? -1 : 1));
}

/** The weeks of which every day is settled in all streams, and none is doubted. */
export function* settledWeeks(orgId: string): Steps<readonly UtcDay[]> {
  const days = yield sql`
    SELECT date FROM export_units
    WHERE org_id = ${orgId} AND date >= ${FIRST_WEEK} AND settled_at IS NOT NULL AND state <> 'doubted'
      AND stream IN (${sql.join(
        DAILY_STREAMS.map((stream) => sql`${stream}`),
        sql`, `,
      )})
    GROUP BY date HAVING COUNT(*) = ${DAILY_STREAMS.length} ORDER BY date`;
  const weeks = Map.groupBy(
    days.flatMap(({ date }) => (isDay(date) ? [date] : [])),
    mondayOf,
  );
  return [...weeks].flatMap(([week, own]) => (own.length === 7 ? [week] : []));
}

export function mondayOf(day: UtcDay): UtcDay {
  return shiftDay(day, 1 - weekdayOf(day));
}

function selectPrices(orgId: string): SQL {
  return sql`SELECT valid_from, valid_to, price_per_million FROM prices WHERE org_id = ${orgId}`;
}

/**
 * The price of a week; null if it changes within the week, because cost and credits would then tell one part of the week from the
 * other; undefined if a day has none.
 */
function priceOf(prices: readonly QueryRow[], week: UtcDay): number | null | undefined {
  const days = Array.from({ length: 7 }, (_, index) => shiftDay(week, index));
  const own = days.map((day) =>
    prices.find(
      ({ valid_from, valid_to }) => String(valid_from) <= day && String(valid_to ?? '9999-12-31') >= day,
    ),
  );
  if (own.includes(undefined)) return undefined;
  return new Set(own).size === 1 ? Number(own[0]?.['price_per_million']) : null;
}

interface PublishedWeek extends DueWeek {
  readonly orgId: string;
  readonly minGroup: number;
  readonly teams: readonly TeamPeriod[];
}

const encode = encoderOf(tables.publishedWeeks);

function* publishWeek(due: PublishedWeek): Steps<void> {
  const { orgId, week, lacks } = due;
  const stored = yield* storedRows(orgId, week);
  const isNew = stored.length === 0;
  if (lacks.includes('all') !== isNew) return;
  const facts = yield* readWeek(orgId, week, due.teams);
  const price = priceOf(yield selectPrices(orgId), week);
  const added = isNew ? newWeek(facts, due) : lacks.includes('team') ? addedTeams(facts, stored, due) : [];
  const all = [...stored, ...added];
  const cost = isNew || lacks.includes('cost') ? costOf(all, price) : costOf(added, price);
  yield { table: tables.publishedWeeks, add: [...added, ...cost].map(encode) };
}

/** Reads the rows of a week. */
function* storedRows(orgId: string, week: UtcDay): Steps<readonly PublishedRow[]> {
  const rows = yield sql`
    SELECT dimension, block, metric, people, value FROM published_weeks WHERE org_id = ${orgId} AND week_start = ${week}`;
  return rows.map((row) => ({
    org_id: orgId,
    week_start: week,
    dimension: String(row['dimension']),
    block: String(row['block']),
    metric: String(row['metric']),
    people: row['people'] === null ? null : Number(row['people']),
    value: row['value'] === null ? null : Number(row['value']),
  }));
}

type About = Pick<PublishedWeek, 'orgId' | 'week' | 'minGroup'>;

/** The rows of a week of which nothing is published yet. */
function newWeek(facts: WeekFacts, due: PublishedWeek): PublishedRow[] {
  const hasTeams = due.teams.some(
    ({ team, valid_from, valid_to }) =>
      team !== null && valid_from <= shiftDay(due.week, 6) && valid_to >= due.week,
  );
  const dimensions = WEEK_DIMENSIONS.filter((dimension) => hasTeams || dimension !== 'team');
  const blocks = blocksOf(facts, { k: due.minGroup, dimensions });
  if (blocks === null) return [withoutMetric(due, 'total')];
  return [
    ...rowsOf(facts, due, 'total', new Map([['', '']])),
    ...dimensions.flatMap((dimension) => {
      const own = blocks.get(dimension);
      return own === undefined ? [withoutMetric(due, dimension)] : rowsOf(facts, due, dimension, own);
    }),
  ];
}

/**
 * The rows of the teams of a week that is published without teams. Its numbers must still be those that are published: otherwise the
 * teams and what is published would give away what changed.
 */
function addedTeams(facts: WeekFacts, stored: readonly PublishedRow[], due: PublishedWeek): PublishedRow[] {
  const published = new Map(
    WEEK_DIMENSIONS.flatMap((dimension) => {
      const own = storedBlocks(facts, stored, dimension);
      return own === null ? [] : [[dimension, own] as const];
    }),
  );
  const again = [
    ...rowsOf(facts, due, 'total', new Map([['', '']])),
    ...[...published].flatMap(([dimension, own]) => rowsOf(facts, due, dimension, own)),
  ];
  const blocks = isSame(again, stored)
    ? blocksOf(facts, { k: due.minGroup, dimensions: ['team'], published })
    : null;
  const teams = blocks?.get('team');
  return teams === undefined ? [withoutMetric(due, 'team')] : rowsOf(facts, due, 'team', teams);
}

function blocksOf(
  facts: WeekFacts,
  request: Omit<Parameters<typeof decideBlocks>[0], 'people' | 'isUnprintable'>,
) {
  const users = new Set(facts.users);
  // A team that is named like a person would name the person.
  const isUnprintable = (group: string) => publicName(group) !== group || users.has(group);
  return decideBlocks({ people: facts.people, isUnprintable, ...request });
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

/** True if both have the same blocks with the same numbers. Cost follows from credits. */
function isSame(computed: readonly PublishedRow[], stored: readonly PublishedRow[]): boolean {
  const textOf = (rows: readonly PublishedRow[]) =>
    rows
      .filter(({ metric }) => metric !== '' && metric !== 'cost')
      .map(({ dimension, block, metric, people, value }) =>
        JSON.stringify([dimension, block, metric, people, value]),
      )
      .toSorted()
      .join();
  return textOf(computed) === textOf(stored);
}

/** One row for each block and metric of a dimension. */
function rowsOf(
  { people, sums }: WeekFacts,
  about: About,
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
  return [...values].flatMap(([block, own]) =>
    [...own].map(([metric, value]) =>
      rowOf(about, { dimension, block, metric, people: members.get(block)?.size ?? 0, value }),
    ),
  );
}

function rowOf({ orgId, week }: About, row: Omit<PublishedRow, 'org_id' | 'week_start'>): PublishedRow {
  return { org_id: orgId, week_start: week, ...row };
}

/** Says that nothing is shown of a dimension. */
function withoutMetric(about: About, dimension: WeekDimension | 'total'): PublishedRow {
  return rowOf(about, { dimension, block: '', metric: '', people: null, value: null });
}

/** What the credits of rows cost. If the price changes within the week, one row says that no cost is published. */
function costOf(rows: readonly PublishedRow[], price: number | null | undefined): PublishedRow[] {
  if (price === undefined) return [];
  return rows
    .filter(
      ({ metric, dimension }) => metric === 'billable_tokens' && (price !== null || dimension === 'total'),
    )
    .map((row) => ({
      ...row,
      metric: 'cost',
      value: price === null || row.value === null ? null : (row.value * price) / 1_000_000,
    }));
}
