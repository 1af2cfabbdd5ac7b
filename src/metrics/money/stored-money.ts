import { type SQL, sql } from '../../../schema/query.ts';
import type { QueryRow } from '../../warehouse/port.ts';
import type { BudgetRow } from './budgets-file.ts';
import type { PriceRow } from './prices-file.ts';

/** Selects the prices of an organization, in the order of their periods. */
export function selectPrices(orgId: string): SQL {
  return sql`
    SELECT valid_from, valid_to, currency, price_per_million FROM prices
    WHERE org_id = ${orgId} ORDER BY valid_from`;
}

/** Reads a row of {@link selectPrices}. */
export function priceIn(orgId: string): (row: QueryRow) => PriceRow {
  return ({ valid_from, valid_to, currency, price_per_million }) => ({
    org_id: orgId,
    valid_from: String(valid_from),
    valid_to: typeof valid_to === 'string' ? valid_to : null,
    currency: String(currency),
    price_per_million: Number(price_per_million),
  });
}

/** Selects the budgets of an organization. */
export function selectBudgets(orgId: string): SQL {
  return sql`SELECT month, team, amount, currency FROM budgets WHERE org_id = ${orgId} ORDER BY month, team`;
}

/** Reads a row of {@link selectBudgets}. */
export function budgetIn(orgId: string): (row: QueryRow) => BudgetRow {
  return ({ month, team, amount, currency }) => ({
    org_id: orgId,
    month: String(month),
    team: String(team),
    amount: Number(amount),
    currency: String(currency),
  });
}
