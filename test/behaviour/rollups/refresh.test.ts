import { describe, expect, it } from 'vitest';
import { sql } from '../../../schema/query.ts';
import { parseDay, shiftDay } from '../../../src/core/day.ts';
import type { Warehouse } from '../../../src/port/warehouse.ts';
import { readableRollups } from '../../../src/rollups/current.ts';
import { refreshRollups } from '../../../src/rollups/refresh.ts';
import { expectedRollups, storedRollups, storedUserDays } from '../../support/rollups/expected.ts';
import { type UserOfDay, usersOn } from '../../support/rollups/user-days.ts';
import { commitDay } from '../../support/warehouse/commit-of.ts';
import { type Held, needsSessions, onEachDatabase, open } from '../../support/warehouse/each-database.ts';

const NOW = new Date('2026-03-20T03:00:00Z');
const DAY = parseDay('2026-01-30');
const ALL = ['weekly', 'monthly', 'users'];
const refresh = (warehouse: Warehouse) => refreshRollups(warehouse, { orgId: 'org_1', now: NOW });
const current = async (warehouse: Warehouse) => {
  const range = [parseDay('2026-01-14'), parseDay('2026-12-31')] as const;
  const { users, stale } = await readableRollups(warehouse, 'org_1', ...range);
  const isCurrent = { weekly: stale.weekly.length === 0, monthly: stale.monthly.length === 0, users };
  return Object.entries(isCurrent).flatMap(([name, is]) => (is ? [name] : []));
};

async function expectExact({ place }: Held): Promise<void> {
  expect(await storedRollups(place)).toEqual(expectedRollups(await storedUserDays(place)));
}

onEachDatabase((database) => {
  describe('rollups', () => {
    it('take the latest email that is known, count new users once, and leave sums of nothing NULL', async () => {
      const warehouse = await open(database);
      await warehouse.commitDays([
        usersOn(DAY, [['u1', 'old@example.com', 5]]),
        usersOn(shiftDay(DAY, 3), [
          ['u1', 'new@example.com', 2],
          ['u2', null, 3],
        ]),
        usersOn(shiftDay(DAY, 4), [['u1', null, 1]]),
      ]);
      await refresh(warehouse);
      await expectExact(warehouse);
      expect(
        await warehouse.place.query('SELECT user_id, user_email, files_edited FROM users ORDER BY 1'),
      ).toEqual([
        { user_id: 'u1', user_email: 'new@example.com', files_edited: null },
        { user_id: 'u2', user_email: null, files_edited: null },
      ]);
    });

    it('are computed again only where the ledger differs, and an earlier day makes a user no longer new', async () => {
      const warehouse = await open(database);
      await commitDay(warehouse, usersOn(parseDay('2026-03-02'), [['u1', null, 5]]));
      expect(await refresh(warehouse)).toEqual({ weeks: 1, months: 1, users: true, teamDays: 1 });
      expect(await refresh(warehouse)).toEqual({ weeks: 0, months: 0, users: false, teamDays: 0 });
      expect(await current(warehouse)).toEqual(ALL);
      await commitDay(warehouse, usersOn(DAY, [['u1', null, 5]]));
      expect(await current(warehouse)).toEqual([]);
      expect(await refresh(warehouse)).toEqual({ weeks: 1, months: 1, users: true, teamDays: 1 });
      await expectExact(warehouse);
      const months = await warehouse.place.query('SELECT month, new_users FROM org_monthly ORDER BY month');
      expect(months).toEqual([
        { month: '2026-01', new_users: 1 },
        { month: '2026-03', new_users: 0 },
      ]);
    });

    it('lose what a restatement removes, and a unit that is gone', async () => {
      const warehouse = await open(database);
      await warehouse.commitDays([
        usersOn(DAY, [
          ['u1', null, 5],
          ['u2', null, 1],
        ]),
        usersOn(shiftDay(DAY, 7), [['u3', null, 2]]),
      ]);
      await refresh(warehouse);
      await commitDay(warehouse, usersOn(DAY, [['u1', null, 6]]));
      await warehouse.place.execute(`DELETE FROM user_daily WHERE date = '${shiftDay(DAY, 7)}'`);
      await warehouse.place.execute(`DELETE FROM export_units WHERE date = '${shiftDay(DAY, 7)}'`);
      await refresh(warehouse);
      await expectExact(warehouse);
      expect(await current(warehouse)).toEqual(ALL);
    });

    it('follow the people: a load makes users stale until they are computed again', async () => {
      const warehouse = await open(database);
      await commitDay(warehouse, usersOn(DAY, [['u1', 'Ada@example.com', 5]]));
      await refresh(warehouse);
      const person =
        "INSERT INTO people (org_id, person, valid_from, team) VALUES ('org_1', 'ada@example.com', '2026-01-14', 'Platform')";
      await warehouse.place.execute(person);
      expect(await current(warehouse)).toEqual(['weekly', 'monthly']);
      await refresh(warehouse);
      expect(await current(warehouse)).toEqual(ALL);
      expect(await warehouse.place.query('SELECT user_id, team FROM users')).toEqual([
        { user_id: 'u1', team: 'Platform' },
      ]);
      await warehouse.place.execute('DELETE FROM people');
      await refresh(warehouse);
      expect(await warehouse.place.query('SELECT team FROM users')).toEqual([{ team: null }]);
      expect(await warehouse.place.query('SELECT * FROM user_teams')).toEqual([]);
    });

    it('fill a calendar without gaps, two years ahead', async () => {
      const warehouse = await open(database);
      await refresh(warehouse);
      await warehouse.place.execute("DELETE FROM dates WHERE date = '2026-12-31'");
      await refresh(warehouse);
      const [row] = await warehouse.select(sql`SELECT COUNT(*) AS days, MAX(date) AS last_day FROM dates`);
      expect(row).toEqual({ days: 797, last_day: '2028-03-20' });
      const [eve] = await warehouse.place.query("SELECT * FROM dates WHERE date = '2027-01-01'");
      expect(eve).toMatchObject({
        ...{ iso_year: 2026, iso_week: 53, week_start: '2026-12-28' },
        ...{ month: '2027-01', quarter: '2027-Q1', weekday: 5, is_weekend: 0 },
      });
    });
  });

  it('rollups stay exact while other processes commit and refresh', async () => {
    needsSessions(database);
    const first = await open(database);
    const second = await open(first.place);
    const users = (seed: number): UserOfDay[] => [
      ['u1', null, seed],
      [`u${seed % 5}x`, `a${seed}@example.com`, seed + 1],
    ];
    const work = async (warehouse: Warehouse, since: number) => {
      for (let at = since; at < 40; at += 2) {
        await commitDay(warehouse, usersOn(shiftDay(DAY, at % 30), users(at)));
        if (at % 3 === 0) await refresh(warehouse);
      }
      await refresh(warehouse);
    };
    await Promise.all([work(first, 0), work(second, 1)]);
    expect(await current(first)).toEqual(ALL);
    await expectExact(first);
  });
});
