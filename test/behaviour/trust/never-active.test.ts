import { describe, expect, test } from 'vitest';
import { readStatus } from '../../../jobs/status.ts';
import { renderStatus } from '../../../src/cli/actions/status.ts';
import { createStyle } from '../../../src/cli/output/terminal.ts';
import { daysFrom, FIRST_DAY, parseDay, type UtcDay } from '../../../src/core/day.ts';
import { DAILY_STREAMS } from '../../../src/core/stream.ts';
import { expectExactCopy } from '../../support/rig/exact-copy.ts';
import { requestsOf } from '../../support/rig/journal.ts';
import { contextOf, type Rig } from '../../support/rig/rig.ts';
import { lie, nights, nightsOf } from '../../support/trust/run-nights.ts';
import { onDatabase } from '../../support/warehouse/each-database.ts';
import { sqlite } from '../../support/warehouse/sqlite-place.ts';

const NIGHT = parseDay('2026-03-18');
const NEXT = parseDay('2026-03-19');
const THIRD = parseDay('2026-03-20');
/** 63 days of history in the first night. */
const HISTORY = daysFrom(FIRST_DAY, parseDay('2026-03-25'));

const settledUnits = (rig: Rig) =>
  rig.value<number>(
    "SELECT COUNT(*) FROM export_units WHERE stream <> 'readiness' AND settled_at IS NOT NULL",
  );

async function statusOf(rig: Rig, now: UtcDay) {
  const status = await readStatus(rig.settings, contextOf(now));
  const frame = { width: 160, style: createStyle(false), redact: (text: string) => text, isTerminal: false };
  const open = status.organizations[0]?.open.find(({ state }) => state === 'never-active');
  return { since: open?.firstDay ?? null, open, screen: renderStatus(status, frame).join('\n') };
}

onDatabase(sqlite, () => {
  describe('L2: an organization in which no activity was ever seen', () => {
    test('is exported night after night although people are kept for a limited time', {
      tags: 'ci/rare',
    }, async () => {
      const rig = await nightsOf(sqlite, { users: 6 });
      lie(rig, { lateDays: HISTORY });
      const settings = { retainUsers: { count: 100, unit: 'd' } } as const;
      const ran = [await rig.run({ now: NIGHT, settings }), await rig.run({ now: NEXT, settings })];
      expect(ran.map(({ report }) => report.exitCode)).toEqual([0, 0]);
    });

    test('settles no day, says so with exit code 0, and settles them by pulls after its first activity', {
      tags: 'ci/rare',
    }, async () => {
      const rig = await nightsOf(sqlite, { users: 6 });
      lie(rig, { lateDays: HISTORY });
      expect((await rig.run({ now: NIGHT })).report).toMatchObject({
        exitCode: 0,
        states: { awaiting: 315 },
      });
      expect(await settledUnits(rig)).toBe(0);
      const { since, screen } = await statusOf(rig, NIGHT);
      expect(since).toBe(FIRST_DAY);
      expect(screen).toContain(`no activity has ever been seen since ${FIRST_DAY}`);
      const before = requestsOf(rig).length;
      expect((await rig.run({ now: NEXT })).report.exitCode).toBe(0);
      expect(await settledUnits(rig)).toBe(0);
      // Nearly all days in ranges; the first night learned no range, because each one was without rows.
      expect(requestsOf(rig).length - before).toBeLessThanOrEqual(45);
      lie(rig);
      const { report } = await rig.run({ now: THIRD });
      expect(report).toMatchObject({ exitCode: 0, restatements: 0 });
      expect((await statusOf(rig, THIRD)).since).toBeNull();
      await expectExactCopy(rig, THIRD);
      await nights(rig, '2026-03-21', '2026-03-22');
      const open = await rig.value(
        "SELECT COUNT(*) FROM export_units WHERE settled_at IS NULL AND date <= '2026-03-17' AND stream <> 'readiness'",
      );
      expect(open).toBe(0);
    });

    test('settles no empty day by a pull from before its first activity', { tags: 'ci/rare' }, async () => {
      const rig = await nightsOf(sqlite, { users: 6 });
      lie(rig, { lateDays: HISTORY });
      await rig.run({ now: NIGHT });
      // The next run pulls the newest days alone, and finds activity there.
      const late = HISTORY.filter((day) => day < '2026-03-14');
      lie(rig, { lateDays: late });
      await rig.run({ now: NEXT, from: parseDay('2026-03-14') });
      expect((await statusOf(rig, NEXT)).since).toBeNull();
      const old = "SELECT COUNT(*) FROM export_units WHERE date < '2026-03-14' AND date <> '' AND state = ?";
      expect(await rig.value(old, 'awaiting')).toBe(late.length * DAILY_STREAMS.length);
      await nights(rig, '2026-03-20', '2026-03-21');
      expect(await rig.value(old, 'awaiting')).toBe(late.length * DAILY_STREAMS.length);
      await nights(rig, '2026-03-22', '2026-03-22');
      expect(await rig.value(old, 'empty')).toBe(late.length * DAILY_STREAMS.length);
    });

    test('settles empty days although a clock was ahead when its first activity was stored', {
      tags: 'ci/rare',
    }, async () => {
      const rig = await nightsOf(sqlite, { users: 3 });
      const idle = parseDay('2026-03-02');
      lie(rig, { lateDays: [idle] });
      await rig.run({ now: parseDay('2026-06-20'), until: parseDay('2026-03-17') });
      await nights(rig, '2026-03-18', '2026-03-21');
      const units = `SELECT DISTINCT state, confirmed FROM export_units WHERE date = '${idle}'`;
      expect(await rig.sql(units)).toEqual([{ state: 'empty', confirmed: 'agreed' }]);
    });

    test('counts the looks of the run that finds its first activity', { tags: 'ci/rare' }, async () => {
      const rig = await nightsOf(sqlite, { users: 6 });
      const late = HISTORY.filter((day) => day < '2026-03-02');
      lie(rig, { lateDays: late });
      const [, , last] = await nights(rig, NIGHT, THIRD);
      const old =
        "SELECT COUNT(*) FROM export_units WHERE date < '2026-03-02' AND date <> '' AND state = 'empty'";
      expect(await rig.value(old)).toBe(late.length * DAILY_STREAMS.length);
      const isEmpty = "SELECT COUNT(*) FROM export_units WHERE stream <> 'readiness' AND state = 'empty'";
      expect(last?.report.states['empty']).toBe(Number(await rig.value(isEmpty)) + 1);
    });

    test('keeps what an earlier version has settled', { tags: 'ci/rare' }, async () => {
      const rig = await nightsOf(sqlite, { users: 6 });
      lie(rig, { lateDays: HISTORY });
      await rig.run({ now: NIGHT });
      const settled =
        "UPDATE export_units SET state = 'empty', settled_at = last_pulled_at, confirmed = 'agreed'";
      await rig.place.execute(`${settled} WHERE date <> '' AND date <= '2026-03-10'`);
      const kept = await settledUnits(rig);
      expect(kept).toBe(56 * DAILY_STREAMS.length);
      expect((await rig.run({ now: NEXT })).report.exitCode).toBe(0);
      expect(await settledUnits(rig)).toBe(kept);
    });
  });
});

test('a run that was killed after the first activity was stored settles the empty days without a request', {
  tags: 'ci/rare',
}, async () => {
  const rig = await nightsOf(sqlite, { users: 6 });
  lie(rig, { lateDays: HISTORY.filter((day) => day < '2026-03-02') });
  await nights(rig, NIGHT, THIRD);
  // As if it had been killed before the days settled.
  await rig.place.execute("DELETE FROM export_state WHERE name = 'active-since'");
  const looks = [NIGHT, NEXT, THIRD].map((day) => `["${day}","' || SUBSTR(content_sha256, 1, 16) || '"]`);
  const watch = `'{"lookedAt":"${THIRD}T03:00:00.000Z","looks":[${looks.join(',')}]}'`;
  await rig.place.execute(
    `UPDATE export_units SET state = 'awaiting', settled_at = NULL, confirmed = NULL, watch = ${watch} WHERE state = 'empty' AND date <> ''`,
  );
  const { report } = await rig.run({ now: THIRD });
  expect(await rig.value("SELECT COUNT(*) FROM export_units WHERE state = 'awaiting'")).toBe(0);
  expect(report.requests).toBeLessThan(30);
});
