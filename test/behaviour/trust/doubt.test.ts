import { describe, expect, test } from 'vitest';
import { systemClock } from '../../../src/core/clock.ts';
import { parseDay } from '../../../src/core/day.ts';
import type { Lies } from '../../../src/emulator/quirks.ts';
import { hurriedClock } from '../../support/clock/hurried-clock.ts';
import { expectExactCopy } from '../../support/rig/exact-copy.ts';
import { testVariants } from '../../support/suite/variants.ts';
import { afterNights, lie, nights, nightsOf, unitOf } from '../../support/trust/run-nights.ts';
import { onEachDatabase } from '../../support/warehouse/each-database.ts';
import { sqlite } from '../../support/warehouse/sqlite-place.ts';

const YOUNG = parseDay('2026-02-19');
const NIGHT = parseDay('2026-02-20');

/** Answers without the stored rows of the recent day. */
const LOSSES: readonly (readonly [what: string, lies: Lies, stream: string])[] = [
  ['empty lists', { lateDays: [YOUNG] }, 'tools'],
  ['rows of zeros', { zeroDays: [YOUNG] }, 'productivity'],
  ['a third of the users', { someUsers: { share: 0.33, streams: ['users'] } }, 'users'],
  ['the state of an earlier morning', { rolledBackTo: YOUNG }, 'tokens'],
];

onEachDatabase((database) => {
  describe('L5: an answer without stored rows', () => {
    testVariants(LOSSES)(
      '%s: is doubted, the stored rows stay, and every run exits with 5',
      { tags: 'ci/rare' },
      async (_, lies, stream) => {
        const rig = await afterNights(database, ['2026-02-18', '2026-02-20'], { users: 40 });
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
        // Many settled days lacked users, too, which is named until three nights have found what is stored.
        const exitCode = stream === 'users' ? 5 : 0;
        expect(report).toMatchObject({ exitCode, unitsDoubted: 0, restatements: 0, rowsWritten: 0 });
        expect(await unitOf(rig, stream, YOUNG)).toMatchObject({
          state: 'loaded',
          doubted_at: null,
          doubt: null,
        });
        await expectExactCopy(rig, NIGHT);
      },
    );

    test('is accepted after 60 hours and three nights with the same loss, with a restatement', {
      tags: 'ci/rare',
    }, async () => {
      const rig = await afterNights(database, ['2026-02-18', '2026-02-20']);
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
  });

  describe('L5: a readiness list without stored reports', () => {
    test('is doubted: no report is deleted, and new ones are stored', { tags: 'ci/rare' }, async () => {
      const rig = await afterNights(database, ['2026-02-20', '2026-02-20'], { reports: 25 });
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

    test('is doubted until accepted, even if as many other reports replace them', {
      tags: 'ci/rare',
    }, async () => {
      const rig = await nightsOf(database, { reports: 12 });
      await rig.run({ now: NIGHT });
      const stored = await rig.column('SELECT report_id FROM readiness_reports ORDER BY 1');
      rig.emulator.revise({ kind: 'add-reports', count: 40 });
      for (const reportId of stored) rig.emulator.revise({ kind: 'delete-report', reportId });
      const force = { command: 'backfill', from: YOUNG, until: YOUNG, force: true, now: NIGHT } as const;
      for (let night = 0; night < 3; night += 1) {
        expect((await rig.run(force)).report).toMatchObject({ exitCode: 5, unitsDoubted: 1 });
        expect(await rig.column('SELECT report_id FROM readiness_reports')).toEqual(
          expect.arrayContaining(stored),
        );
      }
      expect((await rig.run({ ...force, acceptLoss: true })).report).toMatchObject({ exitCode: 0 });
      expect(await rig.value('SELECT COUNT(*) FROM readiness_reports')).toBe(40);
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

/** What the database has no part in. */
describe('on SQLite', () => {
  describe('L5: an answer without stored rows', () => {
    test('backfill --force alone accepts no loss', { tags: 'ci/rare' }, async () => {
      const rig = await afterNights(sqlite, ['2026-02-18', '2026-02-20']);
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

    test('users are compared with the activity of this run, even if that arrives later and is not stored', {
      tags: 'ci/rare',
    }, async () => {
      const rig = await nightsOf(sqlite, { users: 40 });
      const settings = { rangeDays: 1 };
      // Stored without activity: how many users were active is not known.
      lie(rig, { lateDays: { activity: [YOUNG] } });
      await rig.run({ from: YOUNG, until: YOUNG, now: NIGHT, settings });
      const users = await rig.column('SELECT user_id FROM user_daily ORDER BY 1');
      lie(rig, { someUsers: { share: 0.5, streams: ['users'] } });
      for (const slow of ['activity', 'users'] as const) {
        rig.emulator.setRules([{ match: { stream: slow }, action: { type: 'delay', ms: 150 } }]);
        const { report } = await rig.run({ from: YOUNG, until: YOUNG, now: NIGHT, settings, force: true });
        expect(report, slow).toMatchObject({ exitCode: 5, unitsDoubted: 1 });
        expect(await unitOf(rig, 'users', YOUNG), slow).toMatchObject({ state: 'doubted' });
      }
      expect(await rig.column('SELECT user_id FROM user_daily ORDER BY 1')).toEqual(users);
    });

    test('--accept-loss accepts only what was doubted before', { tags: 'ci/rare' }, async () => {
      const rig = await afterNights(sqlite, ['2026-02-18', '2026-02-20'], { users: 40 });
      lie(rig, { lateDays: { users: [YOUNG] } });
      const first = await rig.run({ now: NIGHT, acceptLoss: true });
      expect(first.report).toMatchObject({ exitCode: 5, unitsDoubted: 1 });
      lie(rig, { lateDays: { users: [YOUNG], tools: [YOUNG] } });
      const second = await rig.run({ now: NIGHT, acceptLoss: true });
      expect(second.report).toMatchObject({ exitCode: 5, unitsDoubted: 1 });
      expect(await unitOf(rig, 'users', YOUNG)).toMatchObject({ state: 'awaiting', rows: 0 });
      expect(await unitOf(rig, 'tools', YOUNG)).toMatchObject({ state: 'doubted' });
    });

    test('found first by a clock that was ahead is still accepted three nights later', {
      tags: 'ci/rare',
    }, async () => {
      const rig = await afterNights(sqlite, ['2026-02-18', '2026-02-20']);
      lie(rig, { lateDays: [YOUNG] });
      const clock = systemClock(new Date('2027-02-20T03:00:00Z'));
      expect((await rig.run({ now: NIGHT, clock, until: YOUNG })).report.exitCode).toBe(5);
      const ran = await nights(rig, '2026-02-21', '2026-02-24');
      expect(ran.map(({ report }) => report.exitCode)).toEqual([5, 5, 5, 0]);
    });

    test('with another loss in the next night restarts the waiting time', { tags: 'ci/again' }, async () => {
      const rig = await afterNights(sqlite, ['2026-02-18', '2026-02-20'], { users: 40 });
      lie(rig, { someUsers: { share: 0.5, streams: ['users'] } });
      await rig.run({ now: NIGHT });
      const since = (await unitOf(rig, 'users', YOUNG))?.['doubted_at'];
      lie(rig, { someUsers: { share: 0.2, streams: ['users'] } });
      await rig.run({ now: parseDay('2026-02-21') });
      expect((await unitOf(rig, 'users', YOUNG))?.['doubted_at']).not.toBe(since);
    });

    test('is not offset by rows of another day', { tags: 'ci/rare' }, async () => {
      const rig = await afterNights(sqlite, ['2026-02-18', '2026-02-20']);
      const before = await rig.digest();
      const value = '2026-02-01';
      rig.emulator.setRules([
        {
          id: 'foreign',
          match: { stream: 'users' },
          action: { type: 'patch', operations: [{ op: 'set', path: '/data/*/date', value }] },
        },
      ]);
      const force = { command: 'backfill', from: YOUNG, until: YOUNG, force: true, now: NIGHT } as const;
      expect((await rig.run(force)).report).toMatchObject({ exitCode: 5, unitsDoubted: 1 });
      expect(await rig.digest()).toBe(before);
    });

    test('of a user is no leaver while another has come whose record is in quarantine', {
      tags: 'ci/rare',
    }, async () => {
      const rig = await afterNights(sqlite, ['2026-02-18', '2026-02-20'], { users: 8 });
      const operations = [
        { op: 'set' as const, path: '/data/0/user_id', value: 'user_new' },
        { op: 'set' as const, path: '/data/0/tool_calls', value: -3 },
        // With a second one gone, fewer users are left than were active.
        { op: 'remove' as const, path: '/data/1' },
      ];
      const match = { stream: 'users', day: YOUNG } as const;
      rig.emulator.setRules([{ id: 'replaced', match, action: { type: 'patch', operations } }]);
      await rig.run({ now: NIGHT, settings: { rangeDays: 1 } });
      const doubt = String((await unitOf(rig, 'users', YOUNG))?.['doubt']);
      expect(JSON.parse(doubt)).toMatchObject({ rule: 'loss-of-users', rows: 2 });
    });

    test('keeps the exit code at 5 while the service is down', async () => {
      const rig = await afterNights(sqlite, ['2026-02-18', '2026-02-20']);
      lie(rig, { lateDays: [YOUNG] });
      await rig.run({ now: NIGHT });
      rig.emulator.setRules([{ id: 'down', action: { type: 'status', status: 500 } }]);
      const { report } = await rig.run({ now: NIGHT, clock: hurriedClock(`${NIGHT}T03:00:00Z`) });
      expect(report).toMatchObject({ exitCode: 5, orgId: null });
    });

    test('is doubted without interruption if a pull fails in between', { tags: 'ci/rare' }, async () => {
      const rig = await afterNights(sqlite, ['2026-02-18', '2026-02-20']);
      lie(rig, { lateDays: [YOUNG] });
      await rig.run({ now: NIGHT });
      const doubted = await unitOf(rig, 'tools', YOUNG);
      rig.emulator.setRules([
        { id: 'down', match: { stream: 'tools' }, action: { type: 'status', status: 500 } },
      ]);
      const { report } = await rig.run({ clock: hurriedClock('2026-02-21T03:00:00Z') });
      expect(report.exitCode).toBe(5);
      expect(await unitOf(rig, 'tools', YOUNG)).toEqual(doubted);
    });
  });
});
