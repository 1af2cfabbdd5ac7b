import { describe, expect, test } from 'vitest';
import { daysFrom, FIRST_DAY, parseDay, shiftDay } from '../../../src/core/day.ts';
import { exportedRig, runThreeNights, settledRig } from '../../support/rig/exported-rig.ts';
import { daysOf, requestsOf } from '../../support/rig/journal.ts';
import { createRig, type Rig } from '../../support/rig/rig.ts';
import { onEachDatabase } from '../../support/warehouse/each-database.ts';

/** Early in the history: few days are enough. */
const today = parseDay('2026-01-26');
/** Settled days are not compared with the service. */
const unwatched = { watchDays: 0 };

/** The days that a run requests after it has compared the users of stored days. */
function daysPulled(rig: Rig): string[] {
  const all = requestsOf(rig);
  const compared = all.findIndex(({ path }) => path.endsWith('/users'));
  return daysOf(all.toSpliced(compared, 1));
}

onEachDatabase((database) => {
  describe('a second run', () => {
    test('changes nothing and requests only unsettled days', async () => {
      const rig = await settledRig({ today }, { database });
      const digest = await rig.digest();
      const facts = await rig.sql(
        'SELECT stream, date, content_sha256, changed_at FROM export_units ORDER BY 1, 2',
      );
      rig.emulator.resetJournal();
      const { report } = await rig.run({ settings: unwatched });
      expect(report).toMatchObject({ exitCode: 0, rowsWritten: 0, restatements: 0, unitsPlanned: 2 * 5 + 1 });
      expect(await rig.digest()).toBe(digest);
      expect(
        await rig.sql('SELECT stream, date, content_sha256, changed_at FROM export_units ORDER BY 1, 2'),
      ).toEqual(facts);
      expect(daysPulled(rig)).toEqual(['2026-01-24', '2026-01-25']);
      // Both days at once, except tokens, whose first day identifies the organization; the readiness reports; the known users.
      expect(requestsOf(rig)).toHaveLength(5 + 1 + 1 + 1);
    });

    test('also compares settled days with at most five more requests, and writes none of them', async () => {
      const rig = await settledRig({ today }, { database });
      const digest = await rig.digest();
      const settled = 'SELECT * FROM export_units WHERE settled_at IS NOT NULL ORDER BY stream, date';
      const ledger = await rig.sql(settled);
      rig.emulator.resetJournal();
      await rig.run({ settings: unwatched });
      const { length: fewest } = requestsOf(rig);
      rig.emulator.resetJournal();
      const { report } = await rig.run();
      expect(report).toMatchObject({ exitCode: 0, rowsWritten: 0, daysReopened: 0, unitsPlanned: 2 * 5 + 1 });
      const asked = requestsOf(rig);
      for (const stream of ['tools', 'activity', 'productivity'])
        expect(daysOf(asked, stream)).toEqual(daysFrom(FIRST_DAY, shiftDay(today, -1)));
      expect(asked.length).toBeLessThanOrEqual(fewest + 5);
      expect(await rig.sql(settled)).toEqual(ledger);
      expect(await rig.digest()).toBe(digest);
    });

    test('of a later night settles the old days and adds the new one', async () => {
      const rig = await settledRig({ today }, { database });
      const tomorrow = shiftDay(today, 1);
      rig.emulator.setToday(tomorrow);
      rig.emulator.resetJournal();
      const { report } = await rig.run({ now: tomorrow, settings: unwatched });
      expect(report.exitCode).toBe(0);
      expect(daysPulled(rig)).toEqual(['2026-01-24', '2026-01-25', '2026-01-26']);
      expect(
        await rig.column(
          "SELECT DISTINCT date FROM export_units WHERE settled_at IS NULL AND date <> '' ORDER BY 1",
        ),
      ).toEqual(['2026-01-25', '2026-01-26']);
    });

    test('after a week without runs pulls unsettled days again, at their new age', async () => {
      const rig = await settledRig({ today }, { database });
      const later = shiftDay(today, 7);
      rig.emulator.setToday(later);
      rig.emulator.resetJournal();
      await rig.run({ now: later, settings: unwatched });
      expect(daysPulled(rig)[0]).toBe('2026-01-24');
      expect(daysPulled(rig)).toHaveLength(9);
    });

    test('of a settled range needs only the requests that show which organization it is', async () => {
      const rig = await createRig({ today }, { database });
      const range = {
        from: parseDay('2026-01-14'),
        until: parseDay('2026-01-20'),
        streams: ['tokens', 'users'] as const,
        settings: unwatched,
      };
      await runThreeNights(rig, range);
      rig.emulator.resetJournal();
      const { report } = await rig.run(range);
      expect(report).toMatchObject({
        exitCode: 0,
        unitsPlanned: 0,
        unitsSettled: 14,
        rowsWritten: 0,
        requests: 2,
      });
      expect(requestsOf(rig)).toHaveLength(2);
    });

    test('with --force also requests settled days, and writes nothing if nothing changed', {
      tags: 'ci/rare',
    }, async () => {
      const rig = await exportedRig({ today }, { database });
      const { report } = await rig.run({ force: true });
      expect(report).toMatchObject({
        exitCode: 0,
        unitsPlanned: 12 * 5 + 1,
        rowsWritten: 0,
        restatements: 0,
      });
    });

    test('with --force repairs rows that another program changed or removed', {
      tags: 'ci/rare',
    }, async () => {
      const rig = await createRig({ today, users: 15 }, { database });
      await rig.run();
      const digest = await rig.digest();
      await rig.place.execute("UPDATE tokens_daily SET billable_tokens = 1 WHERE date = '2026-01-20'");
      await rig.place.execute("DELETE FROM user_daily WHERE date = '2026-01-21'");
      expect(await rig.digest()).not.toBe(digest);
      expect((await rig.run()).report.rowsWritten).toBe(0);
      const { report } = await rig.run({ force: true });
      expect(report.rowsWritten).toBeGreaterThan(1);
      expect(report.restatements).toBe(0);
      expect(await rig.digest()).toBe(digest);
    });

    test('of fewer streams and days requests only those, newest first on request', async () => {
      const rig = await createRig({ today }, { database });
      const until = parseDay('2026-01-18');
      await rig.run({
        streams: ['activity'],
        from: parseDay('2026-01-15'),
        until,
        newestFirst: true,
        settings: { concurrency: 1 },
      });
      expect(requestsOf(rig).map(({ query }) => query['startDate'])).toEqual([
        '2026-01-18',
        '2026-01-17',
        '2026-01-16',
        '2026-01-15',
      ]);
      expect(await rig.column('SELECT DISTINCT stream FROM export_units')).toEqual(['activity']);
    });

    test('with a clock set back undoes nothing', async () => {
      const rig = await settledRig({ today }, { database });
      const digest = await rig.digest();
      await rig.run({ now: parseDay('2026-01-20') });
      expect(await rig.digest()).toBe(digest);
    });
  });
});
