import { sql } from '../../schema/query.ts';
import { UsageError } from '../core/errors.ts';
import { nearestName } from '../core/nearest.ts';
import type { Warehouse } from '../warehouse/port.ts';

/** The word for "without a team" wherever people read or type a team. No team can have it as its name. */
export const UNASSIGNED = 'unassigned';

/** More teams than this do not help as a hint. */
const TEAMS_MAX = 10;

type Source = Pick<Warehouse, 'select'>;

/**
 * The team that a person means by a name: null for {@link UNASSIGNED}.
 * @throws {UsageError} if nobody was ever in a team of this name, because the answer would be 0 for a misspelt one.
 */
export async function findTeam(warehouse: Source, orgId: string, name: string): Promise<string | null> {
  if (name === UNASSIGNED) return null;
  const found = await warehouse.select(sql`SELECT DISTINCT team FROM people WHERE org_id = ${orgId}`);
  const teams = found.flatMap(({ team }) => (typeof team === 'string' ? team : [])).toSorted();
  if (teams.includes(name)) return name;
  const nearest = nearestName(name, teams);
  throw new UsageError(`there is no team "${name}"`, {
    hint: nearest === undefined ? hintFor(teams) : `did you mean ${nearest}?`,
  });
}

function hintFor(teams: readonly string[]): string {
  if (teams.length === 0) return 'no person has a team; load them with daywalk people load';
  const more = teams.length > TEAMS_MAX ? `, and ${teams.length - TEAMS_MAX} more` : '';
  return `choose from ${teams.slice(0, TEAMS_MAX).join(', ')}${more}, or ${UNASSIGNED}`;
}

/**
 * Checks that an organization has a user.
 * @throws {UsageError} if no row is of this user, because the answer would be 0 for a misspelt ID.
 */
export async function checkUser(warehouse: Source, orgId: string, user: string): Promise<void> {
  const found = await warehouse.select(
    sql`SELECT user_id FROM user_daily WHERE org_id = ${orgId} AND user_id = ${user} LIMIT 1`,
  );
  if (found.length > 0) return;
  throw new UsageError(`no row is of the user "${user}"`, {
    hint: 'give a user ID; the table users has the email address of each',
  });
}
