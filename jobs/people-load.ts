import { UsageError } from '../src/core/errors.ts';
import type { JobContext } from '../src/core/job-context.ts';
import { readCsv } from '../src/metrics/csv/read-csv.ts';
import { loadPeople as loadSteps, type PeopleLoad } from '../src/metrics/people/load-people.ts';
import { PEOPLE_FORMAT } from '../src/metrics/people/people-file.ts';
import { peopleOf } from '../src/metrics/people/stored-people.ts';
import { ErasedPeople } from '../src/privacy/erased-people.ts';
import type { Settings } from '../src/settings/settings.ts';
import { chooseOrganization } from '../src/warehouse/choose-organization.ts';
import { checkEmailSalt, expectEmailSalt } from '../src/warehouse/email-salt.ts';
import { expectSameErased, LISTING, readErased } from '../src/warehouse/erased-list.ts';
import { MUCH_WRITTEN_ROWS, type Steps } from '../src/warehouse/port.ts';
import { ROLLUPS, runReads } from '../src/warehouse/rollups/refresh.ts';
import { withWarehouse } from '../src/warehouse/with-warehouse.ts';
import type { LoadRequest } from './load-request.ts';

/**
 * Replaces the people of an organization by those of a CSV file, in one transaction with the rollups that depend on them.
 * May be repeated, and may be called during a run.
 * @throws {UsageError} that names file, line and remedy if anything is wrong with the file. Nothing is stored then.
 */
export async function loadPeople(
  { warehouse: location, emails }: Settings,
  { file, organization, isDryRun, allowsEmpty }: LoadRequest,
  { clock }: Pick<JobContext, 'clock'>,
): Promise<PeopleLoad> {
  const lines = await readCsv(file, PEOPLE_FORMAT);
  if (lines.length === 0 && !allowsEmpty) {
    throw new UsageError(`${file.name}: the file has no people, and a load replaces all people`, {
      hint: 'check the file; to remove all people, pass --allow-empty',
    });
  }
  return withWarehouse(location, { clock, create: false }, async (warehouse) => {
    const orgId = await chooseOrganization(warehouse, organization);
    const { dialect } = warehouse;
    const erased = await readErased(warehouse);
    const people = peopleOf(lines, {
      ...{ orgId, file: file.name, emails },
      erased: new ErasedPeople(erased, [orgId]),
    });
    const load = () => loadSteps(people, { orgId, file: file.name, dialect, isDryRun });
    const steps = function* (): Steps<PeopleLoad> {
      yield* expectSameErased(erased);
      return yield* load();
    };
    await checkEmailSalt(warehouse, emails);
    if (isDryRun) return warehouse.inSnapshot(() => runReads(warehouse, steps()));
    const loaded = await warehouse.oneAtATime(LISTING, () =>
      warehouse.oneAtATime(ROLLUPS, () => warehouse.transact('load people into', steps)),
    );
    // Remembered last, because a refused load must store nothing.
    await expectEmailSalt(warehouse, emails);
    if (people.length >= MUCH_WRITTEN_ROWS) await warehouse.refreshStatistics();
    return loaded;
  });
}
