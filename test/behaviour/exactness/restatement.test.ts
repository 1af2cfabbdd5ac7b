import { describe, expect, test } from 'vitest';
import { parseDay, shiftDay } from '../../../src/core/day.ts';
import { expectExactCopy } from '../../support/rig/exact-copy.ts';
import { exportedRig } from '../../support/rig/exported-rig.ts';
import { createRig, type Rig } from '../../support/rig/rig.ts';
import { testVariants } from '../../support/suite/variants.ts';
import { onEachDatabase } from '../../support/warehouse/each-database.ts';

/** Early in the history: few days are enough. */
const today = parseDay('2026-01-24');
const yesterday = shiftDay(today, -1);
const small = { today, users: 15, reports: 5 };

async function restatements(rig: Rig) {
  const found = await rig.sql<{ stream: string; date: string; before: string; after: string }>(
    'SELECT stream, date, "before", "after" FROM restatements ORDER BY stream, detected_at, date',
  );
  return found.map((row) => ({ ...row, before: JSON.parse(row.before), after: JSON.parse(row.after) }));
}

onEachDatabase((database) => {
  describe('a day that the service changes after it was stored', () => {
    test('is replaced, and the change is recorded with its sums', async () => {
      const rig = await exportedRig(small, { database });
      const before = await rig.value<number>(
        'SELECT billable_tokens FROM tokens_daily WHERE date = ?',
        yesterday,
      );
      rig.emulator.revise({ kind: 'restate', day: yesterday });
      const { report } = await rig.run();
      const after = await rig.value<number>(
        'SELECT billable_tokens FROM tokens_daily WHERE date = ?',
        yesterday,
      );
      expect(after).not.toBe(before);
      expect(report).toMatchObject({ exitCode: 0, restatements: 5 });
      const found = await restatements(rig);
      expect(found.map(({ stream, date }) => `${stream} ${date}`)).toEqual(
        ['activity', 'productivity', 'tokens', 'tools', 'users'].map((stream) => `${stream} ${yesterday}`),
      );
      const tokens = found.find(({ stream }) => stream === 'tokens');
      expect(tokens?.before).toMatchObject({ billable_tokens: before });
      expect(tokens?.after).toMatchObject({ billable_tokens: after });
      expect(tokens?.after.breakdowns.tokens_daily_by_model.billable_tokens).toBe(after);
      // What must not be summed is not summed.
      expect(found.find(({ stream }) => stream === 'activity')?.after).not.toHaveProperty(
        'weekly_active_users',
      );
      await expectExactCopy(rig);
    });

    testVariants([
      { kind: 'vanish-users' },
      { kind: 'vanish-models' },
      { kind: 'vanish-languages' },
      { kind: 'add-users' },
    ] as const)('leaves no ghost rows ($kind)', async ({ kind }) => {
      const rig = await exportedRig(small, { database });
      const { names } = rig.emulator.revise({ kind, day: yesterday, count: 2 });
      expect(names.length).toBeGreaterThan(0);
      const { report } = await rig.run();
      expect(report.restatements).toBeGreaterThan(0);
      await expectExactCopy(rig);
    });

    test('and becomes empty leaves only the record of its former sums', { tags: 'ci/rare' }, async () => {
      const rig = await exportedRig(small, { database });
      const rows = await rig.value<number>(
        "SELECT rows FROM export_units WHERE stream = 'users' AND date = ?",
        yesterday,
      );
      expect(rows).toBeGreaterThan(0);
      rig.emulator.revise({ kind: 'empty', day: yesterday });
      const doubted = await rig.run();
      expect(doubted.report).toMatchObject({ exitCode: 5, states: { doubted: 5 }, restatements: 0 });
      const { report } = await rig.run({ acceptLoss: true });
      expect(report).toMatchObject({ exitCode: 0, states: { awaiting: 5 } });
      await expectExactCopy(rig);
      const users = (await restatements(rig)).find(({ stream }) => stream === 'users');
      expect(users?.before.rows).toBe(rows);
      expect(users?.after.rows).toBe(0);
    });

    test('and returns later is filled again', { tags: 'ci/rare' }, async () => {
      const rig = await exportedRig(small, { database });
      const digest = await rig.digest();
      rig.emulator.revise({ kind: 'empty', day: yesterday });
      await rig.run();
      await rig.run({ acceptLoss: true });
      expect(await rig.digest()).not.toBe(digest);
      rig.emulator.revise({ kind: 'revert' });
      await rig.run();
      expect(await rig.digest()).toBe(digest);
      expect(await restatements(rig)).toHaveLength(10);
    });

    test('and returns before the loss was confirmed stays unchanged', async () => {
      const rig = await exportedRig(small, { database });
      const digest = await rig.digest();
      rig.emulator.revise({ kind: 'empty', day: yesterday });
      expect((await rig.run()).report.exitCode).toBe(5);
      expect(await rig.digest()).toBe(digest);
      rig.emulator.revise({ kind: 'revert' });
      expect((await rig.run()).report.exitCode).toBe(0);
      expect(await rig.digest()).toBe(digest);
      expect(await restatements(rig)).toEqual([]);
    });

    test('long after it settled is found only with --force', { tags: 'ci/rare' }, async () => {
      // Users enough that the trailing counts of unsettled days stay.
      const rig = await createRig({ today, reports: 5 }, { database });
      await rig.run();
      const day = parseDay('2026-01-20');
      rig.emulator.revise({ kind: 'vanish-users', day, count: 3 });
      expect((await rig.run()).report.restatements).toBe(0);
      // The trailing counts of the days after it change with it.
      const { report } = await rig.run({ command: 'backfill', from: day, force: true });
      expect(report.restatements).toBeGreaterThan(0);
      expect((await restatements(rig)).every(({ date }) => date >= day)).toBe(true);
      await expectExactCopy(rig);
    });
  });

  describe('a day whose batch is late', () => {
    test('is awaited and requested again, and its arrival is no restatement', {
      tags: 'ci/rare',
    }, async () => {
      const rig = await createRig({ ...small, quirks: { lateBatch: true } }, { database });
      const first = await rig.run();
      expect(first.report.exitCode).toBe(0);
      expect(await rig.column('SELECT state FROM export_units WHERE date = ?', yesterday)).toEqual(
        Array(5).fill('awaiting'),
      );
      expect(await rig.column('SELECT COUNT(*) FROM user_daily WHERE date = ?', yesterday)).toEqual([0]);
      expect(await rig.column('SELECT COUNT(*) FROM tokens_daily WHERE date = ?', yesterday)).toEqual([0]);
      rig.emulator.setQuirks({ lateBatch: false });
      const second = await rig.run();
      expect(second.report.states).toEqual({ loaded: 11 });
      expect(second.report.restatements).toBe(0);
      await expectExactCopy(rig);
    });
  });

  describe('a day without activity', () => {
    testVariants([{ emptyDays: 'absent' }, { emptyDays: 'zeros' }] as const)(
      'is awaited while recent, and empty once settled ($emptyDays)',
      async ({ emptyDays }) => {
        const rig = await createRig(
          { ...small, quirks: { emptyDays, inactiveDays: [yesterday] } },
          { database },
        );
        await rig.run();
        const states = () => rig.column('SELECT DISTINCT state FROM export_units WHERE date = ?', yesterday);
        expect(await states()).toEqual(['awaiting']);
        const later = shiftDay(today, 2);
        for (const now of [shiftDay(today, 1), later]) {
          rig.emulator.setToday(now);
          expect(await states()).toEqual(['awaiting']);
          expect((await rig.run({ now })).report.exitCode).toBe(0);
        }
        expect(await states()).toEqual(['empty']);
        expect(
          await rig.column(
            'SELECT COUNT(*) FROM export_units WHERE date = ? AND settled_at IS NULL',
            yesterday,
          ),
        ).toEqual([0]);
        await expectExactCopy(rig, later);
      },
    );
  });

  describe('recent numbers that change from day to day', () => {
    test('are pulled until they have settled, and end equal to the service', {
      tags: 'ci/again',
    }, async () => {
      const rig = await createRig({ ...small, quirks: { provisionalDays: 2 } }, { database });
      for (let nights = 0; nights <= 4; nights += 1) {
        const now = shiftDay(today, nights);
        rig.emulator.setToday(now);
        const { report } = await rig.run({ now });
        expect(report.exitCode).toBe(0);
        await expectExactCopy(rig, now);
      }
      expect((await restatements(rig)).length).toBeGreaterThan(10);
    });
  });
});
