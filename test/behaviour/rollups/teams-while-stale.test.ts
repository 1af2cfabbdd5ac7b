import { expect, it } from 'vitest';
import { parseDay } from '../../../src/core/day.ts';
import { answerMetric, metricSql } from '../../../src/metrics/answer-metric.ts';
import { refreshRollups } from '../../../src/rollups/refresh.ts';
import { expectTeamsExact, killed } from '../../support/rollups/exact-teams.ts';
import { type UserOfDay, usersOn } from '../../support/rollups/user-days.ts';
import { commitDay } from '../../support/warehouse/commit-of.ts';
import { type Held, onEachDatabase, open } from '../../support/warehouse/each-database.ts';

const ORG = 'org_1';
const NOW = new Date('2026-03-20T03:00:00Z');
const [A, B] = ['a@example.com', 'b@example.com'];

const refresh = (warehouse: Held) => refreshRollups(warehouse, { orgId: ORG, now: NOW });

const commit = (warehouse: Held, day: string, users: readonly UserOfDay[]) =>
  commitDay(warehouse, usersOn(parseDay(day), users));

/** Two days with current rollups: u1 in the team Red by its first address, u2 in none. */
async function settledWarehouse(database: Parameters<typeof open>[0]): Promise<Held> {
  const warehouse = await open(database);
  await commit(warehouse, '2026-02-02', [
    ['u1', A, 1],
    ['u2', null, 1],
  ]);
  await commit(warehouse, '2026-02-03', [
    ['u1', A, 1],
    ['u2', null, 1],
  ]);
  await warehouse.place.execute(
    `INSERT INTO people (org_id, person, valid_from, team) VALUES
      ('${ORG}', '${A}', '2026-01-14', 'Red'), ('${ORG}', '${B}', '2026-01-14', 'Blue')`,
  );
  await refresh(warehouse);
  return warehouse;
}

async function teamsOf(warehouse: Held): Promise<unknown> {
  const { rows } = await answerMetric(warehouse, { metric: 'active_users', orgId: ORG, by: ['team'] });
  return Object.fromEntries(rows.map(({ team, value }) => [team ?? 'none', value]));
}

/** What happens to the warehouse, the teams after it, and whom a question by team resolves again. */
const CASES: Readonly<
  Record<string, { act(warehouse: Held): Promise<unknown>; teams: unknown; from: string }>
> = {
  'a day of known users': {
    act: (warehouse) => commit(warehouse, '2026-02-04', [['u1', A, 1]]),
    teams: { Red: 1, none: 1 },
    from: 'the table',
  },
  'a user without an address who was known': {
    act: (warehouse) => commit(warehouse, '2026-02-04', [['u2', null, 1]]),
    teams: { Red: 1, none: 1 },
    from: 'the table',
  },
  'a new user': {
    act: (warehouse) => commit(warehouse, '2026-02-04', [['u3', B, 1]]),
    teams: { Red: 1, Blue: 1, none: 1 },
    from: 'some users',
  },
  'a new address': {
    act: (warehouse) => commit(warehouse, '2026-02-04', [['u1', B, 1]]),
    teams: { Blue: 1, none: 1 },
    from: 'some users',
  },
  'a day that no longer has the latest address': {
    act: async (warehouse) => {
      await commit(warehouse, '2026-02-04', [['u1', B, 1]]);
      await refresh(warehouse);
      await commit(warehouse, '2026-02-04', [['u2', null, 1]]);
    },
    teams: { Red: 1, none: 1 },
    from: 'some users',
  },
  'a user whose only day is gone': {
    act: async (warehouse) => {
      await commit(warehouse, '2026-02-04', [['u3', B, 1]]);
      await refresh(warehouse);
      await commit(warehouse, '2026-02-04', [['u1', A, 1]]);
    },
    teams: { Red: 1, none: 1 },
    from: 'some users',
  },
  'a refresh that was killed between months and users': {
    act: async (warehouse) => {
      await commit(warehouse, '2026-02-04', [['u1', B, 1]]);
      await refresh(warehouse);
      await commit(warehouse, '2026-02-04', [['u2', null, 1]]);
      const dying = killed(warehouse, 4);
      await expect(refreshRollups(dying, { orgId: ORG, now: NOW })).rejects.toThrow('killed');
    },
    teams: { Red: 1, none: 1 },
    from: 'everybody',
  },
  'other people': {
    act: (warehouse) => warehouse.place.execute(`UPDATE people SET team = 'Green' WHERE team = 'Red'`),
    teams: { Green: 1, none: 1 },
    from: 'everybody',
  },
};

onEachDatabase((database) => {
  it('while a refresh is due, teams are exact, and only users whose addresses may have changed are resolved again', {
    tags: 'ci/rare',
  }, async () => {
    for (const [name, { act, teams, from }] of Object.entries(CASES)) {
      const warehouse = await settledWarehouse(database);
      expect(await teamsOf(warehouse), name).toEqual({ Red: 1, none: 1 });
      await act(warehouse);
      expect(await expectTeamsExact(warehouse, ORG), name).toBe(from);
      expect(await teamsOf(warehouse), name).toEqual(teams);
      await refresh(warehouse);
      expect(await teamsOf(warehouse), name).toEqual(teams);
    }
  });

  it('the SQL of such a question runs alone', async () => {
    const warehouse = await settledWarehouse(database);
    await commit(warehouse, '2026-02-04', [['u3', B, 1]]);
    const sql = await metricSql(warehouse, { metric: 'active_users', orgId: ORG, by: ['team'] });
    const rows = await warehouse.place.query<{ team: string | null; value: number }>(sql);
    expect(Object.fromEntries(rows.map(({ team, value }) => [team ?? 'none', Number(value)]))).toEqual({
      Blue: 1,
      Red: 1,
      none: 1,
    });
  });
});
