import { describe, expect, test } from 'vitest';
import { parseDay } from '../../../src/core/day.ts';
import { expectExactCopy } from '../../support/rig/exact-copy.ts';
import { testVariants } from '../../support/suite/variants.ts';
import { afterNights, lie, nights, nightsOf, unitOf } from '../../support/trust/run-nights.ts';
import { onEachDatabase } from '../../support/warehouse/each-database.ts';
import { sqlite } from '../../support/warehouse/sqlite-place.ts';

const NIGHT = parseDay('2026-02-20');

onEachDatabase((database) => {
  describe('L7: /users with fewer users than daily_active_users', () => {
    test('does not settle after one pull, and settles unconfirmed after seven nights', {
      tags: 'ci/rare',
    }, async () => {
      const rig = await nightsOf(database, { users: 40 });
      const day = parseDay('2026-02-10');
      lie(rig, { someUsers: { share: 0.6, days: [day], streams: ['users'] } });
      const ran = await nights(rig, '2026-02-11', '2026-02-16');
      expect(await unitOf(rig, 'users', day)).toMatchObject({ state: 'loaded', settled_at: null });
      const warned = ran.at(-1)?.events.filter((event) => event.type === 'warning') ?? [];
      expect(warned.some(({ message }) => message.includes(day))).toBe(true);
      await nights(rig, '2026-02-17', '2026-02-17');
      expect(await unitOf(rig, 'users', day)).toMatchObject({ state: 'loaded', confirmed: 'age' });
    });
  });

  describe('L1: an answer about other days than requested', () => {
    test('fails its unit, also for one day, and no stored row changes', async () => {
      const rig = await afterNights(database, ['2026-02-18', '2026-02-20']);
      const before = await rig.digest();
      lie(rig, { otherRange: { streams: ['tools', 'users'] } });
      const day = parseDay('2026-02-10');
      const { report } = await rig.run({
        command: 'backfill',
        from: day,
        until: day,
        force: true,
        now: NIGHT,
      });
      expect(report).toMatchObject({ exitCode: 4, unitsFailed: 2, rowsWritten: 0 });
      expect(await rig.digest()).toBe(before);
      expect(await rig.value("SELECT last_error FROM export_units WHERE state = 'failed'")).toContain(day);
    });
  });
});

/** What the database has no part in. */
describe('on SQLite', () => {
  describe('L4: a range answer that leaves out requested data', () => {
    testVariants(['middle', 'users', 'user-days', 'all'] as const)(
      'drops %s: what is missing is requested alone, and nothing is lost',
      { tags: 'ci/rare' },
      async (drop) => {
        const rig = await nightsOf(sqlite, { users: 40 });
        lie(rig, { ranges: { drop } });
        const { report } = await rig.run({ now: NIGHT });
        expect(report.unitsLeftOut).toBe(0);
        // Nothing was published before.
        expect(report.restatements).toBe(0);
        expect(await rig.value('SELECT count(*) FROM restatements')).toBe(0);
        await expectExactCopy(rig, NIGHT);
      },
    );

    testVariants(['middle', 'users', 'all'] as const)(
      'drops %s: with --force stored rows stay unchanged',
      { tags: 'ci/rare' },
      async (drop) => {
        const rig = await nightsOf(sqlite, { users: 40 });
        await rig.run({ now: NIGHT });
        const before = await rig.digest();
        lie(rig, { ranges: { drop } });
        await rig.run({ command: 'backfill', from: parseDay('2026-01-14'), force: true, now: NIGHT });
        expect(await rig.digest()).toBe(before);
      },
    );

    test('drops days forever: no settled day is reopened', { tags: 'ci/variant' }, async () => {
      const rig = await nightsOf(sqlite);
      await rig.run({ now: NIGHT });
      const before = await rig.value('SELECT count(*) FROM restatements');
      lie(rig, { ranges: { drop: 'middle' } });
      await nights(rig, '2026-02-21', '2026-02-25');
      expect(await rig.value('SELECT count(*) FROM restatements')).toBe(before);
      await expectExactCopy(rig, parseDay('2026-02-25'));
    });
  });

  describe('L7: /users with fewer users than daily_active_users', () => {
    test('is corrected as soon as the missing users appear', { tags: 'ci/rare' }, async () => {
      const rig = await nightsOf(sqlite, { users: 40 });
      lie(rig, { someUsers: { share: 0.6, days: [parseDay('2026-02-10')], streams: ['users'] } });
      await nights(rig, '2026-02-12', '2026-02-15');
      lie(rig);
      await nights(rig, '2026-02-16', '2026-02-16');
      await expectExactCopy(rig, parseDay('2026-02-16'));
      await nights(rig, '2026-02-17', '2026-02-18');
      expect(await unitOf(rig, 'users', '2026-02-10')).toMatchObject({ confirmed: 'data' });
    });
  });

  describe('a range whose request fails', () => {
    test('is no refused range: later nights cost what they did before', { tags: 'ci/rare' }, async () => {
      const rig = await afterNights(sqlite, ['2026-02-18', '2026-02-20']);
      const ordinary = (await nights(rig, '2026-02-21', '2026-02-21'))[0]?.report.requests ?? 0;
      // The first request of users compares the stored ones, in a range.
      const first = { stream: 'users' } as const;
      rig.emulator.setRules([{ match: first, when: { count: 3 }, action: { type: 'status', status: 503 } }]);
      await nights(rig, '2026-02-22', '2026-02-22');
      rig.emulator.setRules([]);
      const [night] = await nights(rig, '2026-02-23', '2026-02-23');
      expect(night?.report.exitCode).toBe(0);
      expect(night?.report.requests).toBeLessThanOrEqual(ordinary + 5);
      const ranges = await rig.value("SELECT value FROM export_state WHERE name = 'ranges'");
      expect(JSON.parse(ranges ?? '')).toMatchObject({ refusedOn: null });
    });

    test('because one of its days is refused, is not too long for the next month', async () => {
      const rig = await afterNights(sqlite, ['2026-02-18', '2026-02-20']);
      const match = { stream: 'tools', day: parseDay('2026-02-21') } as const;
      rig.emulator.setRules([{ match, action: { type: 'status', status: 400 } }]);
      const [night] = await nights(rig, '2026-02-22', '2026-02-22');
      expect(night?.report).toMatchObject({ exitCode: 4, unitsFailed: 1 });
      const ranges = await rig.value("SELECT value FROM export_state WHERE name = 'ranges'");
      expect(JSON.parse(ranges ?? '')).toMatchObject({ refusedOn: null });
    });
  });
});
