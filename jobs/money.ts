import type { JobContext } from '../src/core/clock.ts';
import type { DaySpan, Month } from '../src/core/day.ts';
import { UsageError } from '../src/core/errors.ts';
import { type BudgetCheck, budgetWarnings, checkBudgets } from '../src/metrics/money/budget-check.ts';
import { BUDGETS_FORMAT, type BudgetRow, budgetsOf } from '../src/metrics/money/budgets.ts';
import { daysWithoutPrice, PRICES_FORMAT, type PriceRow, pricesOf } from '../src/metrics/money/prices.ts';
import {
  budgetIn,
  type Changes,
  loadedBudgets,
  loadedPrices,
  priceIn,
  replaceRows,
  selectBudgets,
  selectPrices,
} from '../src/metrics/money/stored-money.ts';
import { newestDayOfUsers } from '../src/metrics/period.ts';
import { readCsv } from '../src/metrics/read-csv.ts';
import { ErasedPeople } from '../src/privacy/erased-people.ts';
import type { Settings } from '../src/settings/settings.ts';
import { expectSameErased, LISTING, readErased } from '../src/warehouse/erased-list.ts';
import { withWarehouse } from '../src/warehouse/open.ts';
import { chooseOrganization } from '../src/warehouse/organizations.ts';
import type { Steps } from '../src/warehouse/port.ts';
import type { LoadRequest } from './people.ts';

/** What a load of prices has done, or would do. */
export interface PricesLoad extends Changes<PriceRow> {
  readonly org_id: string;
  /** True if nothing was stored because it was a dry run. */
  readonly dry_run: boolean;
  /** Number of prices in the file. */
  readonly prices: number;
  /** Days without a price, until the newest loaded day and between two prices. */
  readonly without_price: readonly DaySpan[];
  /** The currencies of the prices. */
  readonly currencies: readonly string[];
}

/**
 * Replaces the prices of an organization by those of a CSV file, in one transaction. May be repeated, and may be called
 * during a run.
 * @throws {UsageError} that names file, line and remedy if anything is wrong with the file. Nothing is stored then.
 */
export async function loadPrices(
  { warehouse: location }: Settings,
  { file, organization, isDryRun, allowsEmpty }: LoadRequest,
  { clock }: Pick<JobContext, 'clock'>,
): Promise<PricesLoad> {
  const lines = await readCsv(file, PRICES_FORMAT);
  if (lines.length === 0 && !allowsEmpty) {
    throw new UsageError(`${file.name}: the file has no prices, and a load replaces all prices`, {
      hint: 'check the file; to remove all prices, pass --allow-empty',
    });
  }
  return withWarehouse(location, { clock, create: false }, async (warehouse) => {
    const orgId = await chooseOrganization(warehouse, organization);
    const prices = pricesOf(lines, { orgId, file: file.name });
    const newest = await newestDayOfUsers(warehouse, orgId);
    const changes = await warehouse.oneAtATime('prices', () =>
      warehouse.transact('load prices into', () => replaceRows(loadedPrices, prices, { orgId, isDryRun })),
    );
    return {
      org_id: orgId,
      dry_run: isDryRun,
      prices: prices.length,
      ...changes,
      without_price: daysWithoutPrice(prices, newest),
      currencies: [...new Set(prices.map(({ currency }) => currency))],
    };
  });
}

/** The prices of an organization. */
export interface PricesList {
  readonly org_id: string;
  readonly prices: readonly PriceRow[];
}

/**
 * Lists the prices of an organization in the order of their periods. Writes nothing.
 * @throws {UsageError} when there is no such warehouse or organization.
 */
export function listPrices(
  { warehouse: location }: Settings,
  { organization }: { readonly organization?: string | undefined },
  { clock }: Pick<JobContext, 'clock'>,
): Promise<PricesList> {
  return withWarehouse(location, { clock, create: false }, async (warehouse) => {
    const orgId = await chooseOrganization(warehouse, organization);
    return { org_id: orgId, prices: (await warehouse.select(selectPrices(orgId))).map(priceIn(orgId)) };
  });
}

/** What a load of budgets has done, or would do. */
export interface BudgetLoad extends Changes<BudgetRow> {
  readonly org_id: string;
  /** True if nothing was stored because it was a dry run. */
  readonly dry_run: boolean;
  /** Number of budgets in the file. */
  readonly budgets: number;
  /** What is doubtful about them, one sentence each. */
  readonly warnings: readonly string[];
}

/**
 * Replaces the budgets of an organization by those of a CSV file, in one transaction. May be repeated, and may be called
 * during a run.
 * @throws {UsageError} that names file, line and remedy if anything is wrong with the file. Nothing is stored then.
 */
export async function loadBudgets(
  { warehouse: location }: Settings,
  { file, organization, isDryRun, allowsEmpty }: LoadRequest,
  { clock }: Pick<JobContext, 'clock'>,
): Promise<BudgetLoad> {
  const lines = await readCsv(file, BUDGETS_FORMAT);
  if (lines.length === 0 && !allowsEmpty) {
    throw new UsageError(`${file.name}: the file has no budgets, and a load replaces all budgets`, {
      hint: 'check the file; to remove all budgets, pass --allow-empty',
    });
  }
  return withWarehouse(location, { clock, create: false }, async (warehouse) => {
    const orgId = await chooseOrganization(warehouse, organization);
    const erased = await readErased(warehouse);
    const people = new ErasedPeople(erased, [orgId]);
    const budgets = budgetsOf(lines, { orgId, file: file.name, nameOf: (team) => people.text(team) });
    const warnings = await budgetWarnings(warehouse, orgId, budgets);
    const steps = function* (): Steps<Changes<BudgetRow>> {
      yield* expectSameErased(erased);
      return yield* replaceRows(loadedBudgets, budgets, { orgId, isDryRun });
    };
    const changes = await warehouse.oneAtATime(LISTING, () =>
      warehouse.oneAtATime('budgets', () => warehouse.transact('load budgets into', steps)),
    );
    return { org_id: orgId, dry_run: isDryRun, budgets: budgets.length, ...changes, warnings };
  });
}

/** The budgets of an organization. */
export interface BudgetList {
  readonly org_id: string;
  readonly budgets: readonly BudgetRow[];
}

/**
 * Lists the budgets of an organization by month and team. Writes nothing.
 * @throws {UsageError} when there is no such warehouse or organization.
 */
export function listBudgets(
  { warehouse: location }: Settings,
  { organization }: { readonly organization?: string | undefined },
  { clock }: Pick<JobContext, 'clock'>,
): Promise<BudgetList> {
  return withWarehouse(location, { clock, create: false }, async (warehouse) => {
    const orgId = await chooseOrganization(warehouse, organization);
    return { org_id: orgId, budgets: (await warehouse.select(selectBudgets(orgId))).map(budgetIn(orgId)) };
  });
}

/** What to check. */
export interface BudgetCheckRequest {
  /** Default: the month of the newest loaded day of users. */
  readonly month?: Month | undefined;
  /** Default: the only organization of the warehouse. */
  readonly organization?: string | undefined;
}

/**
 * Compares the budgets of a month with the cost so far and the forecast. Its exit code is 5 if a team is above its budget
 * or will be, and 2 if a price is missing or has another currency. Writes nothing.
 * @throws {UsageError} when there is no such warehouse or organization, or no budget for the month.
 */
export function checkBudget(
  { warehouse: location }: Settings,
  { month, organization }: BudgetCheckRequest,
  { clock }: Pick<JobContext, 'clock'>,
): Promise<BudgetCheck> {
  return withWarehouse(location, { clock, create: false }, async (warehouse) => {
    const orgId = await chooseOrganization(warehouse, organization);
    return warehouse.inSnapshot(() => checkBudgets(warehouse, orgId, month));
  });
}
