import { expect } from 'vitest';
import { decoderOf, type StoredRow } from '../../../schema/row.ts';
import { tables } from '../../../schema/tables.ts';
import { runReads } from '../../../src/port/steps.ts';
import type { Warehouse } from '../../../src/port/warehouse.ts';
import { teamChanges } from '../../../src/rollups/current.ts';
import { type TeamPeriod, teamPeriods } from '../../../src/rollups/resolve-people.ts';
import { readStanding } from '../../../src/rollups/standing.ts';

/**
 * What questions read as `user_teams` is what everybody's rows and addresses give, however few users were resolved again.
 * Returns where it came from.
 */
export async function expectTeamsExact(
  warehouse: Warehouse,
  orgId: string,
): Promise<'the table' | 'some users' | 'everybody'> {
  const standing = await runReads(warehouse, readStanding(orgId));
  const expected = await runReads(warehouse, teamPeriods(orgId, standing));
  const changes = await teamChanges(warehouse, orgId);
  const users = changes === null ? [] : changes.users;
  const stored = await warehouse.rowsOf(tables.userTeams, { orgId });
  const kept = stored.map(decode).filter(({ user_id }) => users?.includes(String(user_id)) === false);
  const seen = [...kept, ...(changes?.periods ?? [])];
  expect(seen.map(textOf).toSorted()).toEqual(expected.map(textOf).toSorted());
  if (changes === null) return 'the table';
  return users === null ? 'everybody' : 'some users';
}

const decode = decoderOf(tables.userTeams);

function textOf(period: StoredRow<typeof tables.userTeams> | TeamPeriod): string {
  const { user_id, valid_from, valid_to, person, team } = period;
  return [user_id, valid_from, valid_to, person, team].join(' ');
}

/** The warehouse of a process that is killed before its nth transaction. */
export function killed(warehouse: Warehouse, at: number): Warehouse {
  let count = 0;
  return {
    ...warehouse,
    transact: (doing, steps) => {
      count += 1;
      return count >= at ? Promise.reject(new Error('killed')) : warehouse.transact(doing, steps);
    },
  };
}
