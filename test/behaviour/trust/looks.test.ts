import { describe, expect, test } from 'vitest';
import { readStatus } from '../../../jobs/status.ts';
import { systemClock } from '../../../src/core/clock.ts';
import { parseDay } from '../../../src/core/day.ts';
import type { DailyStream } from '../../../src/core/stream.ts';
import { overview } from '../../../src/look/pages/overview.ts';
import { withWarehouse } from '../../../src/warehouse/open.ts';
import { phraseText, reading } from '../../support/look/read-pages.ts';
import { expectExactCopy } from '../../support/rig/exact-copy.ts';
import { contextOf, type Ran, type Rig } from '../../support/rig/rig.ts';
import { testVariants } from '../../support/suite/variants.ts';
import { afterNights, nights, nightsOf, unitOf } from '../../support/trust/run-nights.ts';
import { onDatabase } from '../../support/warehouse/each-database.ts';
import { sqlite } from '../../support/warehouse/sqlite-place.ts';

const UNSETTLED = "SELECT COUNT(*) FROM export_units WHERE date <> '' AND settled_at IS NULL";
const LOOKS = `SELECT COUNT(*) FROM export_units WHERE CAST(watch AS text) LIKE '%"looks"%'`;
/** Days of which every stream has settled on the third night of a first sync: all but the two newest. */
const YOUNG_UNITS = 2 * 5;

/** The service answers these streams with other numbers, for the same users, tools and models. */
function alter(rig: Rig, streams: readonly DailyStream[], value = 7): void {
  const fields = { users: 'slash_commands', tokens: 'output_tokens', activity: 'messages' } as const;
  rig.emulator.setRules(
    streams.map((stream) => ({
      id: stream,
      match: { stream },
      action: {
        type: 'patch',
        operations: [
          { op: 'set', path: `/data/*/${fields[stream as keyof typeof fields] ?? 'sessions'}`, value },
        ],
      },
    })),
  );
}

function honest(rig: Rig): void {
  rig.emulator.setRules([]);
}

onDatabase(sqlite, () => {
  describe('a first sync of two months', () => {
    test('settles on its third night and not before, asks nothing twice on one day, and a page says how often it was seen', async () => {
      const rig = await nightsOf(sqlite);
      const settled = "SELECT COUNT(*) FROM export_units WHERE date <> '' AND settled_at IS NOT NULL";
      const sentence = () =>
        withWarehouse(rig.path, { clock: systemClock(), create: false }, async (warehouse) => {
          const page = await reading(warehouse, (reader) => overview.build(reader, {}), {
            until: '2026-03-10',
          });
          return phraseText(page.sentence);
        });
      const night = async (day: string) => (await rig.run({ now: parseDay(day) })).report;
      expect(await night('2026-03-20')).toMatchObject({ exitCode: 0 });
      expect(await sentence()).toContain('They have been seen once and settle on 22 March.');
      expect(await night('2026-03-21')).toMatchObject({ exitCode: 0 });
      expect(await sentence()).toContain('They have been seen twice and settle on 22 March.');
      expect(await rig.value(settled)).toBe(0);
      // The two young days and the readiness reports.
      expect(await night('2026-03-21')).toMatchObject({ exitCode: 0, unitsPlanned: YOUNG_UNITS + 1 });
      expect(await night('2026-03-22')).toMatchObject({ exitCode: 0 });
      expect(await sentence()).toContain('All 56 days are settled.');
      expect(await rig.value(UNSETTLED)).toBe(YOUNG_UNITS);
      expect(await rig.value(LOOKS)).toBe(YOUNG_UNITS);
      expect(await unitOf(rig, 'tokens', '2026-02-10')).toMatchObject({ confirmed: 'data' });
    });

    test('names the days that were answered otherwise until they settle, and nothing before and after', {
      tags: 'ci/variant',
    }, async () => {
      const rig = await nightsOf(sqlite);
      const waiting = async (now: string) => {
        const { organizations } = await readStatus(rig.settings, contextOf(parseDay(now)));
        return organizations.flatMap(({ open }) => open.map(({ state, exitCode }) => [state, exitCode]));
      };
      alter(rig, ['tokens'], 5);
      await nights(rig, '2026-03-20', '2026-03-21');
      expect(await waiting('2026-03-21')).toEqual([['first-looks', 0]]);
      honest(rig);
      await nights(rig, '2026-03-22', '2026-03-22');
      expect(await waiting('2026-03-22')).toEqual([['first-looks', 0]]);
      await nights(rig, '2026-03-23', '2026-03-24');
      expect(await waiting('2026-03-24')).toEqual([]);
    });

    testVariants<[string, readonly DailyStream[]]>([
      ['one stream with the same number of users', ['users']],
      ['all streams together', ['users', 'tokens', 'activity']],
    ])(
      'that was answered wrongly on its first night in %s settles right',
      { tags: 'ci/rare' },
      async (_, streams) => {
        const rig = await nightsOf(sqlite);
        alter(rig, streams);
        await nights(rig, '2026-03-20', '2026-03-20');
        honest(rig);
        const ran = await nights(rig, '2026-03-21', '2026-03-23');
        expect(ran.map(({ report }) => report.exitCode)).toEqual([0, 0, 0]);
        await expectExactCopy(rig, parseDay('2026-03-23'));
        expect(await rig.value(UNSETTLED)).toBe(YOUNG_UNITS);
      },
    );

    test.each([{ streams: ['tools', 'activity'] as const }, { from: parseDay('2026-03-19') }])(
      'does not hide what is new if the requests end before it, with %o',
      { tags: 'ci/variant' },
      async (asked) => {
        const rig = await nightsOf(sqlite);
        await nights(rig, '2026-03-20', '2026-03-20');
        const request = { ...asked, settings: { maxRequests: 2 } };
        const [{ report }] = (await nights(rig, '2026-03-21', '2026-03-21', request)) as [Ran];
        expect(await unitOf(rig, 'activity', '2026-03-20')).toBeUndefined();
        expect(report).toMatchObject({ exitCode: 4, completed: [] });
      },
    );

    test('ends with 0 if the requests end in the second looks, and goes on the next night', {
      tags: 'ci/rare',
    }, async () => {
      const rig = await nightsOf(sqlite);
      await nights(rig, '2026-03-20', '2026-03-20');
      rig.emulator.resetJournal();
      const [{ report }] = (await nights(rig, '2026-03-21', '2026-03-21', {
        settings: { maxRequests: 12 },
      })) as [Awaited<ReturnType<Rig['run']>>];
      expect(report).toMatchObject({ exitCode: 0, unitsLeftOut: 0, requests: 12 });
      expect(report.completed).toContain('users');
      const leftOut = async (now: string) => {
        const { organizations } = await readStatus(rig.settings, contextOf(parseDay(now)));
        return organizations.flatMap(({ open }) => open).find(({ state }) => state === 'left-out');
      };
      const open = { exitCode: 0, since: '2026-03-21T00:00:00.000Z', endsOn: '2026-03-22' };
      const left = await leftOut('2026-03-21');
      expect(left).toMatchObject({ ...open, firstDay: expect.stringMatching(/^2026-0[12]/) });
      // All units but those that the twelve requests have pulled. The readiness reports are one more.
      expect(left?.count).toBe(66 * 5 + 1 - report.unitsDone);
      await nights(rig, '2026-03-22', '2026-03-24');
      expect(await rig.value(UNSETTLED)).toBe(YOUNG_UNITS);
      expect(await leftOut('2026-03-24')).toBeUndefined();
    });
  });

  describe('a settled unit', () => {
    test('changes after three equal looks of other content, and settles with them', async () => {
      const rig = await afterNights(sqlite, ['2026-02-18', '2026-02-20']);
      rig.emulator.revise({ kind: 'restate', day: parseDay('2026-02-10') });
      const ran = await nights(rig, '2026-02-21', '2026-02-24');
      expect(ran.map(({ report }) => report.exitCode)).toEqual([0, 0, 0, 0]);
      const reopened = ran.map(({ report }) => report.daysReopened);
      expect(reopened.slice(0, 2)).toEqual([0, 0]);
      expect(reopened[2]).toBeGreaterThan(0);
      await expectExactCopy(rig, parseDay('2026-02-24'));
      expect(await unitOf(rig, 'activity', '2026-02-10')).toMatchObject({ confirmed: 'data' });
    });

    test('is not changed by two wrong nights', { tags: 'ci/rare' }, async () => {
      const rig = await afterNights(sqlite, ['2026-02-18', '2026-02-20']);
      // Numbers that no other stream has, so that nothing but the looks protects them.
      alter(rig, ['tokens']);
      const ran = await nights(rig, '2026-02-21', '2026-02-22', { until: parseDay('2026-02-15') });
      expect(await rig.value('SELECT COUNT(*) FROM tokens_daily WHERE output_tokens = 7')).toBe(0);
      honest(rig);
      ran.push(...(await nights(rig, '2026-02-23', '2026-02-25')));
      expect(ran.map(({ report }) => report.daysReopened)).toEqual([0, 0, 0, 0, 0]);
      await expectExactCopy(rig, parseDay('2026-02-25'));
      expect(await rig.value(`${LOOKS} AND settled_at IS NOT NULL`)).toBe(0);
    });

    test('of a service that alternates keeps what is stored, is named, and the run exits with 5', async () => {
      const rig = await afterNights(sqlite, ['2026-02-18', '2026-02-20']);
      // So few days that they are no mass.
      const until = parseDay('2026-01-22');
      const before = await rig.sql('SELECT * FROM activity_daily WHERE date <= ? ORDER BY date', until);
      const exits: number[] = [];
      for (const night of ['2026-02-21', '2026-02-22', '2026-02-23', '2026-02-24', '2026-02-25']) {
        if (exits.length % 2 === 0) alter(rig, ['activity']);
        else honest(rig);
        const { report } = await rig.run({ now: parseDay(night), until });
        exits.push(report.exitCode);
      }
      // One night may be wrong. After the second one it is known to go back and forth.
      expect(exits).toEqual([0, 0, 5, 5, 5]);
      expect(await rig.sql('SELECT * FROM activity_daily WHERE date <= ? ORDER BY date', until)).toEqual(
        before,
      );
      honest(rig);
      const ran = await nights(rig, '2026-02-26', '2026-03-03', { until });
      expect(ran.at(-1)?.report).toMatchObject({ exitCode: 0, unitsUnstable: 0 });
    });
  });
});
