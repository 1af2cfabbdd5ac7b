import { type SQL, sql } from '../../schema/query.ts';
import { validOn } from '../../schema/row.ts';
import { daysFrom, monthOf, type UtcDay } from '../core/day.ts';
import { UsageError } from '../core/errors.ts';
import { contractOf, spanStart, whyNotKept } from '../expected/index.ts';
import {
  type NamedQuery,
  type Period,
  readProvenance,
  teamsInPlaceOfTable,
  withSql,
} from '../metrics/index.ts';
import { frozen, type QueryRow, runReads, type Warehouse } from '../port/index.ts';
import { readableRollups, UNASSIGNED, workingDays } from '../rollups/index.ts';
import { CAUSE_LINES, type Cause, causesOf, type ModelUse, type SpanUse } from './causes.ts';
import type { ComparedAnswer } from './compare-metric.ts';
import { type Comparison, comparedSpan, NO_SPAN_BEFORE, whyNotCompared } from './span.ts';

/** Which change to explain. */
interface CausesQuestion {
  readonly orgId: string;
  /**
   * First day of the period.
   * @default the first of the month of the last day, or the first expected day if that is later
   */
  readonly from?: UtcDay | undefined;
  /**
   * Last day of the period.
   * @default the newest day of which credits and users are loaded
   */
  readonly until?: UtcDay | undefined;
  /** Only rows of this team on their date; null means without a team. Causes of teams do not add up to those of all. */
  readonly team?: string | null | undefined;
  /** How the span is found that the period is compared with, or the span itself. @default previous */
  readonly comparison?: Comparison | Period | undefined;
}

/** One cause, as a row of the answer. `value` is null if nothing is compared. */
type CauseRow = Omit<Cause, 'value'> & { readonly value: number | null } & Period;

/** Why the cost has changed between two spans, as `daywalk metric causes --json` prints it. */
export interface CausesAnswer extends Omit<ComparedAnswer, 'metric' | 'rows'> {
  readonly metric: 'causes';
  /** Cost of the period and of the span before, and the change, which is the sum of the rows; null if nothing is compared. */
  readonly value: number | null;
  readonly before: number | null;
  readonly change: number | null;
  readonly rows: readonly CauseRow[];
}

/** The streams that the causes rest on. */
const STREAMS = ['tokens', 'users'] as const;

/**
 * Explains the change of the cost of an organization or a team by its causes, from one snapshot of the warehouse. In credits where a day
 * with credits has no price. For managers: the numbers of a team can be about one person.
 * @throws {UsageError} for a period that cannot be, and if the prices have more than one currency.
 */
export function readCauses(warehouse: Warehouse, question: CausesQuestion): Promise<CausesAnswer> {
  return warehouse.inSnapshot(() => causesIn(frozen(warehouse), question));
}

async function causesIn(warehouse: Warehouse, question: CausesQuestion): Promise<CausesAnswer> {
  const { orgId, until, comparison = 'previous' } = question;
  const contract = await runReads(warehouse, contractOf(orgId));
  const sources = { orgId, streams: STREAMS };
  const last = await readProvenance(warehouse, { ...sources, from: question.from, until });
  const from = question.from ?? spanStart(monthOf(last.until), last.until, contract);
  const now = await readProvenance(warehouse, { ...sources, from, until: last.until });
  const span = typeof comparison === 'string' ? comparedSpan(now, comparison, contract) : comparison;
  const then = span === null ? null : await readProvenance(warehouse, { ...sources, ...span });
  const period = { from: now.from, until: now.until };
  const why_not =
    then === null
      ? (whyUnknown(now) ?? NO_SPAN_BEFORE)
      : (whyUnknown(now) ?? whyUnknown(then) ?? whyNotCompared(now, then));
  return {
    metric: 'causes',
    org_id: orgId,
    ...period,
    ...(then === null || why_not !== null
      ? { ...NOTHING, rows: rowsOf(unknownCauses(), period) }
      : await explained(warehouse, question, [period, { from: then.from, until: then.until }])),
    days: now.days,
    run_id: now.run_id,
    compared: {
      from: then?.from ?? null,
      until: then?.until ?? null,
      days: then?.days ?? null,
      run_id: then?.run_id ?? null,
      why_not,
    },
  };
}

/** Why nothing is known of people in a span, as a clause; null if it is. */
function whyUnknown({ notKept, usersFrom, from }: Awaited<ReturnType<typeof readProvenance>>): string | null {
  return notKept ?? whyNotKept({ leftOut: [], usersFrom }, STREAMS, from);
}

const NOTHING = { unit: 'currency', value: null, before: null, change: null, warnings: [] } as const;

function unknownCauses(): Omit<CauseRow, keyof Period>[] {
  return CAUSE_LINES.map((cause) => ({ cause, value: null, factor: null, factor_before: null }));
}

function rowsOf(causes: readonly Omit<CauseRow, keyof Period>[], period: Period): CauseRow[] {
  return causes.map((cause) => ({ ...cause, ...period }));
}

type Explained = Pick<CausesAnswer, 'unit' | 'value' | 'before' | 'change' | 'rows' | 'warnings'>;

async function explained(
  warehouse: Warehouse,
  question: CausesQuestion,
  [period, then]: readonly [Period, Period],
): Promise<Explained> {
  const read = (_title: string, query: SQL) => warehouse.select(query);
  const { unit, now, before, causes, warnings } = await explainChange(warehouse, read, {
    ...{ orgId: question.orgId, team: question.team, now: period, before: then },
  });
  return {
    ...{ unit, value: now, before, change: now - before, warnings },
    rows: rowsOf(causes, period),
  };
}

/** Reads the rows of a query that a person would call by the title. The rows are about the span. */
type ReadRows = (title: string, query: SQL, span: Period) => Promise<readonly QueryRow[]>;

/** Two spans of an organization or a team, whose days are all stored. */
interface Change {
  readonly orgId: string;
  readonly team: string | null | undefined;
  readonly now: Period;
  readonly before: Period;
}

/** Why the cost has changed. */
interface ExplainedChange {
  /** The currency; `credits` where a day with credits has no price. */
  readonly unit: string;
  readonly now: number;
  readonly before: number;
  readonly causes: readonly Cause[];
  /** One sentence each. */
  readonly warnings: readonly string[];
}

/**
 * The change between two spans by its causes, see {@link readCauses}. It asks for the working days, the users and the models of the
 * period, then for those of the span before, then for the prices.
 * @throws {UsageError} if the prices have more than one currency.
 */
export async function explainChange(
  warehouse: Pick<Warehouse, 'select' | 'dialect'>,
  read: ReadRows,
  change: Change,
): Promise<ExplainedChange> {
  const { orgId, team, now: period, before: then } = change;
  const teams = team === undefined ? [] : await teamsInPlaceOfTable(warehouse, orgId);
  const { stale } = await readableRollups(warehouse, orgId, then.from, period.until);
  const isCurrent = teams.length === 0 && stale.teams.length === 0 && stale.models.length === 0;
  const queries = isCurrent ? queriesOfTeamDays(team) : queriesOfUsers(team, teams);
  const own = await readSpan(read, { orgId, queries }, period);
  const earlier = await readSpan(read, { orgId, queries }, then);
  const prices = await read(
    'Prices',
    sql`SELECT valid_from, valid_to, currency, price_per_million FROM prices
WHERE org_id = ${change.orgId} ORDER BY valid_from`,
    change.now,
  );
  const { currency, unpriced, priceOf } = pricesOf(prices, [...own.rows, ...earlier.rows]);
  const withPrice = currency !== null;
  const [now, before] = [useOf(own, priceOf), useOf(earlier, priceOf)];
  return {
    unit: currency ?? 'credits',
    now: now.cost,
    before: before.cost,
    causes: causesOf(now, before, withPrice),
    warnings: withPrice || unpriced === 0 ? [] : [unpricedWords(unpriced)],
  };
}

function unpricedWords(days: number): string {
  const which = days === 1 ? '1 day with credits has no price' : `${days} days with credits have no price`;
  return `${which}, so the change is that of credits, and the price is no cause of it; load prices with daywalk prices load`;
}

/** Rows of a day: those of users, or of users with a model. */
interface DayRows {
  readonly day: string;
  /** Null for the rows of `user_daily`. */
  readonly model: string | null;
  readonly count: number;
  readonly tokens: number;
  readonly credits: number;
}

interface ReadSpan {
  readonly workingDays: number;
  readonly rows: readonly DayRows[];
}

/** The queries for the people and credits of each day, and for its credits and tokens by model. */
interface SpanQueries {
  users(orgId: string, span: Period): SQL;
  models(orgId: string, span: Period): SQL;
}

const TOKENS = sql.raw(
  ['input_tokens', 'output_tokens', 'cache_read_tokens', 'cache_write_tokens']
    .map((column) => `COALESCE(r.${column}, 0)`)
    .join(' + '),
);

function daysOf(orgId: string, { from, until }: Period): SQL {
  return sql`WHERE r.org_id = ${orgId} AND r.date BETWEEN ${from} AND ${until}`;
}

/** Sums of teams by day, which are current. Everybody is in one team on a day, so that they add up. */
function queriesOfTeamDays(team: Change['team']): SpanQueries {
  const ofTeam = team === undefined ? sql`` : sql` AND r.team = ${team ?? UNASSIGNED}`;
  return {
    users: (orgId, span) => sql`SELECT r.date, SUM(r.active_users) AS count, SUM(r.billable_tokens) AS credits
FROM team_daily r ${daysOf(orgId, span)}${ofTeam} GROUP BY r.date ORDER BY r.date`,
    models: (
      orgId,
      span,
    ) => sql`SELECT r.date, r.model_id, SUM(r.active_users) AS count, SUM(r.billable_tokens) AS credits,
  SUM(${TOKENS}) AS tokens
FROM team_model_daily r ${daysOf(orgId, span)}${ofTeam} GROUP BY r.date, r.model_id ORDER BY r.date, r.model_id`,
  };
}

/** The rows of users, while sums of teams are stale. */
function queriesOfUsers(team: Change['team'], teams: readonly NamedQuery[]): SpanQueries {
  const join =
    team === undefined
      ? sql``
      : sql`LEFT JOIN user_teams t ON t.org_id = r.org_id AND t.user_id = r.user_id
  AND r.date BETWEEN t.valid_from AND t.valid_to`;
  const ofTeam =
    team === undefined ? sql`` : team === null ? sql` AND t.team IS NULL` : sql` AND t.team = ${team}`;
  return {
    users: (orgId, span) =>
      withSql(
        teams,
        sql`SELECT r.date, COUNT(*) AS count, SUM(r.billable_tokens) AS credits FROM user_daily r ${join}
${daysOf(orgId, span)}${ofTeam} GROUP BY r.date ORDER BY r.date`,
      ),
    models: (orgId, span) =>
      withSql(
        teams,
        sql`SELECT r.date, r.model_id, COUNT(*) AS count, SUM(r.billable_tokens) AS credits, SUM(${TOKENS}) AS tokens
FROM tokens_daily_by_user_model r ${join}
${daysOf(orgId, span)}${ofTeam} GROUP BY r.date, r.model_id ORDER BY r.date, r.model_id`,
      ),
  };
}

async function readSpan(
  read: ReadRows,
  { orgId, queries }: { orgId: string; queries: SpanQueries },
  span: Period,
): Promise<ReadSpan> {
  const working = await read('Working days', workingDays(orgId, span), span);
  const found = [
    ...(await read('People and credits by day', queries.users(orgId, span), span)),
    ...(await read('Credits and tokens by day and model', queries.models(orgId, span), span)),
  ];
  return {
    // A span without working days counts its calendar days.
    workingDays: working.length > 0 ? working.length : daysFrom(span.from, span.until).length,
    rows: found.map((row) => ({
      day: String(row['date']),
      model: typeof row['model_id'] === 'string' ? row['model_id'] : null,
      count: Number(row['count']),
      tokens: Number(row['tokens'] ?? 0),
      credits: Number(row['credits'] ?? 0),
    })),
  };
}

interface Prices {
  /** Null if a day with credits has no price, or if there are none. */
  readonly currency: string | null;
  /** Number of days with credits and without a price. */
  readonly unpriced: number;
  /** What a credit costs on a day; 1 if there is no currency. */
  priceOf(day: string): number;
}

/** @throws {UsageError} if the days with credits have prices in more than one currency. */
function pricesOf(prices: readonly QueryRow[], rows: readonly DayRows[]): Prices {
  const days = [...new Set(rows.flatMap(({ day, credits }) => (credits === 0 ? [] : day)))];
  const priceOn = new Map(days.map((day) => [day, validOn(prices, day)]));
  const currencies = [
    ...new Set([...priceOn.values()].flatMap((price) => price?.['currency'] ?? [])),
  ].toSorted();
  if (currencies.length > 1) {
    throw new UsageError(
      `causes cannot be added over currencies: the days of both spans have prices in ${currencies.join(' and ')}`,
      { hint: 'choose spans with prices in one currency' },
    );
  }
  const unpriced = days.filter((day) => priceOn.get(day) === undefined).length;
  const [currency] = currencies;
  if (unpriced > 0 || currency === undefined) return { currency: null, unpriced, priceOf: () => 1 };
  return {
    currency: String(currency),
    unpriced,
    priceOf: (day) => Number(priceOn.get(day)?.['price_per_million'] ?? 0) / CREDITS_OF_PRICE,
  };
}

/** A price is that of a million credits. */
const CREDITS_OF_PRICE = 1_000_000;

/** Adds up the rows of a span: each at the price of its day. */
function useOf({ workingDays, rows }: ReadSpan, priceOf: Prices['priceOf']): SpanUse {
  const models = new Map<string, ModelUse>();
  let [personDays, cost] = [0, 0];
  for (const { day, model, count, tokens, credits } of rows) {
    const own = credits * priceOf(day);
    if (model === null) {
      personDays += count;
      cost += own;
      continue;
    }
    const sum = models.get(model) ?? { tokens: 0, credits: 0, cost: 0 };
    models.set(model, { tokens: sum.tokens + tokens, credits: sum.credits + credits, cost: sum.cost + own });
  }
  return { workingDays, personDays, models, cost };
}
