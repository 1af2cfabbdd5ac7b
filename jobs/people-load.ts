import { UsageError } from '../src/core/errors.ts';
import type { JobContext } from '../src/core/job-context.ts';
import { loadPeople as loadSteps, type PeopleLoad } from '../src/metrics/load-people.ts';
import { PEOPLE_FORMAT, type PersonOfLine, peopleOf } from '../src/metrics/people-file.ts';
import { readCsv } from '../src/metrics/read-csv.ts';
import { type ErasedList, ErasedPeople } from '../src/privacy/erased-people.ts';
import { isPseudonym } from '../src/privacy/pseudonym.ts';
import type { Settings } from '../src/settings/settings.ts';
import { chooseOrganization } from '../src/warehouse/choose-organization.ts';
import { checkEmailSalt, expectEmailSalt } from '../src/warehouse/email-salt.ts';
import {
  expectSameErased,
  LISTING,
  readErased,
  type Subject,
  withSubjects,
} from '../src/warehouse/erased-list.ts';
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
    const read = (list: ErasedList) =>
      peopleOf(lines, { orgId, file: file.name, emails, erased: new ErasedPeople(list, [orgId]) });
    const erased = await readErased(warehouse);
    const learned = newAddressesOf(read(erased));
    // For this file only: an address in a file may be a mistake.
    const people = read(withSubjects(erased, orgId, learned, clock.now()));
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

/** Addresses that stand beside the ID of an erased person: other lines may hold them alone. */
function newAddressesOf(people: readonly PersonOfLine[]): Subject[] {
  return people.flatMap(({ row, email }) =>
    isPseudonym(row.person) && email !== null && !isPseudonym(email) ? { kind: 'email', value: email } : [],
  );
}
