import { describe, expect, test } from 'vitest';
import { parseDay, shiftDay, type UtcDay } from '../../../src/core/day.ts';
import type { Settings } from '../../../src/settings/settings.ts';
import { daywalkInProcess } from '../../support/process/daywalk-in-process.ts';
import { createRig, type Rig } from '../../support/rig/rig.ts';
import { type Adversary, type SentRow, startAdversary } from '../../support/trust/adversary.ts';
import { type Database, onEachDatabase } from '../../support/warehouse/each-database.ts';

/** The first night, after 65 days of history. */
const FIRST = parseDay('2026-03-20');
/** A day that no run compares for itself. */
const OLD = parseDay('2026-01-20');
/** More than a page of them. */
const USERS = Array.from({ length: 130 }, (_, index) => `user-${String(index).padStart(3, '0')}`);
/** Of older days, one light stretch is compared each night. */
const FRUGAL = { watchRequests: 0 };

interface World {
  readonly rig: Rig;
  readonly service: Adversary;
  /** The exit code of a night; the first one is night 0. */
  night(number: number, settings?: Partial<Settings>): Promise<number>;
  /** The open states after a night, the most urgent first. */
  open(
    number: number,
  ): Promise<readonly { state: string; count: number; firstDay: string; lastDay: string }[]>;
}

/** A service whose history has settled in three nights. */
async function settledWorld(database: Database, users = USERS): Promise<World> {
  const rig = await createRig({ users: 1, reports: 0 }, { database });
  const service = await startAdversary(FIRST, users);
  const night = async (number: number, settings: Partial<Settings> = {}) => {
    const now = shiftDay(FIRST, number);
    service.lastDay = shiftDay(now, -1);
    const at = { baseUrl: service.url, appUrl: service.url };
    return (await rig.run({ now, settings: { ...at, ...settings } })).report.exitCode;
  };
  const open = async (number: number) => {
    const env = { DAYWALK_NOW: `${shiftDay(FIRST, number)}T09:00:00Z` };
    const { stdout } = await daywalkInProcess(['status', '--json', '--warehouse', rig.path], { env });
    return JSON.parse(stdout).organizations[0].open;
  };
  for (const number of [0, 1, 2]) expect(await night(number, FRUGAL)).toBe(0);
  return { rig, service, night, open };
}

/** Changes rows of users, and keeps every number of the organization. */
function aboutUsers(service: Adversary, change: (row: SentRow) => readonly SentRow[]): void {
  service.lie = { rows: (stream, rows) => (stream === 'users' ? rows.flatMap(change) : rows) };
}

const altered = (row: SentRow): SentRow => ({ ...row, messages: 11 });

async function alteredDays({ rig }: World): Promise<UtcDay[]> {
  return rig.column(
    'SELECT DISTINCT CAST(date AS TEXT) AS day FROM user_daily WHERE messages = 11 ORDER BY 1',
  );
}

onEachDatabase((database) => {
  describe('a service that answers differently about old days, and keeps all sums,', () => {
    test('for one of many users and one day: a page of users shows it, and it is stored after three looks', async () => {
      const world = await settledWorld(database);
      aboutUsers(world.service, (row) =>
        row['date'] === OLD && row['user_id'] === 'user-120' ? [altered(row)] : [row],
      );
      const seen: string[] = [];
      for (const number of [3, 4, 5, 6]) {
        expect(await world.night(number, FRUGAL)).toBe(0);
        seen.push((await world.open(number)).find(({ state }) => state === 'seen-otherwise')?.firstDay ?? '');
      }
      // The user is on the second page.
      expect(seen.slice(0, 3)).toEqual(['', OLD, OLD]);
      expect(await alteredDays(world)).toEqual([OLD]);
    });

    test('for all users of all days: they are named at once, and stored in the fourth night at the latest', async () => {
      const world = await settledWorld(database);
      aboutUsers(world.service, (row) => [altered(row)]);
      expect(await world.night(3, FRUGAL)).toBe(5);
      const [mass] = await world.open(3);
      expect(mass).toMatchObject({ state: 'mass', firstDay: '2026-01-14' });
      expect(mass?.count).toBeGreaterThan(60);
      expect(await world.night(4, FRUGAL)).toBe(5);
      expect(await alteredDays(world)).toHaveLength(4);
      await world.night(5, FRUGAL);
      expect(await world.night(6, FRUGAL)).toBe(0);
      expect(await alteredDays(world)).toHaveLength(71);
      expect(await world.open(6)).toEqual([]);
    });

    test('because a user was deleted from all days: that is only listed, and stored after three looks', {
      tags: 'ci/variant',
    }, async () => {
      const world = await settledWorld(database);
      aboutUsers(world.service, (row) => (row['user_id'] === 'user-120' ? [] : [row]));
      const daysOf = (id: string) =>
        world.rig.value<number>('SELECT COUNT(*) FROM user_daily WHERE user_id = ?', id).then(Number);
      for (let number = 3; number <= 12; number += 1) {
        expect(await world.night(number, FRUGAL)).toBe(0);
        expect((await world.open(number)).map(({ state }) => state)).not.toContain('mass');
        // In one of these nights every stretch is asked for the page that lacks the user.
        if (number === 8) expect(await daysOf('user-120')).toBe(0);
      }
      expect(await daysOf('user-119')).toBe(77);
      // The days have fewer users than daily_active_users, and settle by their age.
      expect(
        await world.rig.value("SELECT COUNT(*) FROM export_units WHERE confirmed = 'age'"),
      ).toBeGreaterThan(60);
    });

    test('for one night: all of it is named until three nights have found what is stored, which stays', {
      tags: 'ci/variant',
    }, async () => {
      const world = await settledWorld(database);
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
