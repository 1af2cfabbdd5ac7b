import type { JobContext } from '../src/core/clock.ts';
import { UsageError } from '../src/core/errors.ts';
import {
  listPeople as listSteps,
  type MissingPeople,
  findMissingPeople as missingSteps,
  type PeopleList,
} from '../src/metrics/list-people.ts';
import { loadPeople as loadSteps, type PeopleLoad } from '../src/metrics/load-people.ts';
import { PEOPLE_FORMAT, type PersonOfLine, peopleOf } from '../src/metrics/people-file.ts';
import { type CsvFile, readCsv } from '../src/metrics/read-csv.ts';
import { isPseudonym } from '../src/privacy/email.ts';
import { type ErasedList, ErasedPeople } from '../src/privacy/erased-people.ts';
import type { Settings } from '../src/settings/settings.ts';
import {
  expectSameErased,
  LISTING,
  readErased,
  type Subject,
  withSubjects,
} from '../src/warehouse/erased-list.ts';
import { withWarehouse } from '../src/warehouse/open.ts';
import { chooseOrganization } from '../src/warehouse/organizations.ts';
import { MUCH_WRITTEN_ROWS, runReads, type Steps } from '../src/warehouse/port.ts';
import { checkEmailSalt, expectEmailSalt } from '../src/warehouse/remembered.ts';
import { ROLLUPS } from '../src/warehouse/rollups/refresh.ts';

/** Which CSV file of people, prices or budgets to load, for which organization, and how. */
export interface LoadRequest {
  readonly file: CsvFile;
  /** Default: the only organization of the warehouse. */
  readonly organization?: string | undefined;
  readonly isDryRun: boolean;
  /** Accept a file without lines, which removes everything that was loaded for the organization. */
  readonly allowsEmpty: boolean;
}

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

/**
 * Finds active users without a team, users who are several people, and people without activity. Writes nothing.
 * @throws {UsageError} when there is no such warehouse or organization.
 */
export function findMissingPeople(
  { warehouse: location }: Settings,
  { organization }: { readonly organization?: string | undefined },
  { clock }: Pick<JobContext, 'clock'>,
): Promise<MissingPeople> {
  return withWarehouse(location, { clock, create: false }, (warehouse) =>
    warehouse.inSnapshot(async () =>
      runReads(warehouse, missingSteps(await chooseOrganization(warehouse, organization))),
    ),
  );
}

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
      runReads(warehouse, listSteps(await chooseOrganization(warehouse, organization))),
    ),
  );
}
