import { sql } from '../../schema/query.ts';
import type { Warehouse } from '../warehouse/port.ts';
import type { AnswerPrices } from './prices-of-answer.ts';
import { needsTeam, type Plan } from './query/plan.ts';

/** What an answer that needs to know people lacks, one sentence each. */
export async function peopleWarnings(warehouse: Pick<Warehouse, 'select'>, plan: Plan): Promise<string[]> {
  const { metric, orgId } = plan;
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
