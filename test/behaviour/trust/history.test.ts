import { describe, expect, test } from 'vitest';
import { FIRST_DAY, parseDay, shiftDay, type UtcDay } from '../../../src/core/day.ts';
import type { Adversary, SentRow } from '../../support/trust/adversary.ts';
import { type AdversaryWorld, FRUGAL, settledWorld } from '../../support/trust/settled-world.ts';
import { onDatabase } from '../../support/warehouse/each-database.ts';
import { sqlite } from '../../support/warehouse/sqlite-place.ts';

/** The first night, after 65 days of history. */
const FIRST = parseDay('2026-03-20');
/** A day that no run compares for itself. */
const OLD = parseDay('2026-01-20');
/** More than a page of them. */
const USERS = Array.from({ length: 130 }, (_, index) => `user-${String(index).padStart(3, '0')}`);
const IN_MARCH = { first: FIRST, users: USERS };

/** Changes rows of users, and keeps every number of the organization. */
function aboutUsers(service: Adversary, change: (row: SentRow) => readonly SentRow[]): void {
  service.lie = { rows: (stream, rows) => (stream === 'users' ? rows.flatMap(change) : rows) };
}

const altered = (row: SentRow): SentRow => ({ ...row, messages: 11 });

async function alteredDays({ rig }: AdversaryWorld): Promise<UtcDay[]> {
  return rig.column(
    'SELECT DISTINCT CAST(date AS TEXT) AS day FROM user_daily WHERE messages = 11 ORDER BY 1',
  );
}

onDatabase(sqlite, () => {
  describe('a service that answers differently about old days, and keeps all sums,', () => {
    test('for one of many users and one day: a page of users shows it, and it is stored after three looks', {
      tags: 'ci/variant',
    }, async () => {
      const world = await settledWorld(sqlite, IN_MARCH);
      aboutUsers(world.service, (row) =>
        row['date'] === OLD && row['user_id'] === 'user-120' ? [altered(row)] : [row],
      );
      const seen: string[] = [];
      for (const number of [3, 4, 5, 6]) {
        expect(await world.night(number, FRUGAL)).toBe(0);
        seen.push(
          (await world.status(number)).open.find(({ state }) => state === 'seen-otherwise')?.firstDay ?? '',
        );
      }
      // The user is on the second page.
      expect(seen.slice(0, 3)).toEqual(['', OLD, OLD]);
      expect(await alteredDays(world)).toEqual([OLD]);
    });

    test('because it lacks one of many users of all old days: the page on which the user was shows it', {
      tags: 'ci/variant',
    }, async () => {
      const world = await settledWorld(sqlite, IN_MARCH);
      // No row of the page names the user.
      aboutUsers(world.service, (row) =>
        String(row['date']) <= '2026-02-13' && row['user_id'] === 'user-120' ? [] : [row],
      );
      const open = [];
      for (const number of [3, 4]) {
        expect(await world.night(number, FRUGAL)).toBe(0);
        open.push((await world.status(number)).open.map(({ state, firstDay }) => [state, firstDay]));
      }
      expect(open).toEqual([[], [['seen-otherwise', FIRST_DAY]]]);
    });

    test('and refuses the cursor of an earlier night: the first page is compared in its place', {
      tags: 'ci/variant',
    }, async () => {
      const world = await settledWorld(sqlite, IN_MARCH);
      expect(await world.night(3, FRUGAL)).toBe(0);
      aboutUsers(world.service, (row) =>
        row['date'] === OLD && row['user_id'] === 'user-020' ? [altered(row)] : [row],
      );
      let refused = 0;
      const refuses = (query: URLSearchParams) => {
        const isFirst = refused === 0 && query.has('cursor') && String(query.get('startDate')) < OLD;
        refused += Number(isFirst);
        return isFirst;
      };
      world.service.lie = { ...world.service.lie, refuses };
      expect(await world.night(4, FRUGAL)).toBe(0);
      expect(refused).toBe(1);
      expect((await world.status(4)).open).toMatchObject([{ state: 'seen-otherwise', firstDay: OLD }]);
    });

    test('for all users of all days: they are named at once, and stored in the fourth night at the latest', {
      tags: 'ci/rare',
    }, async () => {
      const world = await settledWorld(sqlite, { ...IN_MARCH, users: USERS.slice(0, 20) });
      aboutUsers(world.service, (row) => [altered(row)]);
      expect(await world.night(3, FRUGAL)).toBe(5);
      const { open, highest } = await world.status(3);
      const [mass, ...others] = open;
      expect(highest).toBe('mass');
      expect(others.map(({ state }) => state)).toContain('seen-otherwise');
      expect(mass).toMatchObject({ state: 'mass', firstDay: '2026-01-14' });
      expect(mass?.count).toBeGreaterThan(60);
      expect(await world.night(4, FRUGAL)).toBe(5);
      expect(await alteredDays(world)).toHaveLength(4);
      await world.night(5, FRUGAL);
      expect(await world.night(6, FRUGAL)).toBe(0);
      expect(await alteredDays(world)).toHaveLength(71);
      expect((await world.status(6)).open).toEqual([]);
    });

    test('for every other day: the next night compares all of them in long ranges', {
      tags: 'ci/rare',
    }, async () => {
      const world = await settledWorld(sqlite, { ...IN_MARCH, users: USERS.slice(0, 20) });
      aboutUsers(world.service, (row) => [
        Number(String(row['date']).slice(-1)) % 2 === 0 ? altered(row) : row,
      ]);
      let requests = 0;
      const refuses = () => {
        requests += 1;
        return false;
      };
      world.service.lie = { ...world.service.lie, refuses };
      const counts: number[] = [];
      for (const number of [3, 4]) {
        requests = 0;
        expect(await world.night(number, FRUGAL)).toBe(5);
        counts.push(requests);
      }
      // The second night compares the days that differ, and the others beside them.
      expect(counts[1]).toBeLessThan(30);
    });

    test('because a user was deleted from all days: that is only listed, and stored after seven days', {
      tags: 'ci/variant',
    }, async () => {
      const world = await settledWorld(sqlite, IN_MARCH);
      aboutUsers(world.service, (row) => (row['user_id'] === 'user-120' ? [] : [row]));
      const daysOf = (id: string) =>
        world.rig.value<number>('SELECT COUNT(*) FROM user_daily WHERE user_id = ?', id).then(Number);
      for (let number = 3; number <= 12; number += 1) {
        expect(await world.night(number, FRUGAL)).toBe(0);
        const states = (await world.status(number)).open.map(({ state }) => state);
        expect(states).not.toContain('mass');
        if (number === 8) expect(states).toContain('figures-disagree');
      }
      // Within four nights every stretch was asked for the page that lacks the user.
      expect(await daysOf('user-120')).toBe(0);
      expect(await daysOf('user-119')).toBe(77);
      // The days have fewer users than daily_active_users, and settle by their age.
      expect(
        await world.rig.value("SELECT COUNT(*) FROM export_units WHERE confirmed = 'age'"),
      ).toBeGreaterThan(60);
    });

    test('because a user was deleted from a day that has not settled and from old ones: the page that lacks the user is next', {
      tags: 'ci/variant',
    }, async () => {
      const users = Array.from({ length: 330 }, (_, index) => `user-${String(index).padStart(3, '0')}`);
      const world = await settledWorld(sqlite, { first: FIRST, users });
      const young = shiftDay(FIRST, 1);
      const isGone = (row: SentRow) => {
        const date = String(row['date']);
        return row['user_id'] === 'user-310' && (date === young || date <= OLD);
      };
      aboutUsers(world.service, (row) => (isGone(row) ? [] : [row]));
      const oldest: unknown[] = [];
      for (const number of [3, 4]) {
        expect(await world.night(number, FRUGAL)).toBe(0);
        oldest.push(
          (await world.status(number)).open.find(({ state }) => state === 'seen-otherwise')?.firstDay,
        );
      }
      // Page 4 of each stretch would have its turn two nights later.
      expect(oldest).toEqual([undefined, FIRST_DAY]);
    });

    test('for one night: all of it is named until three nights have found what is stored, which stays', {
      tags: 'ci/variant',
    }, async () => {
      const world = await settledWorld(sqlite, IN_MARCH);
      aboutUsers(world.service, (row) => [altered(row)]);
      expect(await world.night(3, FRUGAL)).toBe(5);
      world.service.lie = {};
      const exits = [];
      for (const number of [4, 5, 6, 7]) exits.push(await world.night(number, FRUGAL));
      expect(exits).toEqual([5, 5, 0, 0]);
      expect(await alteredDays(world)).toEqual([]);
    });
  });
});
