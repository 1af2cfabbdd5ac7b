import { describe, expect, test } from 'vitest';
import type { CursorAction } from '../../src/emulator/faults/action.ts';
import type { Quirks } from '../../src/emulator/quirks.ts';
import { onEachDatabase } from '../support/database.ts';
import { firings, requestsOf } from '../support/journal.ts';
import type { Rig } from '../support/rig.ts';
import { casesFor, DAY, expectCalm, expectRecovery, smallRig, statesOf, walk } from './small.ts';

const PAGES = { usersLimitCap: 3 } as const;
const users = { stream: 'users', day: DAY } as const;

/** Requests for the users of the day in question. */
function pagesAsked(rig: Rig): number {
  return requestsOf(rig).filter(({ path, query }) => path.endsWith('/users') && query['startDate'] === DAY)
    .length;
}

onEachDatabase((database) => {
  describe('a walk of users that cannot end fails its unit and changes nothing of it', () => {
    test.each<readonly [string, CursorAction['mode']]>(
      casesFor(database, [
        ['G1: a cursor that repeats', 'repeat'],
        ['G1: cursors that cycle', 'cycle'],
        ['G2: has_more with a cursor that is missing', 'missing'],
        ['G2: has_more with a cursor that is null', 'null'],
        ['G2: has_more with a cursor that is empty', 'empty'],
      ]),
    )('%s', async (_, mode) => {
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
      // At the first repeat: no page is asked for a third time.
      expect(pagesAsked(rig)).toBeLessThanOrEqual(4);
      expect(await rig.digest()).toBe(digest);
      expect((await statesOf(rig, 'users'))[DAY]).toBe('failed');
      await expectRecovery(rig);
    });
  });

  describe('pages of any kind concatenate to the same list', () => {
    test.each<readonly [string, Partial<Quirks>]>(
      casesFor(database, [
        ['G3: empty pages with has_more', { ...PAGES, emptyPageWithMore: true }],
        ['G4: pages that repeat a record', { ...PAGES, overlappingPages: 'identical' }],
        ['G6: pages of 1', { pageSize: 1 }],
        ['G6: pages of 0, 1 and 2, whatever is asked for', { pageSize: [1, 2, 0] }],
        ['G6: pages of 1000', { pageSize: 1000 }],
      ]),
    )('%s', async (_, quirks) => {
      const rig = await smallRig(database, { quirks });
      const { report } = await walk(rig);
      expect(report).toMatchObject({ exitCode: 0, quarantined: 0, unitsFailed: 0 });
      const plain = quirks.pageSize === 1000 ? 1 : 2;
      expect(pagesAsked(rig)).toBeGreaterThanOrEqual(plain);
      await expectCalm(rig);
    });
  });

  test('G4: a record that comes twice and differs is warned of, and the last one stands', async () => {
    const rig = await smallRig(database, { quirks: { ...PAGES, overlappingPages: 'conflicting' } });
    const { report, events } = await walk(rig);
    expect(report).toMatchObject({ exitCode: 0, unitsFailed: 0 });
    const warnings = events.flatMap((event) => (event.type === 'warning' ? [event.message] : []));
    expect(warnings.join()).toMatch(/twice|differ|again|last/);
    const ids = await rig.column('SELECT user_id FROM user_daily WHERE date = ? ORDER BY user_id', DAY);
    const plain = await smallRig(database);
    await walk(plain);
    expect(ids).toEqual(
      await plain.column('SELECT user_id FROM user_daily WHERE date = ? ORDER BY user_id', DAY),
    );
  });

  test.each(casesFor(database, ['add-users', 'vanish-users'] as const))(
    'G5: %s between two pages ends as the service has it once it is pulled again',
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

  describe('G7: the readiness reports are whole', () => {
    test.each<readonly [string, Partial<Quirks>]>(
      casesFor(database, [
        ['G7: over short pages', { readinessLimitCap: 2 }],
        ['G7: in no order', { readinessOrder: 'shuffled', readinessLimitCap: 2 }],
        ['G7: at their other place', { readinessRedirect: '308', readinessLimitCap: 4 }],
      ]),
    )('%s', async (_, quirks) => {
      const rig = await smallRig(database, { quirks });
      expect((await walk(rig)).report.exitCode).toBe(0);
      expect(rig.emulator.journal().byStream['readiness']).toBeGreaterThan(2);
      await expectCalm(rig);
    });

    test('G7: when the report under the cursor is deleted, in a bounded number of requests', async () => {
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
      expect(await rig.value('SELECT COUNT(*) FROM readiness_reports')).toBe(5);
    });
  });
});
