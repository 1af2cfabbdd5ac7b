import type { Steps } from '../queries.ts';
import { readKnownUsers } from './known-users.ts';
import { resolvePeople, type TeamPeriod } from './resolve-people.ts';
import type { Standing } from './standing.ts';

/** The rows of `user_teams` as they follow from the people and the stored days. Memory holds both. */
export function* teamPeriods(
  orgId: string,
  standing: Pick<Standing, 'people' | 'stale'>,
): Steps<readonly TeamPeriod[]> {
  const { people } = standing;
  if (people.length === 0) return [];
  const known = yield* readKnownUsers(orgId, standing);
  return resolvePeople({ orgId, people, ...known }).periods;
}
