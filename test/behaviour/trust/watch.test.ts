import { describe, expect, test } from 'vitest';
import { systemClock } from '../../../src/core/clock.ts';
import { daysFrom, parseDay, weekdayOf } from '../../../src/core/day.ts';
import { expectExactCopy } from '../../support/rig/exact-copy.ts';
import type { Rig, RunRequest } from '../../support/rig/rig.ts';
import { testVariants } from '../../support/suite/variants.ts';
import { afterNights, nights, nightsOf } from '../../support/trust/run-nights.ts';
import { sqlite } from '../../support/warehouse/sqlite-place.ts';

/** Of older days, one light stretch is compared. */
const FRUGAL = { watchRequests: 0 };

/** The cost of a night, by kind of request. */
async function askedIn(
  rig: Rig,
  night: string,
  settings: RunRequest['settings'] = {},
): Promise<Readonly<Record<string, number>>> {
  rig.emulator.resetJournal();
  await rig.run({ now: parseDay(night), settings });
  return rig.emulator.journal().byDay;
}

describe('the watch over settled days', () => {
  test('requests the recent days with the unsettled ones, and another older range in each run', {
    tags: 'ci/rare',
  }, async () => {
    const rig = await afterNights(sqlite, ['2026-03-18', '2026-03-20']);
    const [first, second, third] = [
      await askedIn(rig, '2026-03-21', FRUGAL),
      await askedIn(rig, '2026-03-22', FRUGAL),
      await askedIn(rig, '2026-03-23', FRUGAL),
    ];
    expect(first).toMatchObject({
      'activity 2026-02-18..2026-03-20': 1,
      'activity 2026-02-14..2026-02-17': 1,
      'tools 2026-02-14..2026-02-17': 1,
      'productivity 2026-02-14..2026-02-17': 1,
    });
    // Grouped by model, for the same stretches; and a page of users of every stretch.
    expect(first).toMatchObject({
      'tokens 2026-02-14..2026-02-17': 1,
      'users 2026-02-14..2026-02-17': 1,
      'users 2026-01-14..2026-02-13': 1,
    });
    expect(first).not.toHaveProperty('activity 2026-01-14..2026-02-13');
    expect(second).toMatchObject({ 'activity 2026-01-14..2026-02-13': 1 });
    // Then the next round begins.
    expect(third).toMatchObject({ 'activity 2026-02-14..2026-02-19': 1 });
  });

  test('compares all streams of as much history as the requests allow, and carries over what is left', {
    tags: 'ci/rare',
  }, async () => {
    const rig = await afterNights(sqlite, ['2026-03-18', '2026-03-20']);
    // A stretch costs six requests here: three light streams, the sums, tokens and a page of users.
    const full = { 'tokens 2026-02-14..2026-02-17': 2, 'users 2026-02-14..2026-02-17': 1 };
    expect(await askedIn(rig, '2026-03-21')).toMatchObject({ ...full, 'tokens 2026-01-14..2026-02-13': 2 });
    const [second, third] = [
      await askedIn(rig, '2026-03-22', { watchRequests: 3 }),
      await askedIn(rig, '2026-03-23', { watchRequests: 3 }),
    ];
    const tokensOf = (asked: Readonly<Record<string, number>>) =>
      Object.entries(asked).filter(([name, requests]) => /^tokens 2026-0[12]-14/.test(name) && requests > 1)
        .length;
    expect([tokensOf(second), tokensOf(third)]).toEqual([0, 1]);
  });

  test('of runs with a later first day covers the days since then', { tags: 'ci/variant' }, async () => {
    const rig = await afterNights(sqlite, ['2026-03-10', '2026-03-13']);
    rig.emulator.revise({ kind: 'restate', day: parseDay('2026-01-28') });
    const ran = await nights(rig, '2026-03-14', '2026-03-19', { from: parseDay('2026-01-25') });
    expect(ran.map(({ report }) => report.daysReopened)).toContain(1);
    await expectExactCopy(rig, parseDay('2026-03-19'));
  });

  test('compares all streams of the recent days in every run of a small organization', {
    tags: 'ci/variant',
  }, async () => {
    const rig = await afterNights(sqlite, ['2026-03-10', '2026-03-13']);
    const ofRecent = (asked: object) =>
      Object.keys(asked).filter((name) => /^(users|tokens) 2026-02-1/.test(name));
    expect(ofRecent(await askedIn(rig, '2026-03-14'))).toEqual(
      expect.arrayContaining(['users 2026-02-11..2026-03-13', 'tokens 2026-02-11..2026-03-12']),
    );
    expect(ofRecent(await askedIn(rig, '2026-03-15'))).toEqual(
      expect.arrayContaining(['users 2026-02-12..2026-03-14', 'tokens 2026-02-12..2026-03-13']),
    );
  });

  test('compares all streams of days whose sums per model differ, once if nothing else does', {
    tags: 'ci/rare',
  }, async () => {
    const rig = await afterNights(sqlite, ['2026-03-15', '2026-03-17']);
    rig.emulator.setRules([
      {
        id: 'altered',
        match: { query: { group_by: 'model' } },
        action: { type: 'patch', operations: [{ op: 'set', path: '/data/*/output_tokens', value: 123_456 }] },
      },
    ]);
    const scope = { from: parseDay('2026-02-10'), until: parseDay('2026-02-12') };
    const askedOn: number[] = [];
    for (const night of daysFrom(parseDay('2026-03-18'), parseDay('2026-03-21'))) {
      rig.emulator.resetJournal();
      const { report } = await rig.run({ now: night, ...scope, settings: FRUGAL });
      expect(report).toMatchObject({ exitCode: 0, daysReopened: 0, restatements: 0 });
      const asked = Object.entries(rig.emulator.journal().byDay).filter(([name]) =>
        name.startsWith('tokens '),
      );
      askedOn.push(asked.reduce((sum, [, requests]) => sum + requests, 0));
    }
    // Every night requests the newest day and the sums. The rows are what is stored, so they are compared on two nights only.
    expect(askedOn).toEqual([3, 3, 2, 2]);
    rig.emulator.setRules([]);
    await rig.run({ now: parseDay('2026-03-22') });
    await expectExactCopy(rig, parseDay('2026-03-22'));
  });

  test('continues without the sums per model if the service refuses them', { tags: 'ci/rare' }, async () => {
    const rig = await afterNights(sqlite, ['2026-02-18', '2026-02-20']);
    for (const status of [400, 403, 404]) {
      rig.emulator.setRules([
        { id: 'refused', match: { query: { group_by: 'model' } }, action: { type: 'status', status } },
      ]);
      rig.emulator.resetJournal();
      const { report } = await rig.run({ now: parseDay('2026-02-21') });
      expect(rig.emulator.journal().rules).toMatchObject([{ firings: 1 }]);
      expect(report.exitCode).toBe(0);
    }
  });

  test('counts a failure like a failed unit, and compares the same range again', async () => {
    const rig = await afterNights(sqlite, ['2026-03-18', '2026-03-20']);
    rig.emulator.setRules([
      {
        id: 'down',
        match: { query: { startDate: '2026-02-14' }, stream: 'tools' },
        action: { type: 'status', status: 500 },
      },
    ]);
    const { report } = await rig.run({ now: parseDay('2026-03-21'), settings: FRUGAL });
    expect(report).toMatchObject({ exitCode: 4, unitsFailed: 0, unitsLeftOut: 0 });
    rig.emulator.setRules([]);
    expect(await askedIn(rig, '2026-03-22', FRUGAL)).toMatchObject({ 'tools 2026-02-14..2026-02-18': 1 });
  });

  testVariants([
    { type: 'status', status: 422 } as const,
    { type: 'patch', operations: [{ op: 'set', path: '/data/5/tool_calls', value: 'many' }] } as const,
  ])('compares the rest of a range in shorter ones after a $type', { tags: 'ci/rare' }, async (action) => {
    const rig = await afterNights(sqlite, ['2026-03-18', '2026-03-20']);
    rig.emulator.setRules([
      {
        id: 'misfit',
        match: { query: { startDate: '2026-01-14', endDate: '2026-02-13' }, stream: 'tools' },
        action,
      },
    ]);
    rig.emulator.resetJournal();
    const { report } = await rig.run({ now: parseDay('2026-03-21') });
    const { rules, byDay } = rig.emulator.journal();
    expect(rules).toMatchObject([{ firings: 1, missed: 0 }]);
    expect(report).toMatchObject({ exitCode: 0, unitsFailed: 0, unitsLeftOut: 0 });
    expect(byDay).toMatchObject({ 'tools 2026-01-14..2026-01-29': 1, 'tools 2026-01-30..2026-02-13': 1 });
    // The round continues.
    expect(await rig.value("SELECT value FROM export_state WHERE name = 'watch'")).not.toContain('isAgain');
  });

  test('gives up a stream whose ranges are all rejected', { tags: 'ci/rare' }, async () => {
    const rig = await afterNights(sqlite, ['2026-05-18', '2026-05-20']);
    rig.emulator.setRules([
      { id: 'gone', match: { stream: 'tools' }, action: { type: 'status', status: 404 } },
    ]);
    const { report } = await rig.run({ now: parseDay('2026-05-21') });
    expect(report.exitCode).toBe(4);
    expect(rig.emulator.journal().rules[0]?.firings).toBeLessThan(12);
  });

  test('finds a difference that was first seen with a clock one year ahead', {
    tags: 'ci/variant',
  }, async () => {
    const rig = await afterNights(sqlite, ['2026-02-18', '2026-02-20']);
    rig.emulator.revise({ kind: 'restate', day: parseDay('2026-02-10') });
    const until = parseDay('2026-02-20');
    const ahead = systemClock(new Date('2027-02-21T03:00:00Z'));
    await rig.run({ now: parseDay('2026-02-21'), clock: ahead, until });
    for (const night of ['2026-02-22', '2026-02-23'])
      expect((await rig.run({ now: parseDay(night), until })).report.daysReopened).toBe(0);
    expect((await rig.run({ now: parseDay('2026-02-24') })).report.daysReopened).toBeGreaterThan(0);
    await expectExactCopy(rig, parseDay('2026-02-24'));
  });

  test('stores every day that three looks confirm, however many', { tags: 'ci/variant' }, async () => {
    const rig = await afterNights(sqlite, ['2026-02-18', '2026-02-20']);
    const days = daysFrom(parseDay('2026-01-26'), parseDay('2026-02-13')).filter(
      (day) => weekdayOf(day) <= 5,
    );
    for (const day of days) rig.emulator.revise({ kind: 'restate', day });
    const [, second, third] = await nights(rig, '2026-02-21', '2026-02-23');
    expect(second?.report.daysReopened).toBe(0);
    const reopened = third?.events.find((event) => event.type === 'days-reopened');
    expect(reopened?.days).toEqual(expect.arrayContaining(days));
    // A day whose tools are all others now is doubted for three nights.
    await nights(rig, '2026-02-24', '2026-02-28');
    await expectExactCopy(rig, parseDay('2026-02-28'));
  });

  test('over a part of the streams waits for the others: until then, the sums of the day would differ', {
    tags: 'ci/rare',
  }, async () => {
    const rig = await afterNights(sqlite, ['2026-02-18', '2026-02-20']);
    rig.emulator.revise({ kind: 'restate', day: parseDay('2026-02-10') });
    const ran = await nights(rig, '2026-02-21', '2026-02-23', { streams: ['tools'] });
    expect(ran.map(({ report }) => report.restatements)).toEqual([0, 0, 0]);
    await nights(rig, '2026-02-24', '2026-02-27');
    await expectExactCopy(rig, parseDay('2026-02-27'));
  });

  test('over a service that answers one day at a time compares days without pulling them', {
    tags: 'ci/variant',
  }, async () => {
    const rig = await nightsOf(sqlite);
    rig.emulator.setQuirks({ maxRangeDays: 1 });
    await nights(rig, '2026-02-17', '2026-02-20');
    const attempts =
      'SELECT stream, date, attempts, settled_at FROM export_units WHERE settled_at IS NOT NULL';
    const before = await rig.sql(attempts);
    const { report } = await rig.run({ now: parseDay('2026-02-20'), settings: { watchDays: 5 } });
    expect(report).toMatchObject({ exitCode: 0, unitsLeftOut: 0, rowsWritten: 0 });
    expect(report.unitsDone).toBe(report.unitsPlanned);
    expect(await rig.sql(attempts)).toEqual(expect.arrayContaining(before));
  });

  testVariants([10, 1])(
    'remembers that the service allows %i days: the next night has no refusals',
    { tags: 'ci/rare' },
    async (maxRangeDays) => {
      const rig = await nightsOf(sqlite);
      rig.emulator.setQuirks({ maxRangeDays });
      await nights(rig, '2026-02-18', '2026-02-20');
      rig.emulator.resetJournal();
      await rig.run({ now: parseDay('2026-02-21') });
      expect(rig.emulator.journal().byStatus).not.toHaveProperty('400');
    },
  );

  testVariants([4, 60])(
    'costs an organization of %i users at most seven requests per night for a month of history',
    { tags: 'ci/rare' },
    async (users) => {
      const rig = await afterNights(sqlite, ['2026-03-10', '2026-03-12'], { users });
      const requestsOf = async (settings = {}) =>
        (await rig.run({ now: parseDay('2026-03-13'), settings })).report.requests;
      const without = await requestsOf({ watchDays: 0 });
      expect((await requestsOf()) - without).toBeLessThanOrEqual(7);
    },
  );
});
