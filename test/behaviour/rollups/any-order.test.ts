import fc from 'fast-check';
import { expect, it } from 'vitest';
import { daysFrom, parseDay, shiftDay } from '../../../src/core/day.ts';
import { readableRollups } from '../../../src/rollups/current.ts';
import { refreshRollups } from '../../../src/rollups/refresh.ts';
import { expectTeamsExact, killed } from '../../support/rollups/exact-teams.ts';
import {
  expectedRollups,
  expectLanguages,
  storedRollups,
  storedUserDays,
} from '../../support/rollups/expected.ts';
import { expectTeamDays } from '../../support/rollups/team-days.ts';
import { type UserOfDay, usersOn } from '../../support/rollups/user-days.ts';
import { commitDay, commitOf } from '../../support/warehouse/commit-of.ts';
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
    kind: fc.constant('tokens' as const),
    day: fc.integer({ min: 0, max: 12 }).map((days) => shiftDay(FIRST, days)),
    users: fc.uniqueArray(user, { minLength: 1, selector: ({ id }) => id }),
  }),
  fc.record({
    kind: fc.constant('people' as const),
    person: fc.constantFrom('A@example.com', 'b@example.com', 'u1'),
    team: fc.constantFrom('Red', 'Blue'),
  }),
  // A refresh that is killed before its nth transaction.
  fc.record({ kind: fc.constant('refresh' as const), killedAt: fc.integer({ min: 1, max: 8 }) }),
);

/** Weeks, months, users and days of teams that may be read equal a plain computation. Returns true if everything may be read. */
async function expectReadableExact(warehouse: Held): Promise<boolean> {
  const { users, stale } = await readableRollups(warehouse, OPTIONS.orgId, FIRST, LAST);
  const [stored, expected] = [
    await storedRollups(warehouse.place),
    expectedRollups(await storedUserDays(warehouse.place)),
  ];
  const [weeks, months] = [stale.weekly, stale.monthly].map((buckets) => buckets.map(({ name }) => name));
  const [found, wanted] = [stored, expected].map((rollups) => ({
    weekly: rollups.user_weekly.filter(({ week_start }) => !weeks?.includes(String(week_start))),
    monthly: rollups.user_monthly.filter(({ month }) => !months?.includes(String(month))),
  }));
  expect(found).toEqual(wanted);
  if (months?.length === 0) expect(stored.org_monthly).toEqual(expected.org_monthly);
  if (users) expect(stored.users).toEqual(expected.users);
  await expectLanguages(warehouse.place, new Set(months));
  const days = (buckets: typeof stale.teams) =>
    new Set(buckets.flatMap(({ firstDay, lastDay }) => daysFrom(firstDay, lastDay)));
  await expectTeamDays(warehouse.place, { teams: days(stale.teams), models: days(stale.models) });
  return users && Object.values(stale).every((buckets) => buckets.length === 0);
}

onEachDatabase((database) => {
  it('rollups with current marks are exact after any sequence of commits, loads of people and kills', {
    tags: 'ci/again',
  }, async () => {
    await fc.assert(
      fc.asyncProperty(fc.array(step, { minLength: 3, maxLength: 10 }), async (steps) => {
        const warehouse = await open(database);
        for (const taken of steps) {
          if (taken.kind === 'commit') {
            const rows = taken.users.map(({ id, email, credits }): UserOfDay => [id, email, credits]);
            await commitDay(warehouse, usersOn(taken.day, rows));
          } else if (taken.kind === 'tokens') {
            const rows = taken.users.flatMap(({ id, credits }) =>
              ['m-1', 'm-2'].map((model) => [id, model, 'standard', credits, null, 1, 2, 3, null]),
            );
            await commitDay(
              warehouse,
              commitOf({ stream: 'tokens', day: taken.day, rows: { tokens_daily_by_user_model: rows } }),
            );
          } else if (taken.kind === 'people') {
            await warehouse.place.execute(
              `DELETE FROM people; INSERT INTO people (org_id, person, valid_from, team) VALUES ('org_1', '${taken.person}', '2026-01-14', '${taken.team}'), ('org_1', 'a@example.com', '2026-01-20', 'Green')`,
            );
          } else {
            await refreshRollups(killed(warehouse, taken.killedAt), OPTIONS).catch(() => undefined);
          }
          await expectReadableExact(warehouse);
          await expectTeamsExact(warehouse, OPTIONS.orgId);
        }
        await refreshRollups(warehouse, OPTIONS);
        expect(await expectReadableExact(warehouse)).toBe(true);
        expect(await expectTeamsExact(warehouse, OPTIONS.orgId)).toBe('the table');
        const wrong = await warehouse.place.query(`
          SELECT u.user_id FROM users u LEFT JOIN user_teams t ON t.user_id = u.user_id
            AND (SELECT MAX(last_active_on) FROM users) BETWEEN t.valid_from AND t.valid_to
          WHERE u.team IS DISTINCT FROM t.team`);
        expect(wrong).toEqual([]);
      }),
      { numRuns: database.name === 'SQLite' ? 12 : 5 },
    );
  });
});
