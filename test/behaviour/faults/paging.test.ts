// @module-tag campaign/faults
import { describe, expect, test } from 'vitest';
import { createClient } from '../../../src/api/client.ts';
import { shiftDay } from '../../../src/core/day.ts';
import { RULES, type RuleName } from '../../../src/core/errors.ts';
import type { ActionOf } from '../../../src/emulator/faults/action.ts';
import type { Lies, Quirks } from '../../../src/emulator/quirks.ts';
import { hurriedClock } from '../../support/clock/hurried-clock.ts';
import {
  casesFor,
  DAY,
  expectRecovery,
  expectUndisturbed,
  smallRig,
  statesOf,
  walk,
} from '../../support/faults/three-day-walk.ts';
import { json, rawServer } from '../../support/network/raw-server.ts';
import { firings, requestsOf } from '../../support/rig/journal.ts';
import type { Rig } from '../../support/rig/rig.ts';
import { testVariants } from '../../support/suite/variants.ts';
import { onEachDatabase } from '../../support/warehouse/each-database.ts';

const PAGES = { usersLimitCap: 3 } as const;
const users = { stream: 'users', day: DAY } as const;

/** Requests for the users of the day in question. */
function pagesAsked(rig: Rig): number {
  return requestsOf(rig).filter(({ path, query }) => path.endsWith('/users') && query['startDate'] === DAY)
    .length;
}

onEachDatabase((database) => {
  describe('an endless walk over users fails its unit and changes nothing', () => {
    testVariants<readonly [string, ActionOf<'cursor'>['mode']]>(
      casesFor(database, [
        ['G1: a cursor that repeats', 'repeat'],
        ['G1: cursors that cycle', 'cycle'],
        ['G2: has_more with a cursor that is missing', 'missing'],
        ['G2: has_more with a cursor that is null', 'null'],
        ['G2: has_more with a cursor that is empty', 'empty'],
      ]),
    )('%s', { tags: 'ci/rare' }, async (_, mode) => {
      const rig = await smallRig(database, { quirks: PAGES });
      await walk(rig);
      const digest = await rig.digest();
      rig.emulator.setRules([
        { id: 'fault', match: { ...users, page: 2 }, action: { type: 'cursor', mode } },
      ]);
      rig.emulator.resetJournal();
      const { report } = await walk(rig, { force: true });
      expect(firings(rig, 'fault')).toBeGreaterThan(0);
      expect(report).toMatchObject({ exitCode: 4, unitsFailed: 1, unitsLeftOut: 0 });
      // At the first repeat: no page is requested a third time.
      expect(pagesAsked(rig)).toBeLessThanOrEqual(4);
      expect(await rig.digest()).toBe(digest);
      expect((await statesOf(rig, 'users'))[DAY]).toBe('failed');
      await expectRecovery(rig);
    });
  });

  describe('a walk over users with contradictory pages fails its unit and changes nothing', () => {
    testVariants<readonly [string, Lies, RuleName, number]>(
      casesFor(database, [
        ['L3: has_more is missing', { paging: { says: 'flag-missing' } }, 'paging-flags', 1],
        ['L3: has_more is null', { paging: { says: 'flag-null' } }, 'paging-flags', 1],
        [
          'L3: has_more is false beside the cursor to more',
          { paging: { says: 'flag-false' } },
          'paging-flags',
          2,
        ],
        ['L3: has_more is true without a cursor', { paging: { says: 'no-cursor' } }, 'paging-flags', 1],
        [
          'L3: every page is the first, byte for byte',
          { samePage: { says: 'identical' } },
          'repeated-page',
          2,
        ],
        [
          'L3: every page is the first under a new cursor',
          { samePage: { says: 'goes-on' } },
          'repeated-page',
          2,
        ],
        ['L3: the second page is the first and the last', { samePage: { says: 'ends' } }, 'repeated-page', 2],
      ]),
    )('%s', { tags: 'ci/rare' }, async (_, lies, reason, pages) => {
      const rig = await smallRig(database, { quirks: PAGES });
      await walk(rig);
      const digest = await rig.digest();
      rig.emulator.setQuirks({ lies });
      rig.emulator.resetJournal();
      const { report, events } = await walk(rig, { force: true });
      const days = 3;
      expect(report).toMatchObject({ exitCode: 4, unitsFailed: days, unitsLeftOut: 0 });
      const hints = events.flatMap((event) => (event.type === 'unit-failed' ? [event.hint] : []));
      expect(hints).toEqual(Array.from({ length: days }, () => expect.stringContaining(RULES[reason])));
      // One page may be requested ahead, and none twice.
      expect(pagesAsked(rig)).toBeLessThanOrEqual(pages + 1);
      expect(await rig.digest()).toBe(digest);
      rig.emulator.setQuirks({ lies: {} });
      await expectRecovery(rig);
    });

    test('L3: a last page that carries a cursor is confirmed by one request', {
      tags: 'ci/rare',
    }, async () => {
      const rig = await smallRig(database, {
        quirks: { ...PAGES, lies: { paging: { says: 'cursor-at-end' } } },
      });
      const honest = await smallRig(database, { quirks: PAGES });
      expect((await walk(rig)).report).toMatchObject({ exitCode: 0, unitsFailed: 0 });
      await walk(honest);
      expect(pagesAsked(rig)).toBe(pagesAsked(honest) + 1);
      await expectUndisturbed(rig);
    });
  });

  describe('pages of any kind concatenate to the same list', () => {
    testVariants<readonly [string, Partial<Quirks>]>(
      casesFor(database, [
        ['G3: empty pages with has_more', { ...PAGES, emptyPageWithMore: true }],
        ['G4: pages that repeat a record', { ...PAGES, overlappingPages: 'identical' }],
        ['G6: pages of 1', { pageSize: 1 }],
        ['G6: pages of 0, 1 and 2, whatever limit is requested', { pageSize: [1, 2, 0] }],
        ['G6: pages of 1000', { pageSize: 1000 }],
      ]),
    )('%s', async (_, quirks) => {
      const rig = await smallRig(database, { quirks });
      const { report } = await walk(rig);
      expect(report).toMatchObject({ exitCode: 0, quarantined: 0, unitsFailed: 0 });
      const plain = quirks.pageSize === 1000 ? 1 : 2;
      expect(pagesAsked(rig)).toBeGreaterThanOrEqual(plain);
      await expectUndisturbed(rig);
    });
  });

  test('G4: two different versions of a record are both left out, and named', async () => {
    const rig = await smallRig(database, { quirks: { ...PAGES, overlappingPages: 'conflicting' } });
    const { report } = await walk(rig);
    expect(report).toMatchObject({ exitCode: 5, unitsFailed: 0 });
    const ids = await rig.column('SELECT user_id FROM user_daily WHERE date = ? ORDER BY user_id', DAY);
    const named = await rig.column("SELECT record FROM quarantine WHERE stream = 'users' AND date = ?", DAY);
    const plain = await smallRig(database);
    await walk(plain);
    const held = named.map((record) => JSON.parse(String(record)).user_id);
    expect([...new Set([...ids, ...held])].toSorted()).toEqual(
      await plain.column('SELECT user_id FROM user_daily WHERE date = ? ORDER BY user_id', DAY),
    );
    expect(ids.filter((id) => held.includes(id))).toEqual([]);
  });

  testVariants(casesFor(database, ['add-users', 'vanish-users'] as const))(
    'G5: %s between two pages: the next pull makes the day equal to the service',
    { tags: 'ci/again' },
    async (kind) => {
      const rig = await smallRig(database, { quirks: PAGES });
      rig.emulator.setRules([
        {
          id: 'fault',
          match: { ...users, page: 2 },
          when: { count: 1 },
          action: { type: 'revise', revision: { kind, day: DAY, count: 2 } },
        },
      ]);
      expect((await walk(rig)).report.exitCode).toBe(0);
      expect(firings(rig, 'fault')).toBe(1);
      // The re-pull of a day that has not settled; here by force, since these days are long past.
      expect((await walk(rig, { force: true })).report.exitCode).toBe(0);
      const fresh = await smallRig(database, { quirks: PAGES });
      fresh.emulator.revise({ kind, day: DAY, count: 2 });
      await walk(fresh);
      const held = (from: Rig) => from.sql('SELECT * FROM user_daily WHERE date = ? ORDER BY user_id', DAY);
      expect(await held(rig)).toEqual(await held(fresh));
    },
  );

  describe('G7: all readiness reports are stored', () => {
    testVariants<readonly [string, Partial<Quirks>]>(
      casesFor(database, [
        ['G7: over short pages', { readinessLimitCap: 2 }],
        ['G7: in no order', { readinessOrder: 'shuffled', readinessLimitCap: 2 }],
        ['G7: at their other place', { readinessRedirect: '308', readinessLimitCap: 4 }],
      ]),
    )('%s', async (_, quirks) => {
      const rig = await smallRig(database, { quirks });
      expect((await walk(rig)).report.exitCode).toBe(0);
      expect(rig.emulator.journal().byStream['readiness']).toBeGreaterThan(2);
      await expectUndisturbed(rig);
    });

    test('G7: when the report under the cursor is deleted, within bounded requests', {
      tags: 'ci/rare',
    }, async () => {
      const rig = await smallRig(database, { quirks: { readinessLimitCap: 2, unknownCursor: 'reject' } });
      rig.emulator.setRules([
        {
          id: 'fault',
          match: { stream: 'readiness', page: 2 },
          when: { count: 1 },
          action: { type: 'revise', revision: { kind: 'delete-report', reportId: '{{query.startAfter}}' } },
        },
      ]);
      const { report } = await walk(rig);
      expect(firings(rig, 'fault')).toBe(1);
      expect(report.exitCode).toBe(0);
      expect(rig.emulator.journal().byStream['readiness']).toBeLessThan(20);
      // The walk stored the report before it was deleted; the next full pass on another day removes it.
      expect(await rig.value('SELECT COUNT(*) FROM readiness_reports')).toBe(6);
      const clock = hurriedClock(`${shiftDay(rig.today, 1)}T03:00:00Z`);
      expect((await walk(rig, { clock })).report.exitCode).toBe(0);
      expect(await rig.value('SELECT COUNT(*) FROM readiness_reports')).toBe(5);
    });
  });
});

test('L3: an endless walk fails within bounded requests and memory', { tags: 'ci/variant' }, async () => {
  const cursor = 'x'.repeat(4_000);
  const meta = { org_id: 'org_1', start_date: DAY, end_date: DAY, has_more: true };
  const server = await rawServer((socket, { index }) => {
    const data = [{ user_id: `user_${index}`, date: DAY, note: 'y'.repeat(4_000_000) }];
    socket.write(json({ data, meta: { ...meta, next_cursor: `${index} ${cursor}` } }));
  });
  const client = createClient({ apiKey: 'key', baseUrl: server.url });
  const before = process.memoryUsage().rss;
  const drained = (async () => {
    for await (const page of client.users({ startDate: DAY, endDate: DAY }).pages())
      expect(page.data).toHaveLength(1);
  })();
  await expect(drained).rejects.toMatchObject({ name: 'UnitError', reason: 'endless-walk', exitCode: 4 });
  expect(server.requests).toHaveLength(68);
  expect(process.memoryUsage().rss - before).toBeLessThan(512 * 1024 * 1024);
  await client.close();
});
