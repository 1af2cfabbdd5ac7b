import { pricedOn, type SQL, sql } from '../../schema/query.ts';
import { FIRST_DAY, isDay, shiftDay } from '../core/day.ts';
import { UsageError } from '../core/errors.ts';
import { whyNotKept } from '../expected/index.ts';
import type { QueryRow, Warehouse } from '../port/index.ts';
import type { Provenance } from './provenance.ts';
import { needsTeam, type Plan, selectSql, withSql } from './query/plan.ts';
import { dailyRows } from './query/rows.ts';

/** What an answer that needs to know people lacks, one sentence each. */
export async function peopleWarnings(
  warehouse: Warehouse,
  plan: Plan,
  { notKept, usersFrom }: Pick<Provenance, 'notKept' | 'usersFrom'>,
): Promise<string[]> {
  const { metric, orgId } = plan;
  // Who is new rests on all days before the period.
  const rests = metric.measure.kind === 'new users' ? FIRST_DAY : plan.from;
  const why = notKept ?? whyNotKept({ leftOut: [], usersFrom }, [metric.source.stream], rests);
  if (why !== null) return [`${why}, so ${metric.name} is not known${notKept === null ? ' there' : ''}`];
  const countsPeople = ['licensed users', 'inactive users'].includes(metric.measure.kind);
  if (!countsPeople && !needsTeam(plan)) return [];
  const people = await warehouse.select(sql`SELECT person FROM people WHERE org_id = ${orgId} LIMIT 1`);
  if (people.length > 0) return [];
  const effect = countsPeople ? `${metric.name} is not known` : 'nobody has a team';
  return [`no people are loaded, so ${effect}; load them with daywalk people load`];
}

/** What an answer in money lacks, one sentence each. */
export function priceWarnings(prices: AnswerPrices | undefined): string[] {
  const days = prices?.daysWithoutPrice ?? 0;
  if (days === 0) return [];
  const [what, them] =
    days === 1
      ? ['1 day with credits has no price', 'it']
      : [`${days} days with credits have no price`, 'them'];
  return [`${what}, so no cost that includes ${them} is known; load prices with daywalk prices load`];
}

/** The currency of an answer in money, and how many days with credits have no price. */
export interface AnswerPrices {
  /** Null if no day with credits has a price. */
  readonly currency: string | null;
  readonly daysWithoutPrice: number;
}

/**
 * Finds the prices of the days on which the rows of a question have credits.
 * @throws {UsageError} if they have more than one currency.
 */
export async function pricesOfAnswer(
  warehouse: Pick<Warehouse, 'select'>,
  plan: Plan,
): Promise<AnswerPrices> {
  const prices = await warehouse.select(
    sql`SELECT valid_from, valid_to, currency FROM prices
WHERE org_id = ${plan.orgId} AND valid_from <= ${plan.until} AND (valid_to IS NULL OR valid_to >= ${plan.from})
ORDER BY valid_from`,
  );
  const [only, ...others] = new Set(prices.map((price) => String(price['currency'])));
  // The usual case needs no look at the days: all of them have a price in one currency.
  if (only !== undefined && others.length === 0 && coversPeriod(prices, plan)) {
    return { currency: only, daysWithoutPrice: 0 };
  }
  const days = await warehouse.select(daysByCurrency(plan));
  const priced = days.flatMap(({ currency }) => (typeof currency === 'string' ? currency : []));
  if (priced.length > 1) {
    throw new UsageError(
      `${plan.metric.name} cannot be added over currencies: its days have prices in ${priced.join(' and ')}`,
      { hint: 'choose a period with prices in one currency' },
    );
  }
  const unpriced = days.find(({ currency }) => currency === null);
  return { currency: priced[0] ?? only ?? null, daysWithoutPrice: Number(unpriced?.['days'] ?? 0) };
}

function coversPeriod(prices: readonly QueryRow[], { from, until }: Plan): boolean {
  let next = from;
  for (const { valid_from, valid_to } of prices) {
    if (String(valid_from) > next) return false;
    if (!isDay(valid_to) || valid_to >= until) return true;
    next = shiftDay(valid_to, 1);
  }
  return false;
}

/** The days on which the rows of a question have credits, counted by the currency of their price. */
function daysByCurrency(plan: Plan): SQL {
  const rows = dailyRows({ ...plan, by: [], grain: undefined }, []);
  const days = selectSql(
    {
      columns: [sql`DISTINCT r.date`],
      from: rows.from,
      where: [...rows.where, sql`r.billable_tokens <> 0`],
    },
    '  ',
  );
  const counted = selectSql({
    columns: [sql`p.currency`, sql`COUNT(*) AS days`],
    from: [
      sql`days_with_credits c`,
      sql`LEFT JOIN prices p ON p.org_id = ${plan.orgId}
    AND ${sql.raw(pricedOn('c.date'))}`,
    ],
    groupBy: [sql`p.currency`],
    orderBy: [sql`p.currency`],
  });
  return withSql([...plan.teams, ...rows.named, { name: 'days_with_credits', body: days }], counted);
}
