import type { BudgetRow } from './budgets-file.ts';

/**
 * The states of a budget: within its budget; above it already; above it by the end of the month; a day with credits has no price;
 * the prices of the month have another currency, or several; or no number is stored.
 */
export const BUDGET_STATES = [
  'ok',
  'over budget',
  'forecast over budget',
  'no price',
  'other currency',
  'no data',
] as const;

/** One of {@link BUDGET_STATES}. */
export type BudgetStatus = (typeof BUDGET_STATES)[number];

/** A team and what it has used in the month, as the view `month_forecast` has it. */
export interface TeamForecast {
  readonly team: string;
  /** Null without a price. */
  readonly currency: string | null;
  /** Credits of all stored days; null if no row has a number. */
  readonly tokens_so_far: number | null;
  /** Null if a day with credits has no price, or if no day of the month is stored. */
  readonly cost_so_far: number | null;
  /** Null before the first settled weekday too. */
  readonly cost_forecast: number | null;
}

/** A team with a budget. */
export interface CheckedBudget {
  readonly team: string;
  readonly currency: string;
  readonly budget: number;
  readonly cost_so_far: number | null;
  readonly cost_forecast: number | null;
  readonly status: BudgetStatus;
}

/** The relative difference that may be an error of rounding. */
const ROUNDING = 1e-9;

/**
 * Compares a budget with what its team has used.
 * @param used the team's rows of the month, one per currency
 * @param currencies those of the prices of the month
 */
export function judgeBudget(
  { team, currency, amount }: BudgetRow,
  used: readonly TeamForecast[],
  currencies: ReadonlySet<string>,
): CheckedBudget {
  const budget = { team, currency, budget: amount };
  const [only, ...others] = used;
  const isOther = currencies.size > 1 || (currencies.size === 1 && !currencies.has(currency));
  // A cost in another currency than the budget would be misread.
  if (only === undefined || others.length > 0 || isOther) {
    return { ...budget, cost_so_far: null, cost_forecast: null, status: 'other currency' };
  }
  const { cost_so_far, cost_forecast } = only;
  return { ...budget, cost_so_far, cost_forecast, status: statusOf(only, amount) };
}

function statusOf({ tokens_so_far, cost_so_far, cost_forecast }: TeamForecast, budget: number): BudgetStatus {
  if (cost_so_far === null) return tokens_so_far === null ? 'no data' : 'no price';
  if (exceeds(cost_so_far, budget)) return 'over budget';
  return cost_forecast !== null && exceeds(cost_forecast, budget) ? 'forecast over budget' : 'ok';
}

/** True for the states in which a team needs attention because of its cost. */
export function isOver(status: BudgetStatus): boolean {
  return status === 'over budget' || status === 'forecast over budget';
}

function exceeds(cost: number, budget: number): boolean {
  return cost > budget * (1 + ROUNDING);
}
