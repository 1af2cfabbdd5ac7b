import type { Warehouse } from '../warehouse/port.ts';
import { readKnownUsers } from '../warehouse/rollups/known-users.ts';
import { runReads } from '../warehouse/rollups/refresh.ts';
import { OPEN_END, resolvePeople } from '../warehouse/rollups/resolve-people.ts';
import { readStanding } from '../warehouse/rollups/standing.ts';
import type { FindingList } from './finding.ts';

/** Reports users who are several people on one day, of which only one is used. Call inside a snapshot. */
export async function checkPeople(warehouse: Warehouse, findings: FindingList): Promise<void> {
  for (const orgId of await warehouse.organizations()) {
    const standing = await runReads(warehouse, readStanding(orgId));
    const { people } = standing;
    if (people.length === 0) continue;
    const known = await runReads(warehouse, readKnownUsers(orgId, standing));
    const { conflicts } = resolvePeople({ orgId, people, ...known });
    for (const { user_id, valid_from, valid_to, person, others } of conflicts) {
      const end = valid_to === OPEN_END ? '' : ` until ${valid_to}`;
      findings.add({
        severity: 'oddity',
        orgId,
        stream: 'users',
        day: valid_from,
        what: `user ${user_id} is several people${end}: the one used, and the others`,
        expected: person,
        found: others.join(', '),
      });
    }
  }
}
