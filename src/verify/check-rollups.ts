import type { Warehouse } from '../warehouse/port.ts';
import {
  checkRollups,
  organizationsWithRollups,
  type RollupFinding,
  wrongDates,
} from '../warehouse/rollups/check.ts';
import type { FindingList } from './finding.ts';

/**
 * Compares every rollup with the facts that it was computed from. Rollups that wait for the next refresh are oddities.
 * Call inside a snapshot.
 * @param only the only organization to compare; by default, all.
 * @param broken by organization: the days of `users` whose rows differ from the ledger, so that rollups cannot equal both.
 */
export async function checkAllRollups(
  warehouse: Warehouse,
  findings: FindingList,
  broken: ReadonlyMap<string, ReadonlySet<string>>,
  only?: string,
): Promise<void> {
  const known = await warehouse.organizations();
  const organizations = new Set([...known, ...(await organizationsWithRollups(warehouse))]);
  for (const orgId of only === undefined ? [...organizations].toSorted() : [only]) {
    for await (const finding of checkRollups(warehouse, orgId, broken.get(orgId) ?? new Set()))
      report(orgId, finding, findings);
  }
  for (const finding of await wrongDates(warehouse)) report('', finding, findings);
}

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
