import { UsageError } from '../core/errors.ts';
import type { Warehouse } from './port.ts';

/**
 * The organization that a command is about: the one that was asked for, or else the only one in the warehouse.
 * @throws {UsageError} if the warehouse does not know it, or if none was asked for and the warehouse has none or several.
 */
export async function chooseOrganization(
  warehouse: Pick<Warehouse, 'organizations' | 'location'>,
  asked: string | undefined,
): Promise<string> {
  const known = await warehouse.organizations();
  if (asked !== undefined && known.includes(asked)) return asked;
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
  const organizations = known.join(', ');
  throw new UsageError(problem, {
    hint: `choose one of ${organizations}`,
    reason: 'organization-unclear',
    facts: { organizations },
  });
}
