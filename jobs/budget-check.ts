import type { JobContext } from '../src/core/job-context.ts';
import type { Month } from '../src/core/month.ts';
import { type BudgetCheck, checkBudgets } from '../src/metrics/money/budget-check.ts';
import type { Settings } from '../src/settings/settings.ts';
import { chooseOrganization } from '../src/warehouse/choose-organization.ts';
import { withWarehouse } from '../src/warehouse/with-warehouse.ts';

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
