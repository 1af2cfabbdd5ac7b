import type { DaySpan } from '../src/core/day-span.ts';
import { UsageError } from '../src/core/errors.ts';
import type { JobContext } from '../src/core/job-context.ts';
import { daysWithoutPrice, PRICES_FORMAT, type PriceRow, pricesOf } from '../src/metrics/money/prices.ts';
import type { Changes } from '../src/metrics/money/stored-money.ts';
import { loadedPrices, replaceRows } from '../src/metrics/money/stored-money.ts';
import { newestDayOfUsers } from '../src/metrics/period.ts';
import { readCsv } from '../src/metrics/read-csv.ts';
import type { Settings } from '../src/settings/settings.ts';
import { chooseOrganization } from '../src/warehouse/choose-organization.ts';
import { withWarehouse } from '../src/warehouse/with-warehouse.ts';
import type { LoadRequest } from './load-request.ts';

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
