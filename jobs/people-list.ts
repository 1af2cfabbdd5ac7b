import type { JobContext } from '../src/core/job-context.ts';
import { type PeopleList, listPeople as readSteps } from '../src/metrics/list-people.ts';
import type { Settings } from '../src/settings/settings.ts';
import { chooseOrganization } from '../src/warehouse/choose-organization.ts';
import { runReads } from '../src/warehouse/rollups/refresh.ts';
import { withWarehouse } from '../src/warehouse/with-warehouse.ts';

/**
 * Lists the people of an organization and the teams they belong to, and when. Writes nothing.
 * @throws {UsageError} when there is no such warehouse or organization.
 */
export function listPeople(
  { warehouse: location }: Settings,
  { organization }: { readonly organization?: string | undefined },
  { clock }: Pick<JobContext, 'clock'>,
): Promise<PeopleList> {
  return withWarehouse(location, { clock, create: false }, (warehouse) =>
    warehouse.inSnapshot(async () =>
      runReads(warehouse, readSteps(await chooseOrganization(warehouse, organization))),
    ),
  );
}
