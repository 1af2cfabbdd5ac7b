// @module-tag campaign/faults

import { describe, expect, test } from 'vitest';
import { parseDay, shiftDay } from '../../../src/core/day.ts';
import { hurriedClock } from '../../support/clock/hurried-clock.ts';
import { expectUndisturbed, smallRig, statesOf, UNTIL, walk } from '../../support/faults/three-day-walk.ts';
import { daywalkInProcess } from '../../support/process/daywalk-in-process.ts';
import { daywalk, envOf } from '../../support/process/daywalk-process.ts';
import { daysAsked, requestsOf } from '../../support/rig/journal.ts';
import { type Ran, TODAY } from '../../support/rig/rig.ts';
import { testVariants } from '../../support/suite/variants.ts';
import { onEachDatabase } from '../../support/warehouse/each-database.ts';
import { sqlite } from '../../support/warehouse/sqlite-place.ts';

const TOMORROW = shiftDay(UNTIL, 1);

onEachDatabase((database) => {
  test('C1: a run that passes midnight keeps the day on which it began', async () => {
    const rig = await smallRig(database, { today: shiftDay(TOMORROW, 1) });
    let instant = Date.parse(`${TOMORROW}T23:59:59Z`);
    let crossed = 0;
    const clock = { ...hurriedClock(TOMORROW), now: () => new Date(instant) };
    const { report } = await rig.run({
      clock,
      settings: { rangeDays: 1 },
      onEvent: ({ type }) => {
        if (type !== 'unit-done') return;
        // Midnight passes with the first unit that is stored.
        instant = Date.parse(`${shiftDay(TOMORROW, 1)}T00:00:05Z`);
        crossed += 1;
      },
    });
    expect(crossed).toBeGreaterThan(10);
    expect(report).toMatchObject({ exitCode: 0, lastDay: UNTIL, unitsPlanned: 16, unitsDone: 16 });
    expect(daysAsked(rig).at(-1)).toBe(UNTIL);
    await expectUndisturbed(rig, { today: rig.today });
  });

  test('C3: with a clock one day ahead the day is awaited, and a warning names it', async () => {
    const rig = await smallRig(database, { today: TOMORROW });
    const { report, events } = await rig.run({ now: shiftDay(TOMORROW, 1), settings: { rangeDays: 1 } });
    expect(rig.emulator.journal().byStatus['400']).toBeGreaterThanOrEqual(5);
    expect(report).toMatchObject({ exitCode: 0, unitsFailed: 0, states: { awaiting: 5 } });
    expect((await statesOf(rig, 'tokens'))[TOMORROW]).toBe('awaiting');
    const hints = events.flatMap((event) => (event.type === 'warning' ? [event.hint ?? ''] : []));
    expect(hints.join()).toContain('clock is ahead');
    await expectUndisturbed(rig, { today: rig.today });
  });

  test('C3: a day that is refused as too early never settles as a day without activity', async () => {
    const rig = await smallRig(database, { today: TOMORROW });
    const settings = { rangeDays: 1, settleDays: 0 };
    const { report } = await rig.run({ now: shiftDay(TOMORROW, 1), settings });
    expect(rig.emulator.journal().byStatus['400']).toBeGreaterThanOrEqual(5);
    expect(report).toMatchObject({ exitCode: 0, states: { awaiting: 5 } });
    expect(
      await rig.sql(
        'SELECT state, settled_at FROM export_units WHERE stream = ? AND date = ?',
        'users',
        TOMORROW,
      ),
    ).toEqual([{ state: 'awaiting', settled_at: null }]);
  });

  test('C4: a clock behind the ledger undoes nothing', { tags: 'ci/rare' }, async () => {
    const rig = await smallRig(database);
    await walk(rig);
    const before = await rig.sql(
      'SELECT stream, date, state, settled_at FROM export_units ORDER BY stream, date',
    );
    rig.emulator.resetJournal();
    const { report } = await rig.run({ now: parseDay('2026-01-15'), settings: { rangeDays: 1 } });
    expect(report.exitCode).toBe(0);
    expect(report.lastDay).toBe('2026-01-14');
    expect(
      await rig.sql('SELECT stream, date, state, settled_at FROM export_units ORDER BY stream, date'),
    ).toEqual(before);
    await expectUndisturbed(rig);
  });
});

onEachDatabase((database) => {
  describe('a clock that is days ahead', () => {
    const warningsOf = (events: Ran['events']) =>
      events.flatMap((event) => (event.type === 'warning' ? [event] : []));

    testVariants([2, 3, 40])(
      'F5: by %d days ends at the last complete day of the service, and warns',
      async (days) => {
        const rig = await smallRig(database, { today: TOMORROW });
        const { report, events } = await rig.run({
          now: shiftDay(TOMORROW, days),
          settings: { rangeDays: 1 },
        });
        expect(report).toMatchObject({ exitCode: 0, lastDay: UNTIL, unitsDone: 16, unitsFailed: 0 });
        expect(rig.emulator.journal().byStatus['400']).toBe(1);
        const [warning, ...others] = warningsOf(events);
        expect(warning?.message).toContain(`${shiftDay(TOMORROW, days)}T03:00:00.000Z`);
        expect(warning?.message).toContain(`${TOMORROW}T12:00:00.000Z`);
        expect(warning?.hint).toMatch(/correct this machine's clock/);
        expect(others).toEqual([]);
        await expectUndisturbed(rig, { today: TOMORROW });
      },
    );

    test('F5: settles no day before it is old enough by the clock of the service', {
      tags: 'ci/rare',
    }, async () => {
      const rig = await smallRig(database, { today: TOMORROW });
      for (const ahead of [0, 1, 2]) await rig.run({ now: shiftDay(TOMORROW, ahead) });
      // Of the three days the first one is three days old by the service's clock, and all are by the other.
      expect(
        await rig.column(
          "SELECT DISTINCT CAST(date AS text) FROM export_units WHERE date <> '' AND settled_at IS NOT NULL",
        ),
      ).toEqual([parseDay('2026-01-14')]);
    });

    test('F5: is also detected with a named organization', { tags: 'ci/rare' }, async () => {
      const rig = await smallRig(database, { today: TOMORROW });
      const { report, events } = await rig.run({
        now: shiftDay(TOMORROW, 2),
        settings: { orgId: rig.emulator.orgId },
      });
      expect(report).toMatchObject({ exitCode: 0, lastDay: UNTIL, unitsDone: 16 });
      expect(warningsOf(events)).toHaveLength(1);
      await expectUndisturbed(rig, { today: TOMORROW });
    });

    test('F5: does not prevent requests for older days if the service sends no time', async () => {
      const rig = await smallRig(database, {
        today: TOMORROW,
        rules: [{ action: { type: 'headers', set: { date: 'no date' } } }],
      });
      const { report } = await rig.run({ now: shiftDay(TOMORROW, 7), settings: { rangeDays: 1 } });
      // The days that the service refuses are on record as failures, the others are stored.
      expect(report).toMatchObject({ exitCode: 4, unitsDone: 16, unitsFailed: 35 });
      expect(report.orgId).toBe(rig.emulator.orgId);
      await expectUndisturbed(rig, { today: TOMORROW });
    });

    test('F5: leaves a range without complete days to the next run, and the message shows both times', async () => {
      const rig = await smallRig(database, { today: TOMORROW });
      const { report } = await rig.run({ now: shiftDay(TOMORROW, 3), from: shiftDay(TOMORROW, 1) });
      expect(report.exitCode).toBe(4);
      expect(report.problems[0]?.message).toMatch(
        /2026-01-20T03:00.*2026-01-17T12:00.*no day from 2026-01-18 on is over/,
      );
    });

    test('F5: is not assumed if the service has data of the newest day, or sends an impossible time', {
      tags: 'ci/rare',
    }, async () => {
      const date = new Date(`${TODAY}T00:00:00Z`);
      date.setUTCDate(date.getUTCDate() - 20);
      for (const serverDate of [date.toUTCString(), 'Thu, 01 Jan 1970 00:00:00 GMT']) {
        const rig = await smallRig(database, {
          rules: [{ action: { type: 'headers', set: { date: serverDate } } }],
        });
        const { report, events } = await rig.run({ now: TODAY });
        expect(report).toMatchObject({ exitCode: 0, lastDay: shiftDay(TODAY, -1) });
        expect(warningsOf(events)).toEqual([]);
      }
    });
  });
});

describe('C2: the time zone', () => {
  // Fourteen hours ahead, eleven behind, and one with a clock change within the requested days.
  testVariants(['Pacific/Kiritimati', 'Pacific/Niue', 'America/Sao_Paulo'])(
    'C2: %s requests the same days',
    { tags: 'ci/again' },
    async (zone) => {
      const rig = await smallRig(sqlite);
      const args = ['run', '--until', UNTIL, '--range-days', '1'];
      const { code } = await daywalk(args, {
        env: envOf(rig, { TZ: zone, DAYWALK_NOW: '2026-02-10T23:30:00Z' }),
      });
      expect(code).toBe(0);
      const asked = requestsOf(rig).map(
        ({ path, query }) => `${path} ${query['startDate']} ${query['endDate']}`,
      );
      const calm = await smallRig(sqlite);
      await walk(calm);
      const others = requestsOf(calm).map(
        ({ path, query }) => `${path} ${query['startDate']} ${query['endDate']}`,
      );
      expect([...new Set(asked)].sort()).toEqual([...new Set(others)].sort());
      await expectUndisturbed(rig);
    },
  );
});

describe('C5: a range', () => {
  test.each([
    ['with 29 February in a common year', ['--from', '2026-02-29'], /"2026-02-29" is not a calendar day/],
    ['that is reversed', ['--from', '2026-01-20', '--until', '2026-01-19'], /reversed/],
    ['at the end of the current year', ['--until', '2026-12-31'], /in the future/],
  ])('C5: %s is a usage error, and nothing is sent', async (_, args, message) => {
    const rig = await smallRig(sqlite);
    const { code, stderr } = await daywalkInProcess(['run', ...args], { env: envOf(rig) });
    expect(code).toBe(2);
    expect(stderr).toMatch(message);
    expect(rig.emulator.journal().requests).toBe(0);
  });

  test('C5: a start before the first day begins at the first day', async () => {
    const rig = await smallRig(sqlite);
    const args = ['run', '--from', '2025-12-30', '--until', UNTIL, '--range-days', '1'];
    const { code } = await daywalkInProcess(args, { env: envOf(rig) });
    expect(code).toBe(0);
    expect(daysAsked(rig)[0]).toBe('2026-01-14');
    await expectUndisturbed(rig);
  });
});
