import { type SQL, sql } from '../../../schema/query.ts';
import { validOn } from '../../../schema/row.ts';
import { FIRST_DAY, isDay, type Month, type UtcDay } from '../../core/day.ts';
import { UsageError } from '../../core/errors.ts';
import { contractOf, whyNotKept } from '../../expected/index.ts';
import { type NamedQuery, readProvenance, teamsInPlaceOfTable, withSql } from '../../metrics/index.ts';
import { type QueryRow, runReads, type Warehouse } from '../../port/index.ts';
import { type Allocation, type Charge, compareCharges, costOf, type Subject, UNALLOCATED } from './charge.ts';

/** What a month costs according to the warehouse. */
export interface MonthCharges {
  /** ISO 4217 code; null if nothing is charged. */
  readonly currency: string | null;
  /** Why the charges are those of models alone, as a clause; null if they are those of users. */
  readonly notKept: string | null;
  /** Days with rows of users and models, but without the total of the day. */
  readonly withoutTotal: readonly UtcDay[];
  /** How many rows of users and models have no number of billable tokens. They are not charged. */
  readonly unknownRows: number;
  /** Reads the charges day by day, so that memory holds one day. */
  byDay(): AsyncGenerator<Charge[]>;
}

/**
 * Reads what a month costs. Call it within a snapshot, and read the days before the snapshot ends.
 * @throws {UsageError} if the totals are not exported, if a day with tokens has no price, or if there are several currencies.
 */
export async function readCharges(source: Warehouse, orgId: string, month: Month): Promise<MonthCharges> {
  const exported = await readProvenance(source, { orgId, streams: ['tokens'], ...periodOf(month) });
  if (exported.notKept !== null) {
    throw new UsageError(`${exported.notKept}, so no charges are known`, {
      hint: 'add the stream to those that are expected, then run the export',
      reason: 'stream-not-exported',
    });
  }
  const notKept = await whyWithoutUsers(source, orgId, month);
  const parts = notKept === null ? BY_USER : BY_MODEL;
  const days = await sumDays(source, { orgId, month, parts });
  const teams = await teamsInPlaceOfTable(source, orgId);
  const prices = await readPrices(source, { orgId, month, days });
  return {
    currency: prices.currency,
    notKept,
    withoutTotal: days.filter(({ total }) => total === null).map(({ day }) => day),
    unknownRows: days.reduce((sum, { unknownRows }) => sum + unknownRows, 0),
    async *byDay() {
      for (const day of days) yield await chargesOf(source, orgId, { day, prices, teams, parts });
    },
  };
}

/** The service has no data before its first day. */
export function periodOf({ first, last }: Month) {
  return { from: first < FIRST_DAY ? FIRST_DAY : first, until: last };
}

/** Why nothing is kept of who consumed in a month, or in a part of it, as a clause; null if all is kept. */
export async function whyWithoutUsers(
  source: Source,
  orgId: string,
  { first }: Pick<Month, 'first'>,
): Promise<string | null> {
  return whyNotKept(await runReads(source, contractOf(orgId)), ['users'], first);
}

/** Where the parts of a day's total come from, as rows `u` with the team `t` of each. */
interface Parts {
  readonly table: SQL;
  readonly columns: SQL;
  readonly teams: SQL;
}

const BY_USER: Parts = {
  table: sql`tokens_daily_by_user_model`,
  columns: sql`u.user_id, t.team, t.cost_center`,
  teams: sql`LEFT JOIN user_teams AS t
      ON t.org_id = u.org_id AND t.user_id = u.user_id AND u.date BETWEEN t.valid_from AND t.valid_to`,
};
const BY_MODEL: Parts = {
  table: sql`tokens_daily_by_model`,
  columns: sql`NULL AS user_id, NULL AS team, NULL AS cost_center`,
  teams: sql``,
};

interface DayOfMonth {
  readonly parts: Parts;
  readonly day: DaySums;
  readonly prices: MonthPrices;
  /** What to read in place of the table `user_teams`. */
  readonly teams: readonly NamedQuery[];
}

async function chargesOf(
  source: Pick<Warehouse, 'select'>,
  orgId: string,
  { day: sums, prices, ...from }: DayOfMonth,
): Promise<Charge[]> {
  const { day } = sums;
  const unitPrice = prices.priceOf(day);
  if (unitPrice === null) return [];
  const usage = await usageOf(source, orgId, { sums, ...from });
  return usage
    .map((part) => ({ ...part, day, unitPrice, cost: costOf(part.tokens, unitPrice), reason: null }))
    .toSorted(compareCharges);
}

/** Billable tokens of a day: of a user and a model, or of the day's total beyond all of them. */
interface Usage extends Allocation {
  readonly subject: Subject | null;
  readonly modelTier: string | null;
  readonly tokens: number;
}

/** The sums of a day with rows. */
interface DaySums {
  readonly day: UtcDay;
  /** The published total of the day; null if none is stored. */
  readonly total: number | null;
  /** The sum over users and models. */
  readonly attributed: number;
  /** True if any number of the day is not 0. */
  readonly hasTokens: boolean;
  /** Rows of users and models without a number of billable tokens. */
  readonly unknownRows: number;
}

/** Tokens are whole numbers as far as is known. A smaller difference between sums comes from rounding. */
const TOKENS_MIN = 0.001;

type Source = Pick<Warehouse, 'select'>;

/** Adds up each day of a month that has rows, in order. */
async function sumDays(
  source: Source,
  { orgId, month: { first, last }, parts }: { orgId: string; month: Month; parts: Parts },
): Promise<DaySums[]> {
  const rows = await source.select(sql`
    SELECT date, SUM(total) AS total, SUM(attributed) AS attributed, SUM(size) AS size, SUM(unknown_rows) AS unknown_rows
    FROM (
      SELECT date, billable_tokens AS total, NULL AS attributed, ABS(billable_tokens) AS size, 0 AS unknown_rows
      FROM tokens_daily
      WHERE org_id = ${orgId} AND date BETWEEN ${first} AND ${last}
      UNION ALL
      SELECT date, NULL, billable_tokens, ABS(billable_tokens), CASE WHEN billable_tokens IS NULL THEN 1 ELSE 0 END
      FROM ${parts.table}
      WHERE org_id = ${orgId} AND date BETWEEN ${first} AND ${last}
    ) AS sums
    GROUP BY date
    ORDER BY date`);
  return rows.flatMap((row) => {
    const day = row['date'];
    if (!isDay(day)) return [];
    return [
      {
        day,
        total: numberIn(row, 'total'),
        attributed: numberIn(row, 'attributed') ?? 0,
        hasTokens: (numberIn(row, 'size') ?? 0) > 0,
        unknownRows: numberIn(row, 'unknown_rows') ?? 0,
      },
    ];
  });
}

/**
 * Reads what each user and model, or each model alone, consumed on a day, with the team on that day, and what the day's total has
 * beyond them.
 * @param teams what to read in place of the table `user_teams`.
 */
async function usageOf(
  source: Source,
  orgId: string,
  { sums, teams, parts }: Pick<DayOfMonth, 'teams' | 'parts'> & { readonly sums: DaySums },
): Promise<Usage[]> {
  const usage = sql`
    SELECT u.model_id, u.model_tier, u.billable_tokens, ${parts.columns}
    FROM ${parts.table} AS u
    ${parts.teams}
    WHERE u.org_id = ${orgId} AND u.date = ${sums.day} AND u.billable_tokens IS NOT NULL`;
  const rows = await source.select(withSql(teams, usage));
  return [...rows.map(usageIn), ...unattributed(sums)];
}

function usageIn(row: QueryRow): Usage {
  return {
    subject: {
      userId: row['user_id'] === null ? null : String(row['user_id']),
      modelId: String(row['model_id']),
    },
    modelTier: textIn(row, 'model_tier'),
    tokens: numberIn(row, 'billable_tokens') ?? 0,
    team: textIn(row, 'team'),
    costCenter: textIn(row, 'cost_center'),
  };
}

function unattributed({ total, attributed }: DaySums): Usage[] {
  if (total === null || Math.abs(total - attributed) < TOKENS_MIN) return [];
  return [{ subject: null, modelTier: null, tokens: total - attributed, ...UNALLOCATED }];
}

function numberIn(row: QueryRow, name: string): number | null {
  const value = row[name];
  return typeof value === 'number' ? value : null;
}

/** FOCUS has no empty texts: what is empty is null. */
function textIn(row: QueryRow, name: string): string | null {
  const value = row[name];
  return typeof value === 'string' && value.trim() !== '' ? value : null;
}

/** The prices of the days of a month, all in one currency. */
interface MonthPrices {
  /** Null if nothing is charged. */
  readonly currency: string | null;
  /** The price of a million billable tokens on a day; null on a day without a price, which has no tokens. */
  priceOf(day: UtcDay): number | null;
}

/** How many days an error message lists. */
const LISTED_DAYS_MAX = 5;

/** Which prices to read. */
interface PriceRequest {
  readonly orgId: string;
  readonly month: Month;
  /** The days that are charged. */
  readonly days: readonly { readonly day: UtcDay; readonly hasTokens: boolean }[];
}

/**
 * Reads the prices of a month.
 * @throws {UsageError} if the totals are not exported, if a day with tokens has no price, or if the prices of the days have more than one currency.
 */
async function readPrices(
  source: Pick<Warehouse, 'select'>,
  { orgId, month, days }: PriceRequest,
): Promise<MonthPrices> {
  const rows = await source.select(sql`
    SELECT valid_from, valid_to, currency, price_per_million
    FROM prices
    WHERE org_id = ${orgId} AND valid_from <= ${month.last} AND (valid_to IS NULL OR valid_to >= ${month.first})
    ORDER BY valid_from DESC`);
  const prices = rows.map(({ valid_from, valid_to, currency, price_per_million }) => ({
    ...{ valid_from, valid_to },
    ...{ currency: String(currency), unitPrice: Number(price_per_million) },
  }));
  const find = (day: UtcDay) => validOn(prices, day);
  expectPrices(days.flatMap(({ day, hasTokens }) => (hasTokens && find(day) === undefined ? day : [])));
  const currencies = [...new Set(days.flatMap(({ day }) => find(day)?.currency ?? []))].toSorted();
  expectOneCurrency(month, currencies);
  return { currency: currencies[0] ?? null, priceOf: (day) => find(day)?.unitPrice ?? null };
}

function expectPrices(missing: readonly UtcDay[]): void {
  if (missing.length === 0) return;
  throw new UsageError(`no price is loaded for ${shortened(missing)}`, {
    hint: 'load a price list that covers every day with billable tokens: daywalk prices load FILE.csv',
  });
}

function expectOneCurrency({ name }: Month, currencies: readonly string[]): void {
  if (currencies.length <= 1) return;
  throw new UsageError(`the prices of ${name} have several currencies: ${currencies.join(', ')}`, {
    hint: 'a bill has one currency: load a price list that has one for all days of the month, with daywalk prices load FILE.csv',
  });
}

/** Lists days, the first ones of many: `2026-10-01, 2026-10-02 and 3 more days`. */
export function shortened(days: readonly UtcDay[]): string {
  const rest = days.length - LISTED_DAYS_MAX;
  const listed = days.slice(0, LISTED_DAYS_MAX).join(', ');
  return rest <= 0 ? listed : `${listed} and ${rest} more ${rest === 1 ? 'day' : 'days'}`;
}
