import type { JobContext } from '../src/core/job-context.ts';
import type { PriceRow } from '../src/metrics/money/prices.ts';
import { priceIn, selectPrices } from '../src/metrics/money/stored-money.ts';
import type { Settings } from '../src/settings/settings.ts';
import { chooseOrganization } from '../src/warehouse/choose-organization.ts';
import { withWarehouse } from '../src/warehouse/with-warehouse.ts';

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
