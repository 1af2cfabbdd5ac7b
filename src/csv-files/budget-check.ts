import { BUDGET_ROUNDING, BUDGET_RULE, type BudgetRule, type SQL, sql } from '../../schema/query.ts';
import { views } from '../../schema/views.ts';
import {
  type DaySpan,
  daysFrom,
  FIRST_DAY,
  type Month,
  parseDay,
  parseMonth,
  shiftDay,
  spansOf,
  type UtcDay,
} from '../core/day.ts';
import { UsageError } from '../core/errors.ts';
import { EXIT, type ExitCode, worstExit } from '../core/exit-code.ts';
import { type MetricAnswer, readProvenance, teamsInPlaceOfTable, withSql } from '../metrics/index.ts';
import { type QueryRow, runReads, type Warehouse } from '../port/index.ts';
import { workingDays } from '../rollups/index.ts';
import { type BudgetRow, FIRST_MONTH, storedBudgets } from './budgets.ts';
import { currenciesOf, newestDayWithCredits, storedPrices, unpricedAmong } from './prices.ts';
import { storedRows } from './replace-rows.ts';

/** The budgets of a month against what the teams have used. */
export interface BudgetCheck extends Pick<MetricAnswer, 'org_id' | 'from' | 'until' | 'days' | 'run_id'> {
  /** Its days until the newest loaded one are checked. */
  readonly month: string;
  readonly teams: readonly CheckedBudget[];
  /** Teams without a budget that have used credits. */
  readonly without_budget: readonly TeamForecast[];
  /** Settled working days, and those of the month: what the forecast is made from. */
  readonly weekdays_settled: number;
  readonly weekdays: number;
  /** Currencies of the prices of the month. */
  readonly currencies: readonly string[];
  /** Stored days without a price. */
  readonly without_price: readonly DaySpan[];
  /** Why no budget can be checked, one sentence each. */
  readonly warnings: readonly string[];
  readonly exit_code: ExitCode;
}

/**
 * Checks the budgets of a month. Call in a snapshot. Writes nothing.
 * @param asked the month; by default that of the newest loaded day of users
 * @param today its days from today on are still to come, and not missing
 * @throws {UsageError} if nothing is loaded, or if the month has no budget.
 */
export async function checkBudgets(
  warehouse: Warehouse,
  orgId: string,
  asked?: Month,
  today?: UtcDay,
): Promise<BudgetCheck> {
  const newest = await runReads(warehouse, newestDayWithCredits(orgId));
  const month = monthOfCheck(asked, newest);
  const budgets = await budgetsOfMonth(warehouse, orgId, month);
  const prices = await runReads(warehouse, storedRows(storedPrices, orgId));
  const currencies = currenciesOf(month.name, prices);
  const covered = await coverageOf(warehouse, orgId, month, { newest, today });
  const rows = await warehouse.select(await forecastQuery(warehouse, orgId, month.name));
  const forecasts = rows.map(forecastIn).toSorted((a, b) => (a.team < b.team ? -1 : 1));
  const teams = budgets.map((budget) => {
    const own = forecasts.filter(({ team }) => team === budget.team);
    return judgeBudget(budget, own.length > 0 ? own : [idle(budget, covered)], currencies);
  });
  const budgeted = new Set(budgets.map(({ team }) => team));
  const { from, until, days, run_id, notKept } = covered;
  const missing = new Set(days.missing);
  const begun = notKept === null && days.expected > 0 ? daysFrom(from, until) : [];
  const stored = begun.filter((day) => !missing.has(day));
  return {
    org_id: orgId,
    month: month.name,
    from,
    until,
    teams,
    without_budget: forecasts.filter(({ team }) => !budgeted.has(team)),
    weekdays_settled: covered.weekdaysSettled,
    weekdays: covered.weekdays,
    days,
    run_id,
    currencies: [...currencies].toSorted(),
    without_price: spansOf(unpricedAmong(stored, prices)),
    warnings: notKept === null ? [] : [`${notKept}, so the cost of a team is not known`],
    exit_code: worstExit(teams.map(exitCodeOf)),
  };
}

function exitCodeOf({ status }: CheckedBudget): ExitCode {
  if (status === 'no price' || status === 'other currency') return EXIT.usage;
  return isOver(status) ? EXIT.overBudget : EXIT.ok;
}

function monthOfCheck(asked: Month | undefined, newest: UtcDay | null): Month {
  if (asked !== undefined && asked.name < FIRST_MONTH) {
    throw new UsageError(`the month ${asked.name} is before the first month with data`, {
      hint: `the first month is ${FIRST_MONTH}`,
    });
  }
  if (asked !== undefined) return asked;
  if (newest === null) {
    throw new UsageError('no day of users is loaded yet, so no month can be checked', {
      hint: 'run the export first',
    });
  }
  return parseMonth(newest.slice(0, FIRST_MONTH.length));
}

async function budgetsOfMonth(
  warehouse: Pick<Warehouse, 'select'>,
  orgId: string,
  { name }: Month,
): Promise<BudgetRow[]> {
  const all = await runReads(warehouse, storedRows(storedBudgets, orgId));
  const own = all.filter(({ month }) => month === name);
  if (own.length > 0) return own;
  throw new UsageError(`there is no budget for ${name}`, {
    hint: `load budgets with daywalk budget load FILE.csv${all.length === 0 ? '' : '; daywalk budget list shows those that are loaded'}`,
  });
}

interface Covered extends Pick<MetricAnswer, 'from' | 'until' | 'days' | 'run_id'> {
  readonly weekdaysSettled: number;
  readonly weekdays: number;
  /** Why there are no numbers of teams, as a clause; null where there are. */
  readonly notKept: string | null;
}

const NO_DAYS = { expected: 0, settled: 0, unsettled: [], missing: [] } as const;

function firstOf({ first }: Month): UtcDay {
  return first < FIRST_DAY ? FIRST_DAY : first;
}

/** The days of the month until the newest loaded day, or until yesterday if none of it is loaded; none if it has not begun. */
async function coverageOf(
  warehouse: Pick<Warehouse, 'read' | 'select'>,
  orgId: string,
  month: Month,
  { newest, today = month.next }: { readonly newest: UtcDay | null; readonly today?: UtcDay | undefined },
): Promise<Covered> {
  const from = firstOf(month);
  const isRunning = newest !== null && newest >= from && newest < month.last;
  const over = today < month.next && today > from ? shiftDay(today, -1) : month.last;
  const until = isRunning ? newest : over;
  const found = await readProvenance(warehouse, { orgId, streams: ['users'], from, until });
  const { run_id, usersFrom } = found;
  const hasBegun = today > from || (newest !== null && newest >= from);
  const days = hasBegun ? found.days : NO_DAYS;
  // What is left of a month would pass for all of it.
  const hasExpired = usersFrom !== null && from < usersFrom;
  const notKept = found.notKept ?? (hasExpired ? `rows about people before ${usersFrom} have expired` : null);
  const open = new Set([...days.unsettled, ...days.missing]);
  const rows = await warehouse.select(workingDays(orgId, { from, until: month.last }));
  const working = rows.map(({ date }) => parseDay(String(date)));
  const settled = notKept === null && hasBegun ? working.filter((day) => day <= until && !open.has(day)) : [];
  return { from, until, days, run_id, notKept, weekdaysSettled: settled.length, weekdays: working.length };
}

/** The query of what each team has used in a month, and its forecast: the view `month_forecast`. */
async function forecastQuery(
  warehouse: Pick<Warehouse, 'dialect' | 'select'>,
  orgId: string,
  month: string,
): Promise<SQL> {
  const teams = await teamsInPlaceOfTable(warehouse, orgId);
  const body = sql.raw(views.monthForecast.select[warehouse.dialect]);
  // The view itself would still read the table.
  const named = teams.length === 0 ? [] : [...teams, { name: 'month_forecast', body }];
  return withSql(
    named,
    sql`SELECT team, currency, tokens_so_far, cost_so_far, cost_forecast FROM month_forecast
WHERE org_id = ${orgId} AND month = ${month} ORDER BY team, currency`,
  );
}

/** A row of {@link forecastQuery}. */
function forecastIn({ team, currency, tokens_so_far, cost_so_far, cost_forecast }: QueryRow): TeamForecast {
  return {
    team: String(team),
    currency: typeof currency === 'string' ? currency : null,
    tokens_so_far: numberOf(tokens_so_far),
    cost_so_far: numberOf(cost_so_far),
    cost_forecast: numberOf(cost_forecast),
  };
}

/** What each team has used in a month, and its forecast: the query, and a row of it. */
export const monthForecast = { query: forecastQuery, rowIn: forecastIn };

function numberOf(value: unknown): number | null {
  return typeof value === 'number' ? value : null;
}

/** A team without a row in the month has used nothing, if anything of the month is stored. */
function idle({ team }: BudgetRow, { days, weekdaysSettled, notKept }: Covered): TeamForecast {
  const soFar = notKept === null && days.missing.length < days.expected ? 0 : null;
  return {
    team,
    currency: null,
    tokens_so_far: soFar,
    cost_so_far: soFar,
    cost_forecast: weekdaysSettled > 0 ? 0 : null,
  };
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
interface TeamForecast {
  readonly team: string;
  /** Null without a price. */
  readonly currency: string | null;
  /** Credits of all stored days; null if no row has a number. */
  readonly tokens_so_far: number | null;
  /** Null if a day with credits has no price, or if no day of the month is stored. */
  readonly cost_so_far: number | null;
  /** Null before the first settled working day too. */
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

function statusOf(used: TeamForecast, budget: number): BudgetStatus {
  const applies = ({ unknown, above }: BudgetRule) =>
    above === undefined
      ? unknown.every((name) => used[name] === null)
      : (used[above] ?? 0) > budget * BUDGET_ROUNDING;
  return BUDGET_RULE.find(applies)?.status ?? 'ok';
}

/** True for the states in which a team needs attention because of its cost. */
export function isOver(status: BudgetStatus): boolean {
  return status === 'over budget' || status === 'forecast over budget';
}
