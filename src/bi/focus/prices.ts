import { sql } from '../../../schema/query.ts';
import type { UtcDay } from '../../core/day.ts';
import { UsageError } from '../../core/errors.ts';
import type { Month } from '../../core/month.ts';
import type { Warehouse } from '../../warehouse/port.ts';

interface Price {
  readonly from: string;
  readonly to: string | null;
  readonly currency: string;
  readonly unitPrice: number;
}

/** The prices of the days of a month, all in one currency. */
export interface MonthPrices {
  /** Null if nothing is charged. */
  readonly currency: string | null;
  /** The price of a million billable tokens on a day; null on a day without a price, which has no tokens. */
  priceOf(day: UtcDay): number | null;
}

/** How many days an error message lists. */
const LISTED_DAYS_MAX = 5;

/** Which prices to read. */
export interface PriceRequest {
  readonly orgId: string;
  readonly month: Month;
  /** The days that are charged. */
  readonly days: readonly { readonly day: UtcDay; readonly hasTokens: boolean }[];
}

/**
 * Reads the prices of a month.
 * @throws {UsageError} if a day with tokens has no price, or if the prices of the days have more than one currency.
 */
export async function readPrices(
  source: Pick<Warehouse, 'select'>,
  { orgId, month, days }: PriceRequest,
): Promise<MonthPrices> {
  const rows = await source.select(sql`
    SELECT valid_from, valid_to, currency, price_per_million
    FROM prices
    WHERE org_id = ${orgId} AND valid_from <= ${month.last} AND (valid_to IS NULL OR valid_to >= ${month.first})
    ORDER BY valid_from DESC`);
  const prices = rows.map(
    (row): Price => ({
      from: String(row['valid_from']),
      to: row['valid_to'] === null ? null : String(row['valid_to']),
      currency: String(row['currency']),
      unitPrice: Number(row['price_per_million']),
    }),
  );
  const find = (day: UtcDay) => prices.find(({ from, to }) => from <= day && (to === null || day <= to));
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
