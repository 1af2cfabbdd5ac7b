import { describe, expect, test } from 'vitest';
import { readStatus } from '../../../jobs/status.ts';
import { daysFrom, parseDay } from '../../../src/core/day.ts';
import { expectExactCopy } from '../../support/rig/exact-copy.ts';
import { contextOf } from '../../support/rig/rig.ts';
import { afterNights, lie, nights, nightsOf, unitOf } from '../../support/trust/run-nights.ts';
import { onEachDatabase } from '../../support/warehouse/each-database.ts';
import { sqlite } from '../../support/warehouse/sqlite-place.ts';

const LATE = daysFrom(parseDay('2026-02-08'), parseDay('2026-02-12'));

onEachDatabase((database) => {
  describe('L2: a nightly batch that is late', () => {
    test('in all streams: the empty days settle, are noticed when they fill, and are stored after three nights', {
      tags: 'ci/rare',
    }, async () => {
      const rig = await nightsOf(database);
      lie(rig, { lateDays: LATE });
      await nights(rig, '2026-02-08', '2026-02-13');
      expect(await unitOf(rig, 'tokens', '2026-02-09')).toMatchObject({
        state: 'empty',
        confirmed: 'agreed',
      });
      lie(rig);
      const [noted, again, found] = await nights(rig, '2026-02-14', '2026-02-16');
      expect([noted, again].map((ran) => ran?.report.daysReopened)).toEqual([0, 0]);
      expect(found?.report).toMatchObject({ exitCode: 0, daysReopened: 3 });
      expect(await unitOf(rig, 'tokens', '2026-02-09')).toMatchObject({ state: 'loaded', confirmed: 'data' });
      expect(await rig.value("SELECT count(*) FROM restatements WHERE date = '2026-02-09'")).toBe(5);
      await expectExactCopy(rig, parseDay('2026-02-16'));
    });

    test('in one stream only: the day awaits that stream, and is shown as a hole', {
      tags: 'ci/variant',
    }, async () => {
      const rig = await nightsOf(database);
      lie(rig, { lateDays: { users: LATE } });
      await nights(rig, '2026-02-10', '2026-02-14');
      await nights(rig, '2026-02-24', '2026-02-25');
      expect(await unitOf(rig, 'users', '2026-02-09')).toMatchObject({ state: 'awaiting', settled_at: null });
      expect(await unitOf(rig, 'tokens', '2026-02-09')).toMatchObject({ state: 'loaded', confirmed: 'data' });
      const { organizations } = await readStatus(rig.settings, contextOf(parseDay('2026-02-25')));
      expect(organizations[0]?.holes).toContainEqual(
        expect.objectContaining({
          state: 'awaiting',
          firstDay: LATE[0],
          lastDay: LATE.at(-1),
          streams: ['users'],
        }),
      );
      lie(rig);
      const [{ report } = { report: null }] = await nights(rig, '2026-02-26', '2026-02-28');
      expect(report?.restatements).toBe(0);
      expect(await unitOf(rig, 'users', '2026-02-09')).toMatchObject({ state: 'loaded', confirmed: 'data' });
      await expectExactCopy(rig, parseDay('2026-02-28'));
    });
  });

  describe('L2: a settled day that is restated', () => {
    test('within 31 days is stored after three nights, and two wrong nights change nothing', {
      tags: 'ci/rare',
    }, async () => {
      const rig = await afterNights(database, ['2026-02-18', '2026-02-20']);
      const before = await rig.digest();
      rig.emulator.revise({ kind: 'restate', day: parseDay('2026-02-10') });
      const [noted, again, found, after] = await nights(rig, '2026-02-20', '2026-02-23');
      for (const ran of [noted, again])
        expect(ran?.report).toMatchObject({ exitCode: 0, daysReopened: 0, restatements: 0 });
      expect(await rig.digest()).not.toBe(before);
      expect(found?.report.daysReopened).toBeGreaterThan(0);
      expect(found?.report.restatements).toBeGreaterThanOrEqual(5);
      expect(after?.report.restatements).toBe(0);
      await expectExactCopy(rig, parseDay('2026-02-23'));
    });
  });
});

/** What the database has no part in. */
describe('on SQLite', () => {
  describe('L2: a nightly batch that is late', () => {
    test('out of order: no day that is empty before later ones is lost', { tags: 'ci/variant' }, async () => {
      const rig = await nightsOf(sqlite);
      lie(rig, { lateDays: LATE });
      await nights(rig, '2026-02-10', '2026-02-13');
      lie(rig, { lateDays: LATE.slice(0, 4) });
      await nights(rig, '2026-02-14', '2026-02-16');
      lie(rig);
      await nights(rig, '2026-02-17', '2026-02-19');
      await expectExactCopy(rig, parseDay('2026-02-19'));
    });

    test('in one stream forever: the day is never confirmed, and status keeps reporting it', {
      tags: 'ci/variant',
    }, async () => {
      const rig = await nightsOf(sqlite);
      lie(rig, { lateDays: { productivity: LATE } });
      await nights(rig, '2026-02-13', '2026-02-16');
      await nights(rig, '2026-03-14', '2026-03-16');
      expect(await unitOf(rig, 'productivity', '2026-02-12')).toMatchObject({
        state: 'empty',
        confirmed: 'age',
      });
      const { organizations } = await readStatus(rig.settings, contextOf(parseDay('2026-03-16')));
      expect(organizations[0]?.neverConfirmed).toEqual([
        expect.objectContaining({ firstDay: LATE[0], lastDay: LATE.at(-1), streams: ['productivity'] }),
      ]);
      const shown = await rig.column(
        "SELECT date FROM coverage WHERE stream = 'productivity' AND confirmed = 'age' ORDER BY date",
      );
      expect(shown).toEqual(LATE);
    });
  });

  describe('L2: a settled day that is restated', () => {
    test('is not reopened by two comparisons within twelve hours', async () => {
      const rig = await afterNights(sqlite, ['2026-02-18', '2026-02-20']);
      const before = await rig.digest();
      rig.emulator.revise({ kind: 'restate', day: parseDay('2026-02-10') });
      await rig.run({ now: parseDay('2026-02-20') });
      const { report } = await rig.run({ now: parseDay('2026-02-20') });
      expect(report).toMatchObject({ daysReopened: 0, rowsWritten: 0 });
      expect(await rig.digest()).toBe(before);
    });

    test('and restated back in the next night is not changed', { tags: 'ci/rare' }, async () => {
      const rig = await afterNights(sqlite, ['2026-02-18', '2026-02-20']);
      lie(rig, { zeroDays: [parseDay('2026-02-10')] });
      await rig.run({ now: parseDay('2026-02-21') });
      lie(rig);
      const ran = await nights(rig, '2026-02-22', '2026-02-24');
      expect(ran.map(({ report }) => report.daysReopened)).toEqual([0, 0, 0]);
      expect(await rig.value('SELECT count(*) FROM restatements')).toBe(0);
      await expectExactCopy(rig, parseDay('2026-02-24'));
    });

    test('longer ago is found within one round of the watch', { tags: 'ci/variant' }, async () => {
      const rig = await afterNights(sqlite, ['2026-03-18', '2026-03-20']);
      rig.emulator.revise({ kind: 'restate', day: parseDay('2026-01-20') });
      // 66 days are two older stretches of 31 at most.
      const ran = await nights(rig, '2026-03-21', '2026-03-25');
      expect(ran.some(({ report }) => report.restatements >= 5)).toBe(true);
      await expectExactCopy(rig, parseDay('2026-03-25'));
    });

    test('is not found if the watch is off', async () => {
      const rig = await afterNights(sqlite, ['2026-02-18', '2026-02-20']);
      rig.emulator.revise({ kind: 'restate', day: parseDay('2026-02-10') });
      const ran = await nights(rig, '2026-02-21', '2026-02-23', { settings: { watchDays: 0 } });
      expect(ran.map(({ report }) => report.restatements)).toEqual([0, 0, 0]);
    });
  });
});
