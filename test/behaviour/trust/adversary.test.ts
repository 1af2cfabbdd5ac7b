// @module-tag ci/again

import { describe, expect, test } from 'vitest';
import { parseDay, shiftDay } from '../../../src/core/day.ts';
import type { DailyStream } from '../../../src/core/stream.ts';
import { daywalkInProcess } from '../../support/process/daywalk-in-process.ts';
import { createRig, type Ran, type Rig } from '../../support/rig/rig.ts';
import { type Adversary, type SentRow, startAdversary } from '../../support/trust/adversary.ts';
import { type Database, onEachDatabase } from '../../support/warehouse/each-database.ts';

const FIRST = parseDay('2026-02-18');
/** Young enough to be pulled again in the second night. */
const YOUNG = parseDay('2026-02-17');

interface World {
  readonly rig: Rig;
  readonly service: Adversary;
  /** The run of a night, the first one being night 0. All reports are read in each. */
  night(number: number): Promise<Ran>;
}

async function world(database: Database): Promise<World> {
  const rig = await createRig({ users: 1, reports: 0 }, { database });
  const service = await startAdversary(FIRST);
  const night = (number: number) => {
    const now = shiftDay(FIRST, number);
    service.lastDay = shiftDay(now, -1);
    const settings = { baseUrl: service.url, appUrl: service.url };
    return rig.run({ now, settings, force: false });
  };
  return { rig, service, night };
}

/** A lie about the rows of one stream on the young day. */
function about(stream: DailyStream, change: (row: SentRow) => readonly SentRow[]) {
  return {
    rows: (asked: DailyStream, rows: readonly SentRow[]) =>
      rows.flatMap((row) => (asked === stream && row['date'] === YOUNG ? change(row) : [row])),
  };
}

const stored = (rig: Rig, table: string) =>
  rig.sql(`SELECT * FROM ${table} WHERE date = '${YOUNG}' ORDER BY 1, 2, 3`);

const inQuarantine = (rig: Rig) =>
  rig.sql<Record<string, string>>('SELECT stream, reason, record FROM quarantine ORDER BY record_sha256');

onEachDatabase((database) => {
  describe('an adversary with a service of its own', () => {
    test('that contradicts itself about a user does not decide which of its values is stored', async () => {
      const { rig, service, night } = await world(database);
      expect((await night(0)).report.exitCode).toBe(0);
      const before = await stored(rig, 'user_daily');
      service.lie = about('users', (row) =>
        row['user_id'] === 'ben' ? [row, { ...row, tool_calls: 900 }] : [row],
      );
      expect((await night(1)).report.exitCode).toBe(5);
      expect(await stored(rig, 'user_daily')).toEqual(before);
      const [named, ...others] = await inQuarantine(rig);
      expect(others).toEqual([]);
      expect(named).toMatchObject({
        stream: 'users',
        reason: 'the same user came twice with different values',
        record: expect.stringContaining('"ben"'),
      });
      service.lie = {};
      expect((await night(2)).report.exitCode).toBe(0);
      expect(await inQuarantine(rig)).toEqual([]);
    });

    test.each<readonly [string, string]>([
      ['another organization', 'org_other'],
      ['the other users of another organization, under the same name,', 'org_own'],
    ])('that answers for %s stores nothing, and is believed again afterwards', async (_, orgId) => {
      const { rig, service, night } = await world(database);
      await night(0);
      const before = await rig.digest();
      service.lie = {
        orgId,
        rows: (stream, rows) =>
          rows.map((row) => (stream === 'users' ? { ...row, user_id: `other-${row['user_id']}` } : row)),
      };
      for (const number of [1, 2]) expect((await night(number)).report.exitCode).toBe(5);
      expect(await rig.digest()).toBe(before);
      expect(await rig.column('SELECT DISTINCT org_id FROM export_units')).toEqual(['org_own']);
      service.lie = {};
      expect((await night(3)).report.exitCode).toBe(0);
      expect(await rig.digest()).not.toBe(before);
    });

    test('that leaves out half of the reports for a night deletes none', async () => {
      const { rig, service, night } = await world(database);
      await night(0);
      const reports = () => rig.value<number>('SELECT COUNT(*) FROM readiness_reports');
      // A week later, every report is read again.
      service.lie = { reports: (all) => all.slice(6) };
      const lying = await night(7);
      expect(lying.report.exitCode).toBe(0);
      expect(lying.events).toContainEqual(
        expect.objectContaining({ message: expect.stringContaining('lacks 6 of 12 stored reports') }),
      );
      expect(await reports()).toBe(12);
      service.lie = {};
      await night(8);
      // Only the second night in a row that lacks them would have deleted them.
      service.lie = { reports: (all) => all.slice(6) };
      await night(15);
      expect(await reports()).toBe(12);
      await night(16);
      expect(await reports()).toBe(6);
    });

    test('that has no data in the first nights settles no day', async () => {
      const { rig, service, night } = await world(database);
      service.lie = { rows: () => [] };
      const settled = () =>
        rig.value<number>(
          "SELECT COUNT(*) FROM export_units WHERE stream <> 'readiness' AND settled_at IS NOT NULL",
        );
      for (const number of [0, 1, 2]) {
        expect((await night(number)).report.exitCode).toBe(0);
        expect(await settled()).toBe(0);
      }
      const status = await daywalkInProcess(['status', '--warehouse', rig.path], {
        env: { DAYWALK_NOW: '2026-02-20T09:00:00Z' },
      });
      expect(status.stdout).toContain('no activity has ever been seen since 2026-01-14');
      service.lie = {};
      expect((await night(3)).report.exitCode).toBe(0);
      expect(await rig.value("SELECT COUNT(*) FROM export_units WHERE state IN ('empty', 'awaiting')")).toBe(
        0,
      );
    });

    test.each<readonly [string, DailyStream, string, (row: SentRow) => SentRow]>([
      ['p50 above p90', 'tools', 'tools_daily', (row) => ({ ...row, autonomy_ratio_p50: 3 })],
      ['more user messages than messages', 'users', 'user_daily', (row) => ({ ...row, user_messages: 11 })],
      [
        'more users of a client than of the day',
        'activity',
        'activity_daily_by_client',
        (row) => ({ ...row, daily_active_users_by_client: { web: 5 } }),
      ],
    ])('that sends %s stores nothing of it', async (_, stream, table, change) => {
      const { rig, service, night } = await world(database);
      await night(0);
      const before = await stored(rig, table);
      expect(before.length).toBeGreaterThan(0);
      service.lie = about(stream, (row) => [change(row)]);
      expect((await night(1)).report.exitCode).toBe(5);
      expect(await stored(rig, table)).toEqual(before);
      expect((await inQuarantine(rig)).map((record) => record['stream'])).toContain(stream);
      expect((await daywalkInProcess(['verify', '--warehouse', rig.path])).code).toBe(0);
    });

    test('that sends 5 of 2 criteria raises no score above 1', async () => {
      const { rig, service, night } = await world(database);
      service.lie = {
        reports: (all) =>
          all.map((report) => ({ ...report, report: { readme: { numerator: 5, denominator: 2 } } })),
      };
      expect((await night(0)).report.exitCode).toBe(5);
      expect(await rig.value('SELECT COUNT(*) FROM readiness_report_criteria')).toBe(0);
      expect(await rig.column('SELECT score FROM readiness_latest WHERE score > 1')).toEqual([]);
      service.lie = {};
      expect((await night(1)).report.exitCode).toBe(0);
      expect(await rig.value('SELECT COUNT(*) FROM readiness_report_criteria')).toBe(12);
    });
  });
});
