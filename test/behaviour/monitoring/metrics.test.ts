import { statSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, test, vi } from 'vitest';
import { systemClock } from '../../../src/core/clock.ts';
import { parseDay } from '../../../src/core/day.ts';
import { parseRules } from '../../../src/emulator/faults/rules.ts';
import { createMetrics } from '../../../src/serve/metrics/metrics.ts';
import { assessHealth } from '../../../src/status/health.ts';
import { keepOpen } from '../../../src/warehouse/kept-open.ts';
import { archivedRig } from '../../support/archive/archived-rig.ts';
import { backUpTo, testOf } from '../../support/backup/run-backup.ts';
import { metricsOf, seriesIn, seriesWith } from '../../support/monitoring/read-metrics.ts';
import { daywalkInProcess } from '../../support/process/daywalk-in-process.ts';
import { CANARY_KEY } from '../../support/rig/canary-key.ts';
import { exportedRig, settledRig } from '../../support/rig/exported-rig.ts';
import { contextOf, createRig, rigOver } from '../../support/rig/rig.ts';
import { tempFile } from '../../support/suite/temp-dir.ts';
import { lie } from '../../support/trust/run-nights.ts';
import { onEachDatabase, open } from '../../support/warehouse/each-database.ts';
import { sqlite } from '../../support/warehouse/sqlite-place.ts';

const TODAY = parseDay('2026-01-24');
const SMALL = { today: TODAY, users: 5, reports: 2 };
const LATER = new Date('2026-01-24T05:00:00Z');
const BEFORE = parseDay('2026-01-23');
const secondsOf = (instant: string) => Date.parse(instant) / 1000;

const failing = (stream: string, day: string, status = 422) =>
  parseRules([{ match: { stream, day }, action: { type: 'status', status } }]);

onEachDatabase((database) => {
  describe('the metrics', () => {
    test('of a complete export are those of the ledger', async () => {
      const rig = await createRig(SMALL, { database });
      const { report } = await rig.run();
      const text = await metricsOf(rig);
      const successes = Object.values(seriesWith(text, 'daywalk_last_success_timestamp_seconds'));
      expect(successes).toEqual(Array(6).fill(secondsOf('2026-01-24T03:00:00Z')));
      const states = await rig.sql<{ state: string; units: number }>(
        "SELECT state, COUNT(*) AS units FROM export_units WHERE stream = 'users' GROUP BY state",
      );
      expect(states.length).toBeGreaterThan(0);
      const units = states.map((each) => [`daywalk_units{stream="users",state="${each.state}"}`, each.units]);
      expect(seriesWith(text, 'daywalk_units', 'stream="users"')).toMatchObject({
        ...Object.fromEntries(units),
        'daywalk_units{stream="users",state="pending"}': 0,
      });
      expect(seriesWith(text, 'daywalk_oldest_unsettled')).toEqual({
        // History settles on the third night.
        'daywalk_oldest_unsettled_day_timestamp_seconds{}': secondsOf('2026-01-14T00:00:00Z'),
      });
      expect(seriesWith(text, 'daywalk_holes')).toEqual({ 'daywalk_holes{}': 0 });
      expect(seriesWith(text, 'daywalk_last_run_exit_code')).toEqual({ 'daywalk_last_run_exit_code{}': 0 });
      expect(seriesWith(text, 'daywalk_rows_written_total')).toEqual({
        'daywalk_rows_written_total{}': report.rowsWritten,
      });
      expect(report.requests).toBeGreaterThan(5);
      expect(seriesWith(text, 'daywalk_http_requests_total')).toEqual({
        'daywalk_http_requests_total{status="200"}': report.requests,
        'daywalk_http_requests_total{status="none"}': 0,
      });
    });

    test('tell the size and the age of the archive, and of an erasure that is not complete', {
      tags: 'ci/rare',
    }, async () => {
      const rig = await archivedRig({ ...SMALL, today: '2026-01-24' }, database);
      await rig.run();
      const id = await rig.value('SELECT archive_id FROM archives');
      const before = seriesIn(await metricsOf(rig));
      expect(before.get(`daywalk_archive_bytes{archive="${id}"}`)).toBe(
        statSync(join(rig.folder, 'archive.db')).size,
      );
      expect(before.get(`daywalk_archive_last_run_timestamp_seconds{archive="${id}"}`)).toBe(
        secondsOf('2026-01-24T03:00:00Z'),
      );
      expect(before.get('daywalk_pending_erasures{}') ?? before.get('daywalk_pending_erasures')).toBe(0);
      // An interrupted erasure leaves its plan.
      await rig.place.execute(
        "INSERT INTO export_state (org_id, name, value) VALUES (?, 'erasure', '{}')",
        rig.emulator.orgId,
      );
      // Another machine has its archive at the same path: its size is not known here.
      const other = 'f0000000-0000-4000-8000-000000000000';
      await rig.place.execute(
        `INSERT INTO archives SELECT '${other}', place, marks, lost, first_met_at, '2026-01-20T03:00:00.000Z', ended_at FROM archives`,
      );
      const after = seriesIn(await metricsOf(rig));
      expect(after.get('daywalk_pending_erasures{}') ?? after.get('daywalk_pending_erasures')).toBe(1);
      expect([...after.keys()].filter((name) => name.includes(other))).toEqual([
        `daywalk_archive_last_run_timestamp_seconds{archive="${other}"}`,
      ]);
    });

    test('show days that nobody pulled as pending, and as holes three days after their end', async () => {
      const rig = await createRig(SMALL, { database });
      await rig.run({ now: parseDay('2026-01-21') });
      const before = await metricsOf(rig, { now: parseDay('2026-01-24') });
      expect(seriesWith(before, 'stream="tools",state="pending"')).toEqual({
        'daywalk_units{stream="tools",state="pending"}': 3,
      });
      expect(seriesWith(before, 'daywalk_holes')).toEqual({ 'daywalk_holes{}': 0 });
      const after = await metricsOf(rig, { now: parseDay('2026-01-25') });
      expect(seriesWith(after, 'daywalk_holes')).toEqual({ 'daywalk_holes{}': 1 });
      expect(seriesWith(after, 'daywalk_last_success', 'tools')).toEqual(
        seriesWith(before, 'daywalk_last_success', 'tools'),
      );
    });

    test('of a run in which a stream failed keep the earlier success of that stream', {
      tags: 'ci/rare',
    }, async () => {
      const rig = await exportedRig(SMALL, { database }, { now: BEFORE });
      rig.emulator.setRules(failing('tools', '2026-01-23'));
      const { report } = await rig.run();
      expect(report).toMatchObject({ exitCode: 4, completed: expect.not.arrayContaining(['tools']) });
      const text = await metricsOf(rig);
      expect(seriesWith(text, 'daywalk_last_success')).toMatchObject({
        'daywalk_last_success_timestamp_seconds{stream="tools"}': secondsOf('2026-01-23T03:00:00Z'),
        'daywalk_last_success_timestamp_seconds{stream="users"}': secondsOf('2026-01-24T03:00:00Z'),
      });
      expect(report.responses['422']).toBeGreaterThan(0);
      expect(seriesWith(text, 'status="422"')).toEqual({
        'daywalk_http_requests_total{status="422"}': report.responses['422'],
      });
      expect(seriesWith(text, 'daywalk_last_run_exit_code')).toEqual({ 'daywalk_last_run_exit_code{}': 4 });
      expect(seriesWith(text, 'tools', 'failed')).toEqual({
        'daywalk_units{stream="tools",state="failed"}': 1,
      });
    });

    test('count no run as a success that ended before yesterday, or before it knew the organization', {
      tags: 'ci/rare',
    }, async () => {
      const rig = await exportedRig(SMALL, { database }, { now: BEFORE });
      const before = seriesWith(await metricsOf(rig), 'daywalk_last_success');
      await rig.run({ until: parseDay('2026-01-20') });
      await rig.run({ settings: { apiKey: 'another-key' }, clock: systemClock(LATER) });
      const text = await metricsOf(rig, { now: parseDay('2026-01-25') });
      expect(seriesWith(text, 'daywalk_last_success')).toEqual(before);
      expect(seriesWith(text, 'daywalk_last_run_exit_code')).toEqual({ 'daywalk_last_run_exit_code{}': 3 });
      expect(seriesWith(text, 'status="401"')).toEqual({ 'daywalk_http_requests_total{status="401"}': 1 });
    });

    test('say of the last run what health says: a backfill does not count', { tags: 'ci/rare' }, async () => {
      const rig = await exportedRig(SMALL, { database }, { now: BEFORE });
      await rig.run({ settings: { apiKey: 'another-key' } });
      const later = systemClock(new Date('2026-01-24T04:00:00Z'));
      const { report } = await rig.run({ command: 'backfill', force: true, clock: later });
      expect(report.exitCode).toBe(0);
      const health = await assessHealth(await open(rig.place), { now: LATER, isRunning: false });
      expect(health.reason).toBe('the last run ended with exit code 3');
      expect(seriesWith(await metricsOf(rig), 'daywalk_last_run_exit_code')).toEqual({
        'daywalk_last_run_exit_code{}': 3,
      });
    });

    test('say of the last run what health says: one that a clock ahead has recorded is not the last', {
      tags: 'ci/rare',
    }, async () => {
      const rig = await exportedRig(SMALL, { database });
      const clock = systemClock(new Date('2026-02-20T03:00:00Z'));
      expect((await rig.run({ settings: { apiKey: 'another-key' }, clock })).report.exitCode).toBe(3);
      const health = await assessHealth(await open(rig.place), { now: LATER, isRunning: false });
      expect(health.healthy).toBe(true);
      expect(seriesWith(await metricsOf(rig), 'daywalk_last_run')).toEqual({
        'daywalk_last_run_exit_code{}': 0,
        'daywalk_last_run_end_timestamp_seconds{}': secondsOf('2026-01-24T03:00:00Z'),
      });
    });

    test('count doubted units, restatements, and records in quarantine until they are accepted', {
      tags: 'ci/rare',
    }, async () => {
      const rig = await createRig(SMALL, { database });
      const operations = [{ op: 'set' as const, path: '/data/0/tool_calls', value: 'many' }];
      const match = { stream: 'users' as const, day: parseDay('2026-01-15') };
      rig.emulator.setRules([{ id: 'fault', match, action: { type: 'patch', operations } }]);
      await rig.run({ now: BEFORE });
      const quarantined = async () => seriesWith(await metricsOf(rig), 'quarantined_records', 'users');
      expect(await quarantined()).toEqual({ 'daywalk_quarantined_records{stream="users"}': 1 });
      const highest = async () => Object.keys(seriesWith(await metricsOf(rig), 'daywalk_highest_open_state'));
      expect(await highest()).toEqual(['daywalk_highest_open_state{state="quarantined"}']);
      expect(seriesWith(await metricsOf(rig), 'daywalk_open', 'quarantined')).toMatchObject({
        'daywalk_open{state="quarantined"}': 1,
      });
      await daywalkInProcess(['quarantine', 'accept', '--all', '--warehouse', rig.path]);
      expect(await quarantined()).toEqual({ 'daywalk_quarantined_records{stream="users"}': 0 });
      expect(await highest()).toEqual(['daywalk_highest_open_state{state="first-looks"}']);
      rig.emulator.setRules([]);
      lie(rig, { lateDays: [parseDay('2026-01-22')] });
      await rig.run();
      const text = await metricsOf(rig);
      expect(seriesWith(text, 'doubted', 'users')).toEqual({
        'daywalk_units{stream="users",state="doubted"}': 1,
      });
      const [restated] = await rig.column<number>("SELECT COUNT(*) FROM restatements WHERE stream = 'users'");
      expect(restated).toBeGreaterThan(0);
      expect(seriesWith(text, 'restatements_total', 'users')).toEqual({
        'daywalk_restatements_total{stream="users"}': restated,
      });
    });

    test('know the last backup and the last test of a restore once there was one', {
      tags: 'ci/rare',
    }, async () => {
      const rig = await exportedRig(SMALL, { database });
      expect(seriesWith(await metricsOf(rig), 'backup')).toEqual({});
      const file = tempFile('backup.db');
      await backUpTo(rig, file);
      const backup = { daywalk_last_backup_timestamp_seconds: secondsOf('2026-01-24T03:00:00Z') };
      expect(seriesWith(await metricsOf(rig), 'backup')).toEqual(backup);
      expect(seriesWith(await metricsOf(rig), 'restore_test')).toEqual({});
      expect((await testOf(rig, file)).exitCode).toBe(0);
      expect(seriesWith(await metricsOf(rig), 'restore_test')).toEqual({
        daywalk_last_restore_test_timestamp_seconds: secondsOf('2026-01-24T03:00:00Z'),
      });
    });

    test('count teams by the state of their budgets', { tags: 'ci/rare' }, async () => {
      const rig = await settledRig(SMALL, { database });
      const { orgId } = rig.emulator;
      const states = async () => {
        const series = Object.entries(seriesWith(await metricsOf(rig), 'daywalk_budgets'));
        return series.flatMap(([name, teams]) => (teams > 0 ? [`${name} ${teams}`] : []));
      };
      const counted = (status: string) => `daywalk_budgets{status="${status}"} 1`;
      const budget = (team: string, amount: number) =>
        rig.place.execute(
          "INSERT INTO budgets (org_id, month, team, amount, currency) VALUES (?, '2026-01', ?, ?, 'EUR')",
          ...[orgId, team, amount],
        );
      const team = (await rig.value('SELECT MIN(team) FROM month_forecast')) ?? '';
      await budget(team, 1);
      expect(await states()).toEqual([counted('no price')]);
      await rig.place.execute(
        "INSERT INTO prices (org_id, valid_from, valid_to, currency, price_per_million) VALUES (?, '2026-01-01', NULL, 'EUR', 1000000)",
        orgId,
      );
      expect(await states()).toEqual([counted('over budget')]);
      await budget('a team of nobody', 1);
      expect(await states()).toEqual([counted('ok'), counted('over budget')]);
      const cost = Number(await rig.value('SELECT SUM(cost) FROM cost_daily'));
      await rig.place.execute('UPDATE budgets SET amount = ? WHERE team = ?', cost + 1, team);
      expect(await states()).toEqual([counted('ok'), counted('forecast over budget')]);
      await rig.place.execute('DELETE FROM budgets');
      expect(await states()).toEqual([]);
    });

    test('judge budgets again once an event closes working days', { tags: 'ci/rare' }, async () => {
      const rig = await settledRig(SMALL, { database });
      const { orgId } = rig.emulator;
      await rig.place.execute(
        "INSERT INTO prices (org_id, valid_from, valid_to, currency, price_per_million) VALUES (?, '2026-01-01', NULL, 'EUR', 1)",
        orgId,
      );
      const team = (await rig.value<string>('SELECT MIN(team) FROM month_forecast')) ?? '';
      const cost = Number(await rig.value('SELECT SUM(cost) FROM cost_daily'));
      await rig.place.execute(
        "INSERT INTO budgets (org_id, month, team, amount, currency) VALUES (?, '2026-01', ?, ?, 'EUR')",
        ...[orgId, team, cost * 1.01],
      );
      const { clock } = contextOf(TODAY);
      const kept = keepOpen(rig.path, { clock, statementMsMax: 60_000 });
      const metrics = createMetrics({ clock, settings: () => ({}) });
      const over = async () =>
        seriesWith(await metrics.text(kept), 'daywalk_budgets', '"forecast over budget"');
      expect(Object.values(await over())).toEqual([1]);
      // The rest of the month is closed, so nothing more is expected.
      for (let day = 23; day <= 31; day += 1)
        await rig.place.execute(
          `INSERT INTO events (org_id, date, team, text, closed) VALUES (?, ?, '', 'closed', ${database.name === 'SQLite' ? 1 : true})`,
          ...[orgId, `2026-01-${day}`],
        );
      expect(Object.values(await over())).toEqual([0]);
      await kept.close();
    });

    test('of several organizations are told apart by their ids', async () => {
      const rig = await exportedRig(SMALL, { database });
      const other = await createRig({ ...SMALL, seed: 2 });
      await rigOver(other.emulator, rig.place, TODAY).run({
        streams: ['tokens'],
        newOrganization: other.emulator.orgId,
      });
      const [a, b] = [rig.emulator.orgId, other.emulator.orgId];
      const series = seriesIn(await metricsOf(rig));
      const success = (organization: string, stream: string) =>
        series.get(
          `daywalk_last_success_timestamp_seconds{organization="${organization}",stream="${stream}"}`,
        );
      expect([success(a, 'users'), success(b, 'tokens')]).toEqual(
        Array(2).fill(secondsOf('2026-01-24T03:00:00Z')),
      );
      expect(success(b, 'users')).toBe(0);
      expect(series.get(`daywalk_units{organization="${b}",stream="users",state="pending"}`)).toBe(10);
    });

    test('are computed again only after a commit', async () => {
      const rig = await exportedRig(SMALL, { database }, { now: BEFORE });
      const { clock } = contextOf(TODAY);
      const kept = keepOpen(rig.path, { clock, statementMsMax: 60_000 });
      let queries = 0;
      const counting: typeof kept = {
        ...kept,
        read: (work) =>
          kept.read((snapshot, version) => {
            const select: typeof snapshot.select = (query) => {
              queries += 1;
              return snapshot.select(query);
            };
            return work({ ...snapshot, select }, version);
          }),
      };
      const metrics = createMetrics({ clock, settings: () => ({}) });
      const first = await metrics.text(counting);
      expect(queries).toBeGreaterThan(0);
      // On PostgreSQL, a commit in any database of the server counts, and other tests use the same one.
      await vi.waitFor(async () => {
        const asked = queries;
        expect(await metrics.text(counting)).toBe(first);
        expect(queries).toBe(asked);
      }, 120_000);
      await rig.run();
      expect(await metrics.text(counting)).not.toBe(first);
      await kept.close();
    });
  });
});

describe('the metrics', () => {
  test('hold nothing about a person, and no key', async () => {
    const rig = await exportedRig({ ...SMALL, users: 20 });
    const text = await metricsOf(rig);
    const people = await rig.column('SELECT user_id FROM user_daily UNION SELECT user_email FROM user_daily');
    expect(people.length).toBeGreaterThan(10);
    expect(people.filter((person) => text.includes(person))).toEqual([]);
    expect(text).not.toContain('@');
    expect(text).not.toContain(CANARY_KEY);
  });

  test('of a warehouse that does not exist say so, and nothing of the export', async () => {
    const { path, ...rig } = await createRig(SMALL);
    const text = await metricsOf({ ...rig, path: `${path}.missing` });
    expect([...seriesIn(text)].map(([name]) => name.replace(/\{.*/, ''))).toEqual([
      'daywalk_build_info',
      'daywalk_warehouse_readable',
      'daywalk_identity_mismatch',
      'daywalk_lost_runs',
    ]);
    expect(seriesWith(text, 'readable')).toEqual({ daywalk_warehouse_readable: 0 });
  });

  test('of an organization that was never exported show every unit as pending and no success', async () => {
    const rig = await createRig(SMALL);
    await rig.run({ streams: ['readiness'] });
    const text = await metricsOf(rig, { names: ['north'] });
    expect(seriesIn(text).get('daywalk_units{organization="north",stream="users",state="pending"}')).toBe(10);
    expect(
      seriesIn(text).get('daywalk_last_success_timestamp_seconds{organization="north",stream="users"}'),
    ).toBe(0);
  });

  test('escape a hostile name', async () => {
    const rig = await exportedRig(SMALL, { database: sqlite });
    const text = await metricsOf(rig, { names: ['a"b\\c\nd{e="f"} 1'] });
    const line = String.raw`daywalk_holes{organization="a\"b\\c\nd{e=\"f\"} 1"} 7`;
    expect(text.split('\n')).toContain(line);
    expect(text.split('\n').filter((each) => !/^(# |daywalk_|$)/.test(each))).toEqual([]);
  });
});
