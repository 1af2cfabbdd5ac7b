import type { RowOf } from '../../../schema/row.ts';
import type { tables } from '../../../schema/tables.ts';
import { FIRST_DAY } from '../../core/day.ts';
import { Mistakes, monthCell, required, textCell } from '../csv-columns.ts';
import type { CsvRow } from '../read-csv.ts';
import { currencyCell, type LinesOf, moneyCell } from './prices.ts';

/** A row of `budgets`. */
export type BudgetRow = RowOf<typeof tables.budgets>;

/** The first month with data. */
export const FIRST_MONTH = FIRST_DAY.slice(0, 'YYYY-MM'.length);

/** The columns of a file of budgets. */
export const BUDGETS_FORMAT = {
  columns: {
    month: required(monthCell),
    team: required(textCell),
    amount: required(moneyCell),
    currency: required(currencyCell),
  },
} as const;

/** The columns of a written file, which can be loaded again. */
export const BUDGETS_COLUMNS = ['month', 'team', 'amount', 'currency'] as const;

/** Whose budgets they are. */
export interface BudgetsOf extends LinesOf {
  /** The name of a team as it is stored, without erased people. @default as it is */
  readonly nameOf?: (team: string) => string;
}

/**
 * Turns the lines of a file into budgets, in the order of months and teams.
 * @throws {UsageError} that names file, line and remedy of every month before the service, and of every month and team that
 * occurs twice.
 */
export function budgetsOf(
  lines: readonly CsvRow<typeof BUDGETS_FORMAT.columns>[],
  { orgId, file, nameOf = (team) => team }: BudgetsOf,
): BudgetRow[] {
  const mistakes = new Mistakes(file);
  const seen = new Map<string, number>();
  for (const { line, cells } of lines) {
    const { month, team } = cells;
    if (month < FIRST_MONTH) {
      const message = `month "${month}" is before the first month with data`;
      mistakes.add({ line, message, hint: `the first month is ${FIRST_MONTH}` });
    }
    const key = budgetKey(cells);
    const earlier = seen.get(key);
    if (earlier === undefined) seen.set(key, line);
    else {
      const message = `line ${earlier} has a budget of ${team} for ${month} too`;
      mistakes.add({ line, message, hint: 'remove one of the two lines' });
    }
  }
  mistakes.refuse();
  return lines
    .map(({ cells }) => ({ org_id: orgId, ...cells, team: nameOf(cells.team) }))
    .toSorted((a, b) => (budgetKey(a) < budgetKey(b) ? -1 : 1));
}

/** Names a budget among those of an organization; sorts by month and team. */
export function budgetKey({ month, team }: Pick<BudgetRow, 'month' | 'team'>): string {
  return `${month} ${team}`;
}

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
