import { describe, expect, test } from 'vitest';
import { parseDay } from '../../src/core/day.ts';
import type { Lies } from '../../src/emulator/lies/lies.ts';
import { onEachDatabase } from '../support/database.ts';
import { expectExactCopy } from '../support/exact-copy.ts';
import { lie, nights, nightsOf, unitOf } from './nights.ts';

const YOUNG = parseDay('2026-02-19');
const NIGHT = parseDay('2026-02-20');

/** Answers that take away what is stored of the young day. */
const LOSSES: readonly (readonly [what: string, lies: Lies, stream: string])[] = [
  ['empty lists', { lateDays: [YOUNG] }, 'tools'],
  ['rows of zeros', { zeroDays: [YOUNG] }, 'productivity'],
  ['a third of the users', { someUsers: { share: 0.33, streams: ['users'] } }, 'users'],
  ['the state of an earlier morning', { rolledBackTo: YOUNG }, 'tokens'],
];

onEachDatabase((database) => {
  describe('L5: an answer that takes away what is stored', () => {
    test.each(LOSSES)(
      '%s: is doubted, the stored rows stay, and every run exits with 5',
      async (_, lies, stream) => {
        const rig = await nightsOf(database, { users: 40 });
        await nights(rig, '2026-02-18', '2026-02-20');
        const before = await rig.digest();
        lie(rig, lies);
        const [again, next] = [await rig.run({ now: NIGHT }), await rig.run({ now: NIGHT })];
        expect(again.report).toMatchObject({ exitCode: 5 });
        expect(again.report.unitsDoubted).toBeGreaterThan(0);
        expect(next.report).toMatchObject({ exitCode: 5, rowsWritten: 0 });
        expect(await rig.digest()).toBe(before);
        expect(await unitOf(rig, stream, YOUNG)).toMatchObject({ state: 'doubted', settled_at: null });
        lie(rig);
        const { report } = await rig.run({ now: NIGHT });
        expect(report).toMatchObject({ exitCode: 0, unitsDoubted: 0, restatements: 0, rowsWritten: 0 });
        expect(await unitOf(rig, stream, YOUNG)).toMatchObject({
          state: 'loaded',
          doubted_at: null,
          doubt: null,
        });
        await expectExactCopy(rig, NIGHT);
      },
    );

    test('backfill --force alone accepts no loss', async () => {
      const rig = await nightsOf(database);
      await nights(rig, '2026-02-18', '2026-02-20');
      const before = await rig.digest();
      const day = parseDay('2026-02-10');
      lie(rig, { lateDays: [day] });
      const { report } = await rig.run({
        command: 'backfill',
        from: day,
        until: day,
        force: true,
        now: NIGHT,
      });
      expect(report).toMatchObject({ exitCode: 5, unitsDoubted: 5, rowsWritten: 0 });
      expect(await rig.digest()).toBe(before);
    });

    test('--accept-loss accepts what was doubted before, and no more than that', async () => {
      const rig = await nightsOf(database, { users: 40 });
      await nights(rig, '2026-02-18', '2026-02-20');
      lie(rig, { lateDays: { users: [YOUNG] } });
      const first = await rig.run({ now: NIGHT, acceptLoss: true });
      expect(first.report).toMatchObject({ exitCode: 5, unitsDoubted: 1 });
      lie(rig, { lateDays: { users: [YOUNG], tools: [YOUNG] } });
      const second = await rig.run({ now: NIGHT, acceptLoss: true });
      expect(second.report).toMatchObject({ exitCode: 5, unitsDoubted: 1 });
      expect(await unitOf(rig, 'users', YOUNG)).toMatchObject({ state: 'awaiting', rows: 0 });
      expect(await unitOf(rig, 'tools', YOUNG)).toMatchObject({ state: 'doubted' });
    });

    test('is accepted after 60 hours and three nights that found the same, with a restatement', async () => {
      const rig = await nightsOf(database);
      await nights(rig, '2026-02-18', '2026-02-20');
      lie(rig, { lateDays: [YOUNG] });
      const ran = await nights(rig, '2026-02-20', '2026-02-23');
      expect(ran.map(({ report }) => report.exitCode)).toEqual([5, 5, 5, 0]);
      expect(ran.at(-1)?.report.restatements).toBe(5);
      expect(await unitOf(rig, 'tokens', YOUNG)).toMatchObject({
        state: 'empty',
        rows: 0,
        confirmed: 'agreed',
      });
    });

    test('that takes away something else in the next night starts the clock again', async () => {
      const rig = await nightsOf(database, { users: 40 });
      await nights(rig, '2026-02-18', '2026-02-20');
      lie(rig, { someUsers: { share: 0.5, streams: ['users'] } });
      await rig.run({ now: NIGHT });
      const since = (await unitOf(rig, 'users', YOUNG))?.['doubted_at'];
      lie(rig, { someUsers: { share: 0.2, streams: ['users'] } });
      await rig.run({ now: parseDay('2026-02-21') });
      expect((await unitOf(rig, 'users', YOUNG))?.['doubted_at']).not.toBe(since);
    });

    test('a failure in between neither ends nor restarts the doubt', async () => {
      const rig = await nightsOf(database);
      await nights(rig, '2026-02-18', '2026-02-20');
      lie(rig, { lateDays: [YOUNG] });
      await rig.run({ now: NIGHT });
      const doubted = await unitOf(rig, 'tools', YOUNG);
      rig.emulator.setRules([
        { id: 'down', match: { stream: 'tools' }, action: { type: 'status', status: 500 } },
      ]);
      const { report } = await rig.run({ now: parseDay('2026-02-21') });
      expect(report.exitCode).toBe(5);
      expect(await unitOf(rig, 'tools', YOUNG)).toEqual(doubted);
    });
  });

  describe('L5: a readiness list without what is stored', () => {
    test('is doubted: no report is deleted, and new ones are stored', async () => {
      const rig = await nightsOf(database, { reports: 25 });
      await nights(rig, '2026-02-20', '2026-02-20');
      const before = await rig.value<number>('SELECT count(*) FROM readiness_reports');
      expect(before).toBeGreaterThan(0);
      lie(rig, { noReports: true });
      const ran = await nights(rig, '2026-02-21', '2026-02-28');
      const exits = ran.map(({ report }) => report.exitCode);
      // A head pass asks for new reports alone; the weekly walk over all finds that they are gone.
      expect(exits).toContain(5);
      const doubted = exits.indexOf(5);
      expect(exits.slice(doubted, doubted + 3)).toEqual([5, 5, 5]);
      const { report } = ran.at(doubted) ?? {};
      expect(report?.unitsDoubted).toBe(1);
    });

    test('is accepted with --accept-loss', async () => {
      const rig = await nightsOf(database, { reports: 25 });
      await rig.run({ now: NIGHT });
      lie(rig, { noReports: true });
      const force = { command: 'backfill', from: YOUNG, until: YOUNG, force: true, now: NIGHT } as const;
      expect((await rig.run(force)).report).toMatchObject({ exitCode: 5, unitsDoubted: 1 });
      expect(await rig.value('SELECT count(*) FROM readiness_reports')).toBeGreaterThan(0);
      expect((await rig.run({ now: NIGHT, acceptLoss: true })).report).toMatchObject({ exitCode: 0 });
      expect(await rig.value('SELECT count(*) FROM readiness_reports')).toBe(0);
    });
  });
});
