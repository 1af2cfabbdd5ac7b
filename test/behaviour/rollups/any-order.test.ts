import fc from 'fast-check';
import { expect, it } from 'vitest';
import { decoderOf, type StoredRow } from '../../../schema/row.ts';
import { tables } from '../../../schema/tables.ts';
import { parseDay, shiftDay } from '../../../src/core/day.ts';
import { runReads } from '../../../src/port/steps.ts';
import type { Warehouse } from '../../../src/port/warehouse.ts';
import { currentRollups, teamChanges } from '../../../src/rollups/current.ts';
import { refreshRollups } from '../../../src/rollups/refresh.ts';
import { type TeamPeriod, teamPeriods } from '../../../src/rollups/resolve-people.ts';
import { readStanding } from '../../../src/rollups/standing.ts';
import { expectedRollups, storedRollups, storedUserDays } from '../../support/rollups/expected.ts';
import { type UserOfDay, usersOn } from '../../support/rollups/user-days.ts';
import { commitDay } from '../../support/warehouse/commit-of.ts';
import { type Held, onEachDatabase, open } from '../../support/warehouse/each-database.ts';

const FIRST = parseDay('2026-01-26');
const LAST = parseDay('2026-12-31');
const OPTIONS = { orgId: 'org_1', now: new Date('2026-03-20T03:00:00Z') };

const user = fc.record({
  id: fc.constantFrom('u1', 'u2', 'u3'),
  email: fc.constantFrom(null, 'a@example.com', 'b@example.com'),
  credits: fc.integer({ min: 0, max: 9 }),
});
const step = fc.oneof(
  fc.record({
    kind: fc.constant('commit' as const),
    day: fc.integer({ min: 0, max: 12 }).map((days) => shiftDay(FIRST, days)),
    users: fc.uniqueArray(user, { minLength: 1, selector: ({ id }) => id }),
  }),
  fc.record({
    kind: fc.constant('people' as const),
    person: fc.constantFrom('A@example.com', 'b@example.com', 'u1'),
    team: fc.constantFrom('Red', 'Blue'),
  }),
  // A refresh that is killed before its nth transaction.
  fc.record({ kind: fc.constant('refresh' as const), killedAt: fc.integer({ min: 1, max: 6 }) }),
);

/** The warehouse of a process that is killed before its nth transaction. */
function killed(warehouse: Warehouse, at: number): Warehouse {
  let count = 0;
  return {
    ...warehouse,
    transact: (doing, steps) => {
      count += 1;
      return count >= at ? Promise.reject(new Error('killed')) : warehouse.transact(doing, steps);
    },
  };
}

/**
 * What questions read as `user_teams` is what everybody's rows and addresses give, however little of it was computed again.
 * Returns how: from the table, of some users, or of all.
 */
async function expectTeamsExact(warehouse: Held): Promise<'table' | 'some' | 'all'> {
  const standing = await runReads(warehouse, readStanding(OPTIONS.orgId));
  const expected = await runReads(warehouse, teamPeriods(OPTIONS.orgId, standing));
  const changes = await teamChanges(warehouse, OPTIONS.orgId);
  const users = changes === null ? [] : changes.users;
  const stored = await warehouse.rowsOf(tables.userTeams, { orgId: OPTIONS.orgId });
  const kept = stored.map(decodeTeam).filter(({ user_id }) => users?.includes(String(user_id)) === false);
  const seen = [...kept, ...(changes?.periods ?? [])];
  expect(seen.map(textOf).toSorted()).toEqual(expected.map(textOf).toSorted());
  return changes === null ? 'table' : changes.users === null ? 'all' : 'some';
}

const decodeTeam = decoderOf(tables.userTeams);

function textOf({
  user_id,
  valid_from,
  valid_to,
  person,
  team,
}: StoredRow<typeof tables.userTeams> | TeamPeriod) {
  return [user_id, valid_from, valid_to, person, team].join(' ');
}

/** Rollups whose marks are current equal a plain computation. Returns them. */
async function expectCurrentExact(warehouse: Held): Promise<ReadonlySet<string>> {
  const current = await currentRollups(warehouse, OPTIONS.orgId, FIRST, LAST);
  const [stored, expected] = [
    await storedRollups(warehouse.place),
    expectedRollups(await storedUserDays(warehouse.place)),
  ];
  if (current.has('weekly')) expect(stored.user_weekly).toEqual(expected.user_weekly);
  if (current.has('monthly')) expect(stored.user_monthly).toEqual(expected.user_monthly);
  if (current.has('monthly')) expect(stored.org_monthly).toEqual(expected.org_monthly);
  if (current.has('users')) expect(stored.users).toEqual(expected.users);
  return current;
}

onEachDatabase((database) => {
  it('rollups with current marks are exact after any sequence of commits, loads of people and kills', {
    tags: 'ci/again',
  }, async () => {
    const ways = new Set<string>();
    await fc.assert(
      fc.asyncProperty(fc.array(step, { minLength: 3, maxLength: 10 }), async (steps) => {
        const warehouse = await open(database);
        for (const taken of steps) {
          if (taken.kind === 'commit') {
            const rows = taken.users.map(({ id, email, credits }): UserOfDay => [id, email, credits]);
            await commitDay(warehouse, usersOn(taken.day, rows));
          } else if (taken.kind === 'people') {
            await warehouse.place.execute(
              `DELETE FROM people; INSERT INTO people (org_id, person, valid_from, team) VALUES ('org_1', '${taken.person}', '2026-01-14', '${taken.team}'), ('org_1', 'a@example.com', '2026-01-20', 'Green')`,
            );
          } else {
            await refreshRollups(killed(warehouse, taken.killedAt), OPTIONS).catch(() => undefined);
          }
          await expectCurrentExact(warehouse);
          ways.add(await expectTeamsExact(warehouse));
        }
        await refreshRollups(warehouse, OPTIONS);
        expect([...(await expectCurrentExact(warehouse))]).toEqual(['weekly', 'monthly', 'users']);
        expect(await expectTeamsExact(warehouse)).toBe('table');
        const wrong = await warehouse.place.query(`
          SELECT u.user_id FROM users u LEFT JOIN user_teams t ON t.user_id = u.user_id
            AND (SELECT MAX(last_active_on) FROM users) BETWEEN t.valid_from AND t.valid_to
          WHERE u.team IS DISTINCT FROM t.team`);
        expect(wrong).toEqual([]);
      }),
      { numRuns: database.name === 'SQLite' ? 30 : 5 },
    );
    if (database.name === 'SQLite') expect([...ways].toSorted()).toEqual(['all', 'some', 'table']);
  });
});
