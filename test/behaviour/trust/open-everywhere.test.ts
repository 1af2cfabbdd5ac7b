import { describe, expect, test } from 'vitest';
import { parseDay, shiftDay } from '../../../src/core/day.ts';
import { EXIT, worstExit } from '../../../src/core/exit-code.ts';
import { metricsOf, seriesWith } from '../../support/monitoring/read-metrics.ts';
import { daywalkInProcess } from '../../support/process/daywalk-in-process.ts';
import { envOf } from '../../support/process/daywalk-process.ts';
import { exportedRig } from '../../support/rig/exported-rig.ts';
import { createRig, type Rig, rigOver } from '../../support/rig/rig.ts';
import { type Database, onEachDatabase } from '../../support/warehouse/each-database.ts';
import { insertRows } from '../../support/warehouse/insert-rows.ts';

const TODAY = parseDay('2026-01-20');
const YESTERDAY = shiftDay(TODAY, -1);

/** A warehouse of which a user of a day is in quarantine. */
async function withBrokenUser(database: Database, day = YESTERDAY): Promise<Rig> {
  const rig = await createRig({ today: TODAY, users: 4, reports: 0 }, { database });
  const operations = [{ op: 'set' as const, path: '/data/0/tool_calls', value: 'many' }];
  rig.emulator.setRules([{ match: { stream: 'users', day }, action: { type: 'patch', operations } }]);
  expect((await rig.run({ streams: undefined })).report).toMatchObject({ exitCode: 5, quarantined: 1 });
  return rig;
}

async function rememberWatch(rig: Rig, name: string, noted: object): Promise<void> {
  const value = JSON.stringify({ olderFrom: null, heavyOn: null, ...noted });
  await rig.place.execute('DELETE FROM export_state WHERE name = ?', name);
  await insertRows(rig.place, 'export_state', [{ org_id: rig.emulator.orgId, name, value }]);
}

async function statusOf(rig: Rig) {
  const env = envOf(rig, { DAYWALK_NOW: `${rig.today}T09:00:00Z` });
  const { stdout } = await daywalkInProcess(['status', '--json'], { env });
  const { open, highest } = JSON.parse(stdout).organizations[0];
  const codes = open.map(({ exitCode }: { exitCode: 0 | 5 }) => exitCode);
  return { open, highest, exitCode: worstExit(codes) };
}

onEachDatabase((database) => {
  describe('a run and status say the same of records in quarantine', () => {
    test('if the service answers no request', async () => {
      const rig = await withBrokenUser(database);
      rig.emulator.setRules([{ match: {}, action: { type: 'status', status: 503 } }]);
      const { report } = await rig.run({ streams: undefined, settings: { attempts: 1 } });
      expect(await statusOf(rig)).toMatchObject({ highest: 'quarantined', exitCode: 5 });
      expect(report.exitCode).toBe(EXIT.quarantine);
    });

    test('if the service does not answer, beside another organization, by the key', {
      tags: 'ci/rare',
    }, async () => {
      const rig = await withBrokenUser(database);
      const other = await createRig({ today: TODAY, users: 4, reports: 0, orgId: 'org_z', apiKey: 'z-key' });
      const { report: stored } = await rigOver(other.emulator, rig.place, TODAY).run({
        settings: { orgId: 'org_z' },
      });
      expect(stored).toMatchObject({ orgId: 'org_z', exitCode: 0 });
      rig.emulator.setRules([{ match: {}, action: { type: 'status', status: 503 } }]);
      const { report } = await rig.run({ settings: { attempts: 1 } });
      expect(report.exitCode).toBe(EXIT.quarantine);
    });

    test('if a service whose clock is behind refuses their day as too early', {
      tags: 'ci/rare',
    }, async () => {
      const rig = await withBrokenUser(database);
      const { emulator } = await createRig({ today: YESTERDAY, users: 4, reports: 0 }, { database });
      const { report } = await rigOver(emulator, rig.place, TODAY).run({ streams: undefined });
      expect(await statusOf(rig)).toMatchObject({ highest: 'quarantined', exitCode: 5 });
      expect(report).toMatchObject({ exitCode: 5, unitsFailed: 0 });
    });

    test('of a day before a later first day', async () => {
      const rig = await withBrokenUser(database, parseDay('2026-01-15'));
      const { report } = await rig.run({
        streams: undefined,
        settings: { firstDay: parseDay('2026-01-17') },
      });
      expect([(await statusOf(rig)).exitCode, report.exitCode]).toEqual([0, 0]);
      const text = await metricsOf(rig);
      expect(Object.values(seriesWith(text, 'daywalk_open', 'quarantined'))).toEqual([0]);
      expect(Object.values(seriesWith(text, 'quarantined_records', 'users'))).toEqual([0]);
    });

    test('of the readiness reports, if the requests are spent before their list ends', async () => {
      const rig = await createRig(
        { today: TODAY, users: 4, reports: 6, quirks: { readinessLimitCap: 2 } },
        { database },
      );
      const operations = [{ op: 'set' as const, path: '/reports/0/createdAt', value: 'never' }];
      rig.emulator.setRules([
        { match: { stream: 'readiness' }, when: { nth: 1 }, action: { type: 'patch', operations } },
      ]);
      const settings = { orgId: rig.emulator.orgId, maxRequests: 2, watchDays: 0 };
      const { report } = await rig.run({ streams: ['readiness'], settings });
      expect(await statusOf(rig)).toMatchObject({ highest: 'quarantined', exitCode: 5 });
      expect(report).toMatchObject({ exitCode: 5, unitsLeftOut: 1 });
    });
  });

  describe('a run and status say the same of many days that differ at once', () => {
    const remember = (rig: Rig, name: string, since: string) =>
      rememberWatch(rig, name, { mass: { since, days: 20, first: '2026-01-14', last: '2026-01-18' } });

    test('after a run that compares nothing', { tags: 'ci/rare' }, async () => {
      const rig = await exportedRig({ today: TODAY, users: 4, reports: 0 }, { database });
      await remember(rig, 'watch', YESTERDAY);
      const { report } = await rig.run({ streams: undefined, force: true });
      expect(await statusOf(rig)).toMatchObject({ highest: 'mass', exitCode: 5 });
      expect(report.exitCode).toBe(5);
    });

    test('if the service answers no request', async () => {
      const rig = await exportedRig({ today: TODAY, users: 4, reports: 0 }, { database });
      await remember(rig, 'watch', YESTERDAY);
      rig.emulator.setRules([{ match: {}, action: { type: 'status', status: 503 } }]);
      const { report } = await rig.run({ streams: undefined, settings: { attempts: 1 } });
      expect(await statusOf(rig)).toMatchObject({ highest: 'mass', exitCode: 5 });
      expect(report.exitCode).toBe(5);
    });

    test('which only another job over some of its streams has seen', async () => {
      const rig = await exportedRig({ today: TODAY, users: 4, reports: 0 }, { database });
      await remember(rig, 'watch activity', YESTERDAY);
      rig.emulator.setRules([{ match: {}, action: { type: 'status', status: 503 } }]);
      const down = await rig.run({ streams: undefined, settings: { attempts: 1 } });
      expect(await statusOf(rig)).toMatchObject({ highest: 'mass', exitCode: 5 });
      expect(down.report.exitCode).toBe(5);
      rig.emulator.setRules([]);
      // No settled day differs any more.
      const { report } = await rig.run({ streams: undefined });
      expect(await statusOf(rig)).toMatchObject({ exitCode: 0 });
      expect(report.exitCode).toBe(0);
    });

    test('beside another job, of which many days once differed', async () => {
      const rig = await exportedRig({ today: TODAY, users: 4, reports: 0 }, { database });
      await remember(rig, 'watch', YESTERDAY);
      await remember(rig, 'watch activity', '2025-12-01');
      expect(await statusOf(rig)).toMatchObject({ highest: 'mass', exitCode: 5 });
    });
  });

  describe('status lists the looks for which the last run had no requests', () => {
    const leftOut = async (rig: Rig, today = TODAY) => {
      const env = envOf(rig, { DAYWALK_NOW: `${today}T09:00:00Z` });
      const { stdout } = await daywalkInProcess(['status', '--json'], { env });
      const { open } = JSON.parse(stdout).organizations[0];
      return open.find(({ state }: { state: string }) => state === 'left-out')?.count ?? 0;
    };
    const few = { maxRequests: 2 };
    const begun = () => exportedRig({ today: TODAY, users: 4, reports: 0 }, { database }, { now: YESTERDAY });

    test.each([{ watchDays: 31 }, { watchDays: 0 }])(
      'until one has enough, with %o',
      { tags: 'ci/variant' },
      async (settings) => {
        const rig = await begun();
        await rig.run({ settings: { ...settings, ...few } });
        expect(await leftOut(rig)).toBeGreaterThan(0);
        const tomorrow = shiftDay(TODAY, 1);
        await rig.run({ settings, now: tomorrow });
        expect(await leftOut(rig, tomorrow)).toBe(0);
      },
    );

    test('until a run over more streams has asked for them', async () => {
      const rig = await begun();
      await rig.run({ streams: ['tools', 'activity'], settings: few });
      expect(await leftOut(rig)).toBeGreaterThan(0);
      await rig.run();
      expect(await leftOut(rig)).toBe(0);
    });

    test('unless their streams are no longer expected', async () => {
      const rig = await begun();
      await rig.run({ streams: ['tools', 'activity'], settings: few });
      await rig.run({ settings: { streams: ['activity', 'users'] } });
      expect(await leftOut(rig)).toBe(0);
    });

    test('also after a run over other streams or later days', async () => {
      const rig = await begun();
      await rig.run({ settings: few });
      const left = await leftOut(rig);
      expect(left).toBeGreaterThan(0);
      await rig.run({ streams: ['tools', 'activity'] });
      await rig.run({ from: YESTERDAY });
      expect(await leftOut(rig)).toBe(left);
    });

    test.each(['watch', 'watch tools activity'])(
      'also after a run over the recent days, which asks for none of the older ones of %s',
      async (name) => {
        const rig = await exportedRig({ today: TODAY, users: 4, reports: 0 }, { database });
        const [first, last] = ['2026-01-14', '2026-01-15'];
        await rememberWatch(rig, name, { leftOut: { since: YESTERDAY, units: 7, first, last } });
        const settings = { watchDays: 3 };
        await rig.run({ from: parseDay('2026-01-17'), settings });
        expect(await leftOut(rig)).toBe(7);
        await rig.run({ settings });
        expect(await leftOut(rig)).toBe(0);
      },
    );
  });
});
