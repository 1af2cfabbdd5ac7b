import type { JobContext } from '../src/core/job-context.ts';
import type { BudgetRow } from '../src/metrics/money/budgets.ts';
import { budgetIn, selectBudgets } from '../src/metrics/money/stored-money.ts';
import type { Settings } from '../src/settings/settings.ts';
import { chooseOrganization } from '../src/warehouse/choose-organization.ts';
import { withWarehouse } from '../src/warehouse/with-warehouse.ts';

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
