import { readFile, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { describe, expect, test } from 'vitest';
import { parseDay } from '../../../src/core/day.ts';
import { STREAMS } from '../../../src/core/stream.ts';
import { parseRules } from '../../../src/emulator/faults/rules.ts';
import { readProvenance } from '../../../src/metrics/provenance.ts';
import { backUpTo } from '../../support/backup/run-backup.ts';
import { FakeClock } from '../../support/clock/fake-clock.ts';
import { serve } from '../../support/dashboard/serve.ts';
import { metricsOf, seriesWith } from '../../support/monitoring/read-metrics.ts';
import { daywalkInProcess, type EndedHere } from '../../support/process/daywalk-in-process.ts';
import { envOf } from '../../support/process/daywalk-process.ts';
import { createRig, type Ran, type Rig, type RunRequest } from '../../support/rig/rig.ts';
import { tempDir } from '../../support/suite/temp-dir.ts';
import { lie } from '../../support/trust/run-nights.ts';
import { onEachDatabase, open } from '../../support/warehouse/each-database.ts';

const today = parseDay('2026-01-24');
const SMALL = { today, users: 4, reports: 2 };

/** A run as the command line makes it without flags. */
const plain = (rig: Rig, request: RunRequest = {}): Promise<Ran> =>
  rig.run({ streams: undefined, ...request });

/** A command at 04:00 of the day of the runs, or at another instant. */
const at = (rig: Rig, args: string, now = '2026-01-24T04:00:00Z'): Promise<EndedHere> =>
  daywalkInProcess(args.split(' '), { env: envOf(rig, { DAYWALK_NOW: now }) });

const healthOf = async (rig: Rig, now?: string): Promise<string> =>
  (await at(rig, 'status --health', now)).stdout;

async function statusOf(rig: Rig, now?: string) {
  const { organizations } = JSON.parse((await at(rig, 'status --json', now)).stdout);
  return organizations[0];
}

const holesOf = async (rig: Rig) => Object.values(seriesWith(await metricsOf(rig), 'daywalk_holes'));
const changesIn = ({ events }: Ran) => events.filter(({ type }) => type === 'contract-changed');

const PAGES = ['/', '/adoption', '/models', '/tools', '/output', '/people', '/teams', '/data'];

/** What the days of the queries of a page say, of those that have days. */
const basesIn = (page: string) => [
  ...page.matchAll(
    /data-from="([^"]*)" data-until="[^"]*" data-expected="([1-9]\d*)".*?data-missing="([^"]*)"/g,
  ),
];
const earliestIn = (page: string) =>
  basesIn(page)
    .map(([, from]) => from)
    .toSorted()[0];
const missingIn = (page: string) =>
  [...new Set(basesIn(page).flatMap(([, , , missing = '']) => missing.split(' ')))]
    .filter(Boolean)
    .toSorted();
const textOf = (page: string) => page.replaceAll(/<[^>]*>/g, '').replaceAll(/\s+/g, ' ');

onEachDatabase((database) => {
  describe('the contract', () => {
    test('is not narrowed by --from: the days before stay holes until a plain run, or until a later first day', {
      tags: 'ci/rare',
    }, async () => {
      const rig = await createRig(SMALL, { database });
      const from = parseDay('2026-01-20');
      await plain(rig, { from });
      expect(await holesOf(rig)).toEqual([6]);
      await plain(rig, { from });
      expect(await holesOf(rig)).toEqual([6]);
      expect(await healthOf(rig)).toMatch(/^unhealthy: 6 expected days were never pulled/);
      await plain(rig, { from, settings: { firstDay: from } });
      expect(await holesOf(rig)).toEqual([0]);
      expect(await healthOf(rig)).toMatch(/^healthy: the last complete export/);
      await plain(rig, { from, settings: { firstDay: parseDay('2026-01-14') } });
      expect(await holesOf(rig)).toEqual([6]);
      await plain(rig);
      expect(await holesOf(rig)).toEqual([0]);
      expect(await healthOf(rig)).toMatch(/^healthy: the last complete export/);
    });

    test('is not narrowed by --streams: such a run is no complete export for anybody; of a contract of these streams it is one', async () => {
      const rig = await createRig(SMALL, { database });
      const streams = ['tokens', 'users'] as const;
      await plain(rig, { streams });
      const late = '2026-01-24T09:01:00Z';
      expect((await at(rig, 'status --max-age 26')).code).toBe(4);
      expect(await healthOf(rig)).toMatch(/^healthy: the first complete export may take 6 hours/);
      expect(await healthOf(rig, late)).toMatch(/^unhealthy: no complete export of all expected streams/);
      expect((await statusOf(rig, late)).isLate).toBe(true);
      const success = 'daywalk_last_success_timestamp_seconds';
      expect(seriesWith(await metricsOf(rig), success, 'tools')).toEqual({
        [`${success}{stream="tools"}`]: 0,
      });

      await plain(rig, { settings: { streams } });
      expect((await at(rig, 'status --max-age 26')).code).toBe(0);
      expect(await healthOf(rig, late)).toMatch(/^healthy: the last complete export of all expected streams/);
      const metrics = await metricsOf(rig);
      expect(Object.keys(seriesWith(metrics, success))).toEqual(
        streams.map((name) => `${success}{stream="${name}"}`),
      );
      expect(Object.values(seriesWith(metrics, 'daywalk_expected'))).toEqual([1, 0, 0, 0, 1, 0]);
      expect(await holesOf(rig)).toEqual([0]);
    });

    test('stays as it is without a setting, returns to the whole, and a change is one line', async () => {
      const rig = await createRig(SMALL, { database });
      expect(changesIn(await plain(rig, { settings: { streams: ['tokens', 'users'] } }))).toEqual([]);
      expect(changesIn(await plain(rig, { settings: { streams: STREAMS } }))).toHaveLength(1);
      const narrow = {
        streams: ['tokens'] as const,
        firstDay: parseDay('2026-01-18'),
        maxAgeMs: 8 * 86_400_000,
      };
      const rows = await rig.value<number>('SELECT COUNT(*) FROM user_daily');
      expect(changesIn(await plain(rig, { settings: narrow }))).toHaveLength(1);
      // A later first day, and fewer streams, remove nothing.
      expect(await rig.value<number>('SELECT COUNT(*) FROM user_daily')).toBe(rows);
      expect(await rig.value<number>("SELECT COUNT(*) FROM export_units WHERE date = '2026-01-14'")).toBe(5);
      const kept = await plain(rig);
      expect(changesIn(kept)).toEqual([]);
      expect(kept.report).toMatchObject({ firstDay: '2026-01-18', completed: ['tokens'] });
      const stored = { first_day: '2026-01-18', streams: 'tokens', max_age_seconds: 691_200 };
      expect(await rig.sql('SELECT first_day, streams, max_age_seconds FROM contracts')).toEqual([stored]);
      const env = envOf(rig, {
        DAYWALK_NOW: '2026-01-24T05:00:00Z',
        DAYWALK_STREAMS: 'all',
        DAYWALK_FIRST_DAY: '2026-01-14',
      });
      const { code, stderr } = await daywalkInProcess(['run', '--log', 'json'], { env });
      expect(code).toBe(0);
      expect(stderr.split('\n').filter((line) => line.includes('is expected of'))).toEqual([
        expect.stringMatching(
          /all streams from 2026-01-14, at most 192 hours old is expected of .*; before, tokens from 2026-01-18/,
        ),
      ]);
      expect(await rig.value('SELECT streams FROM contracts')).toBe(STREAMS.join(','));
      expect(
        (await daywalkInProcess(['run'], { env: { ...env, DAYWALK_FIRST_DAY: '2026-01-13' } })).code,
      ).toBe(2);
    });

    test('makes a number of a stream that was never exported unknown, with the reason', async () => {
      const rig = await createRig(SMALL, { database });
      await plain(rig, { settings: { streams: ['tokens'] } });
      const { code, stdout } = await at(rig, 'metric active_users --json');
      expect([code, JSON.parse(stdout)]).toMatchObject([
        0,
        {
          rows: [{ value: null }],
          days: { expected: 0, missing: [] },
          warnings: ['the stream users is not exported, so active_users is not known'],
        },
      ]);
      const clock = new FakeClock({ now: '2026-01-24T04:00:00Z', auto: true });
      const dashboard = await serve(rig.place, { clock });
      const { body } = await dashboard.ask('/');
      expect(textOf(body)).toContain('The stream users is not exported, so billable_tokens is not known.');
      // No page asks for a run of it, or says something about numbers that nobody has.
      const readiness = textOf((await dashboard.ask('/readiness')).body);
      expect(readiness).toContain('The stream readiness is not exported.');
      expect(readiness).not.toContain('daywalk run');
      expect(textOf((await dashboard.ask('/tools')).body)).not.toContain('Every name is that of a tool.');
      expect(missingIn(body)).toEqual([]);
      // Days of an expected stream are missing, also beside those of a stream that was left out later.
      await rig.place.execute("UPDATE contracts SET streams = 'users'");
      const asked = {
        orgId: rig.emulator.orgId,
        streams: ['tokens', 'users'],
        from: today,
        until: today,
      } as const;
      const warehouse = await open(rig.place);
      expect(await readProvenance(warehouse, asked)).toMatchObject({
        notKept: null,
        days: { missing: [today] },
      });
    });

    test('without tokens refuses charges of a month, and an invoice, with the remedy', async () => {
      const rig = await createRig(SMALL, { database });
      await plain(rig, { settings: { streams: ['users'] } });
      const folder = tempDir();
      const invoice = join(folder, 'invoice.csv');
      await writeFile(invoice, 'credits\n5\n');
      for (const command of [`focus --out ${join(folder, 'f.csv')}`, `invoice check ${invoice}`]) {
        const { code, stderr } = await at(rig, `${command} --month 2026-01`, '2026-02-02T04:00:00Z');
        expect([command, code]).toEqual([command, 2]);
        expect(stderr).toContain('the stream tokens is not exported');
        expect(stderr).toMatch(/hint: .*DAYWALK_STREAMS/);
      }
    });

    test('makes a stream outside it no hole, no doubt and no restatement; it keeps no day from settling', {
      tags: 'ci/rare',
    }, async () => {
      const rig = await createRig(SMALL, { database });
      const streams = ['tokens', 'activity', 'users'] as const;
      await plain(rig, { now: parseDay('2026-01-20') });
      lie(rig, { lateDays: { tools: [parseDay('2026-01-15')] } });
      await plain(rig, { now: parseDay('2026-01-21'), settings: { streams: ['tokens', 'tools'] } });
      expect((await statusOf(rig)).doubted).toMatchObject([{ stream: 'tools', day: '2026-01-15' }]);
      rig.emulator.revise({ kind: 'restate', day: parseDay('2026-01-16') });
      lie(rig, { lateDays: [parseDay('2026-01-21')] });
      for (const now of ['2026-01-22', '2026-01-23', '2026-01-24'].map(parseDay))
        expect((await plain(rig, { now, settings: { streams } })).report).toMatchObject({ unitsDoubted: 0 });
      const restated = await rig.column(
        "SELECT DISTINCT stream FROM restatements WHERE date = '2026-01-16' ORDER BY stream",
      );
      expect(restated).toEqual([...streams].toSorted());
      const { holes, doubted, open, isLate } = await statusOf(rig);
      expect({
        doubted,
        isLate,
        streams: holes.flatMap((hole: { streams: string[] }) => hole.streams),
      }).toEqual({
        doubted: [],
        isLate: false,
        streams: [],
      });
      expect(open.filter(({ state }: { state: string }) => state === 'doubted')).toEqual([]);
    });

    test('allows a first export six hours, whatever fails in it', { tags: 'ci/rare' }, async () => {
      const rules = parseRules([
        { match: { stream: 'tools', day: '2026-01-20' }, action: { type: 'status', status: 422 } },
      ]);
      const rig = await createRig({ ...SMALL, rules }, { database });
      expect((await plain(rig)).report.exitCode).toBe(4);
      expect(await healthOf(rig, '2026-01-24T08:59:00Z')).toMatch(
        /^healthy: the first complete export may take/,
      );
      expect(await healthOf(rig, '2026-01-24T09:01:00Z')).toMatch(/^unhealthy: no complete export/);
    });

    test('whose row is damaged, or from a clock that was ahead, hides nothing, and the next run writes it again', {
      tags: 'ci/rare',
    }, async () => {
      const rig = await createRig(SMALL, { database });
      await plain(rig, { from: parseDay('2026-01-20') });
      await rig.place.execute('DELETE FROM export_runs');
      const ahead = '2030-01-01T00:00:00.000Z';
      await rig.place.execute(
        `UPDATE contracts SET streams = 'x', max_age_seconds = 0, changed_at = '${ahead}'`,
      );
      expect(await healthOf(rig)).toMatch(/^unhealthy: no complete export/);
      expect(await statusOf(rig)).toMatchObject({
        isLate: true,
        contract: { streams: STREAMS, maxAgeSeconds: 93_600 },
      });
      await plain(rig);
      expect(await rig.sql('SELECT streams, max_age_seconds FROM contracts')).toEqual([
        { streams: STREAMS.join(','), max_age_seconds: 93_600 },
      ]);
      expect(
        await rig.value("SELECT changed_at FROM contracts WHERE changed_at < '2027-01-01'"),
      ).toBeDefined();
      expect(await healthOf(rig)).toMatch(/^healthy: the last complete export/);
    });

    test('begins the period of a metric, and refuses a run that ends before it', async () => {
      const rig = await createRig(SMALL, { database });
      await plain(rig, { from: parseDay('2026-01-18'), settings: { firstDay: parseDay('2026-01-20') } });
      const { from, days } = JSON.parse((await at(rig, 'metric billable_tokens --json')).stdout);
      expect([from, days.missing]).toEqual(['2026-01-20', []]);
      const asked = JSON.parse((await at(rig, 'metric billable_tokens --from 2026-01-14 --json')).stdout);
      expect(asked.days.missing).toHaveLength(4);
      for (const args of ['run --until 2026-01-19', 'run --dry-run --until 2026-01-19']) {
        const { code, stdout, stderr } = await at(rig, args);
        expect([code, stdout + stderr]).toEqual([2, expect.stringContaining('the first one is 2026-01-20')]);
      }
      expect((await at(rig, 'backfill --from 2026-01-16 --until 2026-01-17')).code).toBe(0);
      expect(await healthOf(rig)).toMatch(/healthy/);
    });

    test('begins what pages and reports show by default; days before it are shown if they are asked for', {
      tags: 'ci/rare',
    }, async () => {
      const rig = await createRig({ ...SMALL, today: parseDay('2026-02-20') }, { database });
      const first = '2026-02-04';
      const now = '2026-02-20T12:00:00Z';
      await plain(rig, { settings: { firstDay: parseDay(first) } });
      // A list of restated days, and a table of budgets.
      rig.emulator.revise({ kind: 'restate', day: parseDay('2026-02-18') });
      await plain(rig);
      const budgets = join(tempDir(), 'budgets.csv');
      await writeFile(budgets, 'month,team,amount,currency\n2026-02,unassigned,100,EUR\n');
      expect((await at(rig, `budget load ${budgets}`, now)).code).toBe(0);
      const clock = new FakeClock({ now, auto: true });
      const dashboard = await serve(rig.place, { clock });
      for (const path of PAGES) {
        const { body } = await dashboard.ask(path);
        expect([path, earliestIn(body), missingIn(body)]).toEqual([path, first, []]);
        expect(body).toContain(`name="from" value="${first}"`);
        expect(body).toMatch(new RegExp(`href="[^"]*from=${first}[^"]*until=2026-02-19[^"]*"[^>]*>All days`));
        expect(body).not.toContain('Last month');
      }
      const { body } = await dashboard.ask('/');
      expect(body).toContain('the span before would begin before the first expected day');
      expect(textOf((await dashboard.ask('/data')).body)).toMatch(
        /All 16 days of the five streams are stored/,
      );

      const file = join(tempDir(), 'report.html');
      const { code, stdout } = await at(rig, `report --out ${file} --json`, now);
      expect([code, JSON.parse(stdout)]).toMatchObject([0, { from: first, until: '2026-02-19' }]);
      const report = await readFile(file, 'utf8');
      expect([earliestIn(report), missingIn(report)]).toEqual([first, []]);

      const early = await dashboard.ask('/?from=2026-01-20&until=2026-02-19');
      expect([earliestIn(early.body), missingIn(early.body)[0]]).toEqual(['2026-01-20', '2026-01-20']);
      // What is stored of them stays, and its pages are as before.
      await at(rig, 'backfill --from 2026-01-14 --until 2026-02-03', now);
      const old = await dashboard.ask('/?from=2026-01-20&until=2026-02-01');
      expect([old.status, missingIn(old.body)]).toEqual([200, []]);
      expect(earliestIn((await dashboard.ask('/')).body)).toBe(first);
    });

    test('is in copies, backups and published files', { tags: 'ci/rare' }, async () => {
      const rig = await createRig(SMALL, { database });
      await plain(rig, { settings: { streams: ['tokens', 'users'], firstDay: parseDay('2026-01-20') } });
      const folder = tempDir();
      const files = ['copy.db', 'published.db', 'backup.db'].map((name) => join(folder, name));
      const [copied = '', published = '', backup = ''] = files;
      expect((await at(rig, `copy --to ${copied}`)).code).toBe(0);
      expect((await at(rig, `publish --sqlite ${published}`)).code).toBe(0);
      await backUpTo(rig, backup);
      for (const file of files) {
        const other = { ...rig, path: file, settings: { ...rig.settings, warehouse: file } };
        const { contract, missing } = await statusOf(other);
        expect({ file, contract, missing }).toEqual({
          file,
          contract: {
            firstDay: '2026-01-20',
            streams: ['tokens', 'users'],
            leftOut: [],
            usersFrom: null,
            maxAgeSeconds: 93_600,
          },
          missing: [],
        });
      }
    });

    test('makes the dashboard of a warehouse whose last run is 16 days old say what status says', async () => {
      const rig = await createRig(SMALL, { database });
      await plain(rig);
      const now = '2026-02-09T12:00:00Z';
      const { missing, days } = await statusOf(rig, now);
      expect([missing.length, days.length]).toEqual([13 * 5, 26]);
      const dashboard = await serve(rig.place, { clock: new FakeClock({ now, auto: true }) });
      const { body } = await dashboard.ask('/data');
      expect(textOf(body)).toMatch(/10 of 26 days are stored in all five streams; .*16 were never pulled/);
    });
  });
});
