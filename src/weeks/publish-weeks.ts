import { listOf, type SQL, sql } from '../../schema/query.ts';
import { encoderOf, validOn } from '../../schema/row.ts';
import { tables } from '../../schema/tables.ts';
import { FIRST_DAY, isDay, mondayOf, shiftDay, type UtcDay, weekdayOf } from '../core/day.ts';
import type { DailyStream } from '../core/stream.ts';
import { contractOf, dailyOf } from '../expected/index.ts';
import { type QueryRow, runReads, type Steps, type Warehouse } from '../port/index.ts';
import { publicName } from '../privacy/index.ts';
import { readStanding, teamPeriods } from '../rollups/index.ts';
import { readWeek } from './week-facts.ts';
import {
  addedTeams,
  costOf,
  newWeek,
  type PublishedRow,
  type WeekPrice,
  type WeekRequest,
} from './week-rows.ts';

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
 * Computes and stores what reports for a team or the public may show of each week of which every day is settled in all expected streams and
 * none is doubted. Where no stream about single people is expected, a week has its total only. A week is published once. Teams are added to it once, when the first people are loaded, and cost when prices
 * cover it; nothing else is changed, whatever happens to the numbers later. Returns how many weeks got rows. May be repeated at
 * will, also after a kill: each week is one transaction.
 * @throws {StorageError} when the database fails; what was published before stays.
 */
export async function publishWeeks(warehouse: Warehouse, options: PublishOptions): Promise<number> {
  const { orgId, minGroup, signal } = options;
  if ((await runReads(warehouse, weeksDue(orgId))).length === 0) return 0;
  return warehouse.oneAtATime(PUBLISHING, async () => {
    const { due, teams, known, hasPeople } = await warehouse.inSnapshot(() =>
      runReads(warehouse, readDue(orgId)),
    );
    const about = { orgId, minGroup, hasPeople, teams, namesPerson: personFinder(known) };
    let published = 0;
    for (const { week, lacks } of due) {
      if (signal?.aborted) break;
      await warehouse.transact('publish a week of', () => publishWeek({ ...about, week }, lacks));
      published += 1;
    }
    return published;
  });
}

function* readDue(orgId: string) {
  const due = yield* weeksDue(orgId);
  const hasPeople = (yield* weekStreams(orgId)).includes('users');
  const teams = yield* teamPeriods(orgId, yield* readStanding(orgId));
  return { due, teams, hasPeople, known: yield* knownTexts(orgId) };
}

/** The user IDs, addresses and names of an organization. */
function* knownTexts(orgId: string): Steps<readonly string[]> {
  const rows = yield sql`
    SELECT user_id AS a, user_email AS b, NULL AS c FROM users WHERE org_id = ${orgId}
    UNION SELECT person, name, manager_email FROM people WHERE org_id = ${orgId}`;
  return rows.flatMap((row) => Object.values(row)).filter((text) => typeof text === 'string');
}

/** Shorter texts occur by chance in names that name nobody. */
const TELLING_CHARS_MIN = 6;

/**
 * Finds names of groups that name a person: which hold an email address, or a user ID, an address or a name of the given ones, in
 * any letter case. Of short texts and ordinary words, only the same name counts.
 */
function personFinder(known: readonly string[]): (group: string) => boolean {
  const texts = new Set(known.map((text) => text.trim().toLowerCase()));
  const telling = [...texts].filter((text) => text.length >= TELLING_CHARS_MIN && !/^\p{L}+$/u.test(text));
  return (group) => {
    const name = group.trim().toLowerCase();
    return publicName(group) !== group || texts.has(name) || telling.some((text) => name.includes(text));
  };
}

/** Reads by which names of groups a person is named, see {@link personFinder}. */
export function* readPersonFinder(orgId: string): Steps<(group: string) => boolean> {
  return personFinder(yield* knownTexts(orgId));
}

/** What the next run would publish of teams, if people had these teams. */
export interface TeamPreview {
  /** How many weeks get their teams, which then stay as they are. */
  readonly weeks: number;
  /** The blocks of the newest of these weeks. */
  readonly blocks: readonly {
    readonly week_start: UtcDay;
    readonly block: string;
    readonly people: number;
  }[];
}

/** So many weeks are computed for a preview. */
const PREVIEWED_MAX = 13;

/**
 * Says which weeks the next run publishes with teams. Writes nothing.
 * @param teams who would be in which team when.
 * @param withBlocks also decide the blocks, which reads these weeks.
 */
export function* previewTeams(
  { orgId, minGroup, teams }: Pick<WeekRequest, 'orgId' | 'minGroup' | 'teams'>,
  withBlocks: boolean,
): Steps<TeamPreview> {
  const named = teams.filter(({ team }) => team !== null);
  const [first, last] = [named.map((own) => own.valid_from), named.map((own) => own.valid_to)];
  const span = { first: first.toSorted()[0] ?? null, last: last.toSorted().at(-1) ?? '' };
  const due = (yield* weeksDue(orgId, span)).filter(({ lacks }) => lacks.includes('team'));
  const blocks: TeamPreview['blocks'][number][] = [];
  const known = yield* knownTexts(orgId);
  for (const { week } of withBlocks ? due.slice(-PREVIEWED_MAX) : []) {
    const request = { orgId, week, minGroup, teams, hasPeople: true, namesPerson: personFinder(known) };
    const stored = yield* storedRows(orgId, week);
    const facts = yield* readWeek(orgId, week, teams);
    const rows = stored.length === 0 ? newWeek(facts, request) : addedTeams(facts, stored, request);
    const own = new Map(
      rows.flatMap((row) => (row.dimension === 'team' ? [[row.block, row.people ?? 0]] : [])),
    );
    blocks.push(...[...own].map(([block, people]) => ({ week_start: week, block, people })));
  }
  return { weeks: due.length, blocks };
}

/** A week to publish, and what is missing of it: everything, or what needs people or prices. */
interface DueWeek {
  readonly week: UtcDay;
  readonly lacks: readonly ('all' | 'team' | 'cost')[];
}

/** The weeks of which something can be published, in order of time. */
function* weeksDue(orgId: string, given?: TeamSpan): Steps<readonly DueWeek[]> {
  const stored = yield sql`
    SELECT week_start, MAX(CASE WHEN dimension = 'total' AND metric = '' THEN 1 ELSE 0 END) AS is_too_small,
      MAX(CASE WHEN dimension = 'team' THEN 1 ELSE 0 END) AS has_teams,
      MAX(CASE WHEN metric = 'cost' AND (dimension = 'currency' OR value IS NULL) THEN 1 ELSE 0 END) AS has_cost
    FROM published_weeks WHERE org_id = ${orgId} GROUP BY week_start ORDER BY week_start`;
  const published = new Set(stored.map(({ week_start }) => week_start));
  const span = given ?? (yield* teamSpan(orgId));
  const prices = yield selectPrices(orgId);
  const later = stored.flatMap(({ week_start: week, is_too_small, has_teams, has_cost }): DueWeek[] => {
    if (!isDay(week) || Number(is_too_small) === 1) return [];
    const lacks = [
      ...(Number(has_teams) === 0 && hasTeamsIn(span, week) ? (['team'] as const) : []),
      ...(Number(has_cost) === 0 && priceOf(prices, week) !== undefined ? (['cost'] as const) : []),
    ];
    return lacks.length === 0 ? [] : [{ week, lacks }];
  });
  const settled = (yield* settledWeeks(orgId)).filter((week) => !published.has(week));
  const all = [
    ...later,
    ...settled.map((week) => ({ week, lacks: hasTeamsIn(span, week) ? ALL_AND_TEAMS : ALL })),
  ];
  return all.toSorted((a, b) => (a.week < b.week ? -1 : 1));
}

const ALL = ['all'] as const;
const ALL_AND_TEAMS = ['all', 'team'] as const;

/** The first and the last day on which somebody has a team. */
interface TeamSpan {
  /** Null if nobody ever has one. */
  readonly first: string | null;
  readonly last: string;
}

function* teamSpan(orgId: string): Steps<TeamSpan> {
  const [row] = yield sql`
    SELECT MIN(valid_from) AS first_day, MAX(valid_to) AS last_day FROM user_teams
    WHERE org_id = ${orgId} AND team IS NOT NULL`;
  const first = row?.['first_day'] ?? null;
  return { first: first === null ? null : String(first), last: String(row?.['last_day'] ?? '') };
}

function hasTeamsIn({ first, last }: TeamSpan, week: UtcDay): boolean {
  return first !== null && first <= shiftDay(week, 6) && last >= week;
}

/** The streams of which a week needs every day: the expected ones. */
export function* weekStreams(orgId: string): Steps<readonly DailyStream[]> {
  return dailyOf(yield* contractOf(orgId));
}

/** The weeks of which every day is settled in all expected streams, and none is doubted. */
function* settledWeeks(orgId: string): Steps<readonly UtcDay[]> {
  const streams = yield* weekStreams(orgId);
  if (streams.length === 0) return [];
  const days = yield sql`
    SELECT date FROM export_units
    WHERE org_id = ${orgId} AND date >= ${FIRST_WEEK} AND settled_at IS NOT NULL AND state NOT IN ('doubted', 'expired')
      AND stream IN (${listOf(streams.map((stream) => sql`${stream}`))})
    GROUP BY date HAVING COUNT(*) = ${streams.length} ORDER BY date`;
  const settled = days.flatMap(({ date }) => (isDay(date) ? [date] : []));
  return [...Map.groupBy(settled, mondayOf)].flatMap(([week, own]) => (own.length === 7 ? [week] : []));
}

function selectPrices(orgId: string): SQL {
  return sql`SELECT valid_from, valid_to, price_per_million, currency FROM prices WHERE org_id = ${orgId}`;
}

/**
 * The price of a week; null if it changes within the week, because cost and credits would then tell one part of the week from the
 * other; undefined if a day has none.
 */
function priceOf(stored: readonly QueryRow[], week: UtcDay): WeekPrice | null | undefined {
  const days = Array.from({ length: 7 }, (_, index) => shiftDay(week, index));
  const own = days.map((day) => validOn(stored, day));
  if (own.includes(undefined)) return undefined;
  const prices = new Set(own.map((price) => `${price?.['price_per_million']} ${price?.['currency']}`));
  const [amount = '', currency = ''] = [...prices].join(' ').split(' ');
  return prices.size === 1 ? { amount: Number(amount), currency } : null;
}

const encode = encoderOf(tables.publishedWeeks);

function* publishWeek(request: WeekRequest, lacks: DueWeek['lacks']): Steps<void> {
  const { orgId, week } = request;
  const stored = yield* storedRows(orgId, week);
  const isNew = stored.length === 0;
  if (lacks.includes('all') !== isNew) return;
  const needsFacts = isNew || lacks.includes('team');
  const facts = needsFacts ? yield* readWeek(orgId, week, request.teams) : null;
  const added = facts === null ? [] : isNew ? newWeek(facts, request) : addedTeams(facts, stored, request);
  const price = publishedPrice(stored, priceOf(yield selectPrices(orgId), week));
  // Cost is published with the credits that it follows from; of credits that are out already, once prices cover the week.
  const priced = isNew || lacks.includes('cost') ? [...stored, ...added] : added;
  const isShown = priced.some(({ metric }) => metric !== '');
  const cost = isShown ? costOf(priced, request, price) : [];
  yield { table: tables.publishedWeeks, add: [...added, ...cost].map(encode) };
}

/** The code of ISO 4217 for no currency: of a cost that was published without one, and that no price of today gives. */
const UNKNOWN_CURRENCY = 'XXX';

/** The price with which a cost of a week is published, so that teams get the same later; null if none is shown, that of today before. */
function publishedPrice(stored: readonly PublishedRow[], today: WeekPrice | null | undefined) {
  const totalOf = (name: string) => stored.find((row) => row.dimension === 'total' && row.metric === name);
  const [cost, credits] = [totalOf('cost'), totalOf('billable_tokens')?.value ?? 0];
  if (cost === undefined) return today;
  if (cost.value === null) return null;
  const named = stored.find(({ dimension }) => dimension === 'currency')?.block;
  const differs = Math.abs(cost.value - ((today?.amount ?? -1) * credits) / 1_000_000);
  if (named === undefined && today && differs <= ROUNDING * Math.abs(cost.value)) return today;
  return { amount: (cost.value * 1_000_000) / (credits || 1), currency: named ?? UNKNOWN_CURRENCY };
}

/** What a product and its quotient, or sums in different orders, may differ by: this part of themselves. */
export const ROUNDING = 1e-9;

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
