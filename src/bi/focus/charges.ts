import type { UtcDay } from '../../core/day.ts';
import type { Month } from '../../core/month.ts';
import { teamsInPlaceOfTable } from '../../metrics/query/rows.ts';
import type { NamedQuery } from '../../metrics/query/select.ts';
import type { Warehouse } from '../../warehouse/port.ts';
import { type Charge, compareCharges, costOf } from './charge.ts';
import { type MonthPrices, readPrices } from './prices.ts';
import { type DaySums, sumDays, usageOf } from './usage.ts';

/** What a month costs according to the warehouse. */
export interface MonthCharges {
  /** ISO 4217 code; null if nothing is charged. */
  readonly currency: string | null;
  /** Days with rows of users and models, but without the total of the day. */
  readonly withoutTotal: readonly UtcDay[];
  /** How many rows of users and models have no number of billable tokens. They are not charged. */
  readonly unknownRows: number;
  /** Reads the charges day by day, so that memory holds one day. */
  byDay(): AsyncGenerator<Charge[]>;
}

/**
 * Reads what a month costs. Call it within a snapshot, and read the days before the snapshot ends.
 * @throws {UsageError} if a day with tokens has no price, or if there are several currencies.
 */
export async function readCharges(source: Warehouse, orgId: string, month: Month): Promise<MonthCharges> {
  const days = await sumDays(source, orgId, month);
  const teams = await teamsInPlaceOfTable(source, orgId);
  const prices = await readPrices(source, { orgId, month, days });
  return {
    currency: prices.currency,
    withoutTotal: days.filter(({ total }) => total === null).map(({ day }) => day),
    unknownRows: days.reduce((sum, { unknownRows }) => sum + unknownRows, 0),
    async *byDay() {
      for (const day of days) yield await chargesOf(source, orgId, { day, prices, teams });
    },
  };
}

interface DayOfMonth {
  readonly day: DaySums;
  readonly prices: MonthPrices;
  /** What to read in place of the table `user_teams`. */
  readonly teams: readonly NamedQuery[];
}

async function chargesOf(
  source: Pick<Warehouse, 'select'>,
  orgId: string,
  { day: sums, prices, teams }: DayOfMonth,
): Promise<Charge[]> {
  const { day } = sums;
  const unitPrice = prices.priceOf(day);
  if (unitPrice === null) return [];
  const usage = await usageOf(source, orgId, { sums, teams });
  return usage
    .map((part) => ({ ...part, day, unitPrice, cost: costOf(part.tokens, unitPrice), reason: null }))
    .toSorted(compareCharges);
}
