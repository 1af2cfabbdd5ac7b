import { OPEN_END } from '../../schema/row.ts';
import { readOrganizationIds } from '../ledger/index.ts';
import { runReads, type Warehouse } from '../port/index.ts';
import {
  type BrokenDays,
  checkRollups,
  organizationsWithRollups,
  type RollupFinding,
  readKnownUsers,
  readStanding,
  resolvePeople,
  wrongDates,
} from '../rollups/index.ts';
import type { FindingList } from './finding.ts';

/**
 * Compares every rollup with the facts that it was computed from. Rollups that wait for the next refresh are oddities.
 * Call inside a snapshot.
 * @param only the only organization to compare; by default, all.
 * @param broken by organization: the days whose rows differ from the ledger, so that rollups cannot equal both.
 */
export async function checkAllRollups(
  warehouse: Warehouse,
  findings: FindingList,
  broken: ReadonlyMap<string, BrokenDays>,
  only?: string,
): Promise<void> {
  const known = await readOrganizationIds(warehouse);
  const organizations = new Set([...known, ...(await organizationsWithRollups(warehouse))]);
  for (const orgId of only === undefined ? [...organizations].toSorted() : [only]) {
    for await (const finding of checkRollups(warehouse, orgId, broken.get(orgId) ?? NONE_BROKEN))
      report(orgId, finding, findings);
  }
  for (const finding of await wrongDates(warehouse)) report('', finding, findings);
}

const NONE_BROKEN: BrokenDays = { users: new Set(), tokens: new Set() };

function report(orgId: string, finding: RollupFinding, findings: FindingList): void {
  const at = { orgId, stream: 'users', day: finding.day } as const;
  if ('stale' in finding) {
    const lacks =
      finding.days === 0
        ? `the rollup ${finding.stale} was computed from other people`
        : `days that the rollup ${finding.stale} lacks`;
    const what = `${lacks}; the next run computes it again`;
    findings.add({ severity: 'oddity', ...at, what, expected: 0, found: finding.days });
    return;
  }
  const { table, row, column, expected, found } = finding.difference;
  findings.add({ severity: 'broken', ...at, what: `${table} (${row}): ${column}`, expected, found });
}

/** Reports users who are several people on one day, of which only one is used. Call inside a snapshot. */
export async function checkPeople(warehouse: Warehouse, findings: FindingList): Promise<void> {
  for (const orgId of await readOrganizationIds(warehouse)) {
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
