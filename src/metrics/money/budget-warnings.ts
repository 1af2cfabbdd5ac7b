import { sql } from '../../../schema/query.ts';
import { parseMonth } from '../../core/month.ts';
import { nearestName } from '../../core/nearest.ts';
import type { Warehouse } from '../../warehouse/port.ts';
import { UNASSIGNED } from '../find-filters.ts';
import type { BudgetRow } from './budgets-file.ts';
import { OPEN_END, type PriceRow } from './prices-file.ts';
import { priceIn, selectPrices } from './stored-money.ts';

/** The most teams or months that a warning names. */
const NAMED_MAX = 10;

/** What is doubtful about budgets, one sentence each: teams that nobody is in, and currencies without a price. */
export async function budgetWarnings(
  warehouse: Pick<Warehouse, 'select'>,
  orgId: string,
  budgets: readonly BudgetRow[],
): Promise<string[]> {
  const people = await warehouse.select(
    sql`SELECT DISTINCT team FROM people WHERE org_id = ${orgId} AND team IS NOT NULL`,
  );
  const prices = (await warehouse.select(selectPrices(orgId))).map(priceIn(orgId));
  return [
    ...teamWarnings(budgets, people.map(({ team }) => String(team)).toSorted()),
    ...currencyWarnings(budgets, prices),
  ];
}

function teamWarnings(budgets: readonly BudgetRow[], known: readonly string[]): string[] {
  const teams = [...new Set(budgets.map(({ team }) => team))].filter((team) => team !== UNASSIGNED);
  const unknown = teams.filter((team) => !known.includes(team));
  if (unknown.length === 0) return [];
  if (known.length === 0) return ['No person has a team yet, so that all cost is unassigned.'];
  const names = unknown.map((team) => {
    const near = nearestName(team, known);
    return near === undefined ? `"${team}"` : `"${team}" (did you mean "${near}"?)`;
  });
  return [`Nobody is in ${unknown.length === 1 ? 'the team' : 'the teams'} ${listed(names)}.`];
}

function currencyWarnings(budgets: readonly BudgetRow[], prices: readonly PriceRow[]): string[] {
  const other = budgets.filter(({ month, currency }) => {
    const priced = currenciesOf(month, prices);
    return priced.size > 0 && (priced.size > 1 || !priced.has(currency));
  });
  const months = [...new Set(other.map(({ month }) => month))];
  if (months.length === 0) return [];
  return [`Prices and budgets have different currencies in ${listed(months)}; they cannot be compared.`];
}

/** The currencies of the prices that are valid on a day of a month. */
export function currenciesOf(month: string, prices: readonly PriceRow[]): ReadonlySet<string> {
  const { first, last } = parseMonth(month);
  const own = prices.filter(
    ({ valid_from, valid_to }) => valid_from <= last && (valid_to ?? OPEN_END) >= first,
  );
  return new Set(own.map(({ currency }) => currency));
}

function listed(names: readonly string[]): string {
  const more = names.length - NAMED_MAX;
  return [...names.slice(0, NAMED_MAX), ...(more > 0 ? [`${more} more`] : [])].join(', ');
}
