import { UsageError } from '../core/errors.ts';
import { nameOf, readNames } from './organization-names.ts';
import type { Warehouse } from './port.ts';

/**
 * The organization that a command is about: the one that was asked for, by its ID or a recorded name, or else the only one
 * in the warehouse. An ID wins over a name.
 * @throws {UsageError} if the warehouse does not know it, or if none was asked for and the warehouse has none or several.
 */
export async function chooseOrganization(
  warehouse: Pick<Warehouse, 'organizations' | 'location' | 'select'>,
  asked: string | undefined,
): Promise<string> {
  const known = await warehouse.organizations();
  if (asked !== undefined && known.includes(asked)) return asked;
  const recorded = await readNames(warehouse);
  const named = recorded.find(({ name }) => name === asked)?.orgId;
  if (named !== undefined && known.includes(named)) return named;
  const [only, ...others] = known;
  if (only === undefined) {
    throw new UsageError(`the warehouse ${warehouse.location} knows no organization yet`, {
      hint: 'export the data of an organization first',
      reason: 'no-organization',
    });
  }
  if (asked === undefined && others.length === 0) return only;
  const problem =
    asked === undefined
      ? `the warehouse ${warehouse.location} holds ${known.length} organizations`
      : `the warehouse ${warehouse.location} does not know the organization "${asked}"`;
  const organizations = known.map((orgId) => nameOf(recorded, orgId) ?? orgId).join(', ');
  throw new UsageError(problem, {
    hint: `choose one of ${organizations}`,
    reason: 'organization-unclear',
    facts: { organizations },
  });
}
