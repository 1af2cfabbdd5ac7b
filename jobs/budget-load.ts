import { UsageError } from '../src/core/errors.ts';
import type { JobContext } from '../src/core/job-context.ts';
import { budgetWarnings } from '../src/metrics/money/budget-check.ts';
import { BUDGETS_FORMAT, type BudgetRow, budgetsOf } from '../src/metrics/money/budgets.ts';
import type { Changes } from '../src/metrics/money/stored-money.ts';
import { loadedBudgets, replaceRows } from '../src/metrics/money/stored-money.ts';
import { readCsv } from '../src/metrics/read-csv.ts';
import { ErasedPeople } from '../src/privacy/erased-people.ts';
import type { Settings } from '../src/settings/settings.ts';
import { chooseOrganization } from '../src/warehouse/choose-organization.ts';
import { expectSameErased, LISTING, readErased } from '../src/warehouse/erased-list.ts';
import type { Steps } from '../src/warehouse/port.ts';
import { withWarehouse } from '../src/warehouse/with-warehouse.ts';
import type { LoadRequest } from './load-request.ts';

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
