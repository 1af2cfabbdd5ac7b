import { sql } from '../../../schema/query.ts';
import { views } from '../../../schema/views.ts';
import {
  type DaySpan,
  daysFrom,
  FIRST_DAY,
  type Month,
  parseMonth,
  spansOf,
  type UtcDay,
  weekdayOf,
} from '../../core/day.ts';
import { UsageError } from '../../core/errors.ts';
import { EXIT, type ExitCode, worstExit } from '../../core/exit-code.ts';
import { nearestName } from '../../core/nearest.ts';
import type { QueryRow, Warehouse } from '../../warehouse/port.ts';
import { newestDayOfUsers } from '../period.ts';
import { type Provenance, readProvenance } from '../provenance.ts';
import { teamsInPlaceOfTable } from '../query/rows.ts';
import { withSql } from '../query/select.ts';
import { type CoveredDays, UNASSIGNED } from '../question.ts';
import {
  type BudgetRow,
  type CheckedBudget,
  FIRST_MONTH,
  isOver,
  judgeBudget,
  type TeamForecast,
} from './budgets.ts';
import { OPEN_END, type PriceRow, unpricedAmong } from './prices.ts';
import { budgetIn, priceIn, selectBudgets, selectPrices } from './stored-money.ts';

/** The budgets of a month against what the teams have used. */
export interface BudgetCheck {
  readonly org_id: string;
  readonly month: string;
  /** The days of the month until the newest loaded day. */
  readonly from: UtcDay;
  readonly until: UtcDay;
  readonly teams: readonly CheckedBudget[];
  /** Teams without a budget that have used credits. */
  readonly without_budget: readonly TeamForecast[];
  /** Settled Mondays to Fridays, and all of the month: what the forecast is made from. */
  readonly weekdays_settled: number;
  readonly weekdays: number;
  readonly days: CoveredDays;
  readonly run_id: string | null;
  /** Currencies of the prices of the month. */
  readonly currencies: readonly string[];
  /** Stored days without a price. */
  readonly without_price: readonly DaySpan[];
  readonly exit_code: ExitCode;
}

/**
 * Checks the budgets of a month. Call in a snapshot. Writes nothing.
 * @param asked the month; by default that of the newest loaded day of users
 * @throws {UsageError} if nothing is loaded, or if the month has no budget.
 */
export async function checkBudgets(
  warehouse: Warehouse,
  orgId: string,
  asked: Month | undefined,
): Promise<BudgetCheck> {
  const newest = await newestDayOfUsers(warehouse, orgId);
  const month = monthOfCheck(asked, newest);
  const budgets = await budgetsOfMonth(warehouse, orgId, month);
  const prices = (await warehouse.select(selectPrices(orgId))).map(priceIn(orgId));
  const currencies = currenciesOf(month.name, prices);
  const covered = await coverageOf(warehouse, orgId, month, newest);
  const forecasts = await forecastsOf(warehouse, orgId, month);
  const teams = budgets.map((budget) => {
    const own = forecasts.filter(({ team }) => team === budget.team);
    return judgeBudget(budget, own.length > 0 ? own : [idle(budget, covered)], currencies);
  });
  const budgeted = new Set(budgets.map(({ team }) => team));
  const { from, until, days, run_id } = covered;
  const missing = new Set(days.missing);
  const stored = daysFrom(from, until).filter((day) => !missing.has(day));
  return {
    org_id: orgId,
    month: month.name,
    from,
    until,
    teams,
    without_budget: forecasts.filter(({ team }) => !budgeted.has(team)),
    weekdays_settled: covered.weekdaysSettled,
    weekdays: weekdaysIn(daysFrom(firstOf(month), month.last)),
    days,
    run_id,
    currencies: [...currencies].toSorted(),
    without_price: spansOf(unpricedAmong(stored, prices)),
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
  const all = (await warehouse.select(selectBudgets(orgId))).map(budgetIn(orgId));
  const own = all.filter(({ month }) => month === name);
  if (own.length > 0) return own;
  throw new UsageError(`there is no budget for ${name}`, {
    hint: `load budgets with daywalk budget load FILE.csv${all.length === 0 ? '' : '; daywalk budget list shows those that are loaded'}`,
  });
}

interface Covered extends Pick<Provenance, 'from' | 'until' | 'days' | 'run_id'> {
  readonly weekdaysSettled: number;
}

function firstOf({ first }: Month): UtcDay {
  return first < FIRST_DAY ? FIRST_DAY : first;
}

/** The days of the month until the newest loaded day; all of them if the month is over or has not begun. */
async function coverageOf(
  warehouse: Pick<Warehouse, 'read'>,
  orgId: string,
  month: Month,
  newest: UtcDay | null,
): Promise<Covered> {
  const from = firstOf(month);
  const isRunning = newest !== null && newest >= from && newest < month.last;
  const until = isRunning ? newest : month.last;
  const { days, run_id } = await readProvenance(warehouse, { orgId, streams: ['users'], from, until });
  const open = new Set([...days.unsettled, ...days.missing]);
  const settled = daysFrom(from, until).filter((day) => !open.has(day));
  return { from, until, days, run_id, weekdaysSettled: weekdaysIn(settled) };
}

function weekdaysIn(days: readonly UtcDay[]): number {
  return days.filter((day) => weekdayOf(day) <= 5).length;
}

async function forecastsOf(warehouse: Warehouse, orgId: string, { name }: Month): Promise<TeamForecast[]> {
  const teams = await teamsInPlaceOfTable(warehouse, orgId);
  const body = sql.raw(views.monthForecast.select[warehouse.dialect]);
  // The view itself would still read the table.
  const named = teams.length === 0 ? [] : [...teams, { name: 'month_forecast', body }];
  const rows = await warehouse.select(
    withSql(
      named,
      sql`SELECT team, currency, tokens_so_far, cost_so_far, cost_forecast FROM month_forecast
WHERE org_id = ${orgId} AND month = ${name}`,
    ),
  );
  return rows.map(forecastIn).toSorted((a, b) => (a.team < b.team ? -1 : 1));
}

function forecastIn({ team, currency, tokens_so_far, cost_so_far, cost_forecast }: QueryRow): TeamForecast {
  return {
    team: String(team),
    currency: typeof currency === 'string' ? currency : null,
    tokens_so_far: numberOf(tokens_so_far),
    cost_so_far: numberOf(cost_so_far),
    cost_forecast: numberOf(cost_forecast),
  };
}

function numberOf(value: unknown): number | null {
  return typeof value === 'number' ? value : null;
}

/** A team without a row in the month has used nothing, if anything of the month is stored. */
function idle({ team }: BudgetRow, { days, weekdaysSettled }: Covered): TeamForecast {
  const soFar = days.missing.length < days.expected ? 0 : null;
  return {
    team,
    currency: null,
    tokens_so_far: soFar,
    cost_so_far: soFar,
    cost_forecast: weekdaysSettled > 0 ? 0 : null,
  };
}

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
