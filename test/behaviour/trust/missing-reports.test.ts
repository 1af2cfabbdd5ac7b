import { describe, expect, test } from 'vitest';
import { readStatus } from '../../../jobs/status.ts';
import { renderStatus } from '../../../src/cli/actions/status.ts';
import { createStyle } from '../../../src/cli/output/terminal.ts';
import { parseDay } from '../../../src/core/day.ts';
import { requestsOf } from '../../support/rig/journal.ts';
import { contextOf, type Ran, type Rig } from '../../support/rig/rig.ts';
import { testVariants } from '../../support/suite/variants.ts';
import { nightsOf } from '../../support/trust/run-nights.ts';
import { type Database, onEachDatabase } from '../../support/warehouse/each-database.ts';

const FULL = { streams: ['readiness'], force: true } as const;

/** A warehouse that holds twelve reports, and their IDs. */
async function twelveReports(database: Database): Promise<{ rig: Rig; ids: string[] }> {
  const rig = await nightsOf(database, { users: 4, reports: 12 });
  await night(rig, 10);
  return { rig, ids: await stored(rig) };
}

/** A run over all reports at 03:00 of a day in February. */
function night(rig: Rig, day: number, request: Parameters<Rig['run']>[0] = FULL): Promise<Ran> {
  return rig.run({ ...FULL, ...request, now: parseDay(`2026-02-${day}`) });
}

function stored(rig: Rig): Promise<string[]> {
  return rig.column<string>('SELECT report_id FROM readiness_reports ORDER BY 1');
}

function lose(rig: Rig, ids: readonly string[]): void {
  for (const reportId of ids) rig.emulator.revise({ kind: 'delete-report', reportId });
}

/** The list without its first reports. */
function hide(rig: Rig, count: number): void {
  const operations = Array.from({ length: count }, () => ({ op: 'remove' as const, path: '/reports/0' }));
  rig.emulator.setRules([{ match: { stream: 'readiness', page: 1 }, action: { type: 'patch', operations } }]);
}

const warnings = ({ events }: Ran) =>
  events.flatMap((event) => (event.type === 'warning' ? [event.message] : []));

async function statusOf(rig: Rig, day: number) {
  const status = await readStatus(rig.settings, contextOf(parseDay(`2026-02-${day}`)));
  const frame = { width: 160, style: createStyle(false), redact: (text: string) => text, isTerminal: false };
  return {
    missing: status.organizations[0]?.missingReports ?? [],
    highest: status.organizations[0]?.highest,
    screen: renderStatus(status, frame).join('\n'),
  };
}

onEachDatabase((database) => {
  describe('L5: some stored reports are missing in the list', () => {
    test('are named with exit code 0, and deleted with a restatement on the second day', async () => {
      const { rig, ids } = await twelveReports(database);
      const gone = ids.slice(0, 6);
      lose(rig, gone);
      const first = await night(rig, 11);
      expect(first.report).toMatchObject({ exitCode: 0, unitsDoubted: 0, restatements: 0, rowsWritten: 0 });
      expect(warnings(first).join()).toContain('the list lacks 6 of 12 stored reports since 2026-02-11');
      expect(warnings(first).join()).toContain(`${JSON.stringify(gone[0])}`);
      // A second pass on the same day counts as the same one.
      expect((await night(rig, 11)).report).toMatchObject({ exitCode: 0, restatements: 0 });
      expect(await stored(rig)).toEqual(ids);
      const { missing, highest, screen } = await statusOf(rig, 11);
      expect(highest).toBe('reports-missing');
      expect(missing.map(({ reportId }) => reportId)).toEqual(gone);
      expect(screen).toMatch(
        /6 reports, since 2026-02-11, 1 of 2 days, exit code 0\n +ends when .* or on 2026-02-12[\s\S]*Missing reports[\s\S]*2026-02-11 +\S+/,
      );
      for (const id of gone) expect(screen).toContain(id);
      // The next night needs no request for it: every run reads all reports while one is missing.
      const second = await night(rig, 12, { force: false });
      expect(second.report).toMatchObject({ exitCode: 0, restatements: 1 });
      expect(await stored(rig)).toEqual(ids.slice(6));
      expect(await rig.column("SELECT COUNT(*) FROM restatements WHERE stream = 'readiness'")).toEqual([1]);
      expect(await statusOf(rig, 12)).toMatchObject({ missing: [], highest: null });
    });

    test('are not listed once nobody expects reports', async () => {
      const { rig, ids } = await twelveReports(database);
      lose(rig, ids.slice(0, 6));
      await night(rig, 11);
      const { report } = await rig.run({ settings: { streams: ['tools'] }, now: parseDay('2026-02-12') });
      expect(report).toMatchObject({ exitCode: 0 });
      expect(await statusOf(rig, 12)).toMatchObject({ missing: [] });
    });

    test('stay if they come back', { tags: 'ci/rare' }, async () => {
      const { rig, ids } = await twelveReports(database);
      for (const day of [11, 13, 15]) {
        hide(rig, 6);
        const lying = await night(rig, day);
        expect(lying.report).toMatchObject({ exitCode: 0, rowsWritten: 0 });
        expect(warnings(lying).join()).toContain('lacks 6 of 12 stored reports');
        rig.emulator.setRules([]);
        expect((await night(rig, day + 1, { force: false })).report).toMatchObject({
          exitCode: 0,
          rowsWritten: 0,
        });
      }
      expect(await stored(rig)).toEqual(ids);
      expect((await statusOf(rig, 16)).missing).toEqual([]);
    });

    test('cost the repeated pass and no other request', { tags: 'ci/rare' }, async () => {
      const { rig, ids } = await twelveReports(database);
      const asked = async (day: number) => {
        const before = requestsOf(rig).filter(({ path }) => path.startsWith('/api/organization/')).length;
        await night(rig, day, { force: false });
        return requestsOf(rig).filter(({ path }) => path.startsWith('/api/organization/')).length - before;
      };
      const quiet = await asked(11);
      lose(rig, ids.slice(0, 2));
      const [found, repeated, after] = [await asked(17), await asked(18), await asked(19)];
      expect(found).toBeGreaterThan(quiet);
      expect(repeated).toBe(found);
      expect(after).toBe(quiet);
    });

    test('are deleted although the second pass is killed on its way', { tags: 'ci/rare' }, async () => {
      const { rig, ids } = await twelveReports(database);
      rig.emulator.setQuirks({ readinessLimitCap: 4 });
      lose(rig, ids.slice(0, 3));
      await night(rig, 11);
      rig.emulator.setRules([
        { match: { stream: 'readiness', page: 2 }, action: { type: 'status', status: 500 } },
      ]);
      expect((await night(rig, 12, { settings: { attempts: 1 } })).report.exitCode).toBe(4);
      expect(await stored(rig)).toEqual(ids);
      expect((await statusOf(rig, 12)).missing).toHaveLength(3);
      rig.emulator.setRules([]);
      await night(rig, 13, { force: false });
      await night(rig, 14, { force: false });
      expect(await stored(rig)).toEqual(ids.slice(3));
    });

    test('are deleted at once with --accept-loss, but only those that an earlier run missed', async () => {
      const { rig, ids } = await twelveReports(database);
      lose(rig, ids.slice(0, 2));
      await night(rig, 11, { acceptLoss: true });
      expect(await stored(rig)).toEqual(ids);
      lose(rig, ids.slice(2, 3));
      expect((await night(rig, 11, { acceptLoss: true })).report).toMatchObject({
        exitCode: 0,
        restatements: 1,
      });
      expect(await stored(rig)).toEqual(ids.slice(2));
    });
  });

  describe('L5: most stored reports are missing in the list', () => {
    testVariants([
      ['seven of twelve', 7],
      ['all of twelve', 12],
    ])('%s: every run exits with 5 until they were missed for three days', async (_, count) => {
      const { rig, ids } = await twelveReports(database);
      lose(rig, ids.slice(0, count));
      for (const day of [11, 12, 13]) {
        expect((await night(rig, day, { force: false })).report, `${day}`).toMatchObject(
          day === 11 ? {} : { exitCode: 5, unitsDoubted: 1, restatements: 0 },
        );
        if (day === 11) expect((await night(rig, 11)).report.exitCode).toBe(5);
        expect(await stored(rig)).toEqual(ids);
      }
      const { missing, highest, screen } = await statusOf(rig, 13);
      expect(missing).toHaveLength(count);
      expect(highest).toBe('most-reports-missing');
      expect(screen).toMatch(/3 of 3 days, exit code 5\n +ends when .* or on 2026-02-1[34]/);
      expect((await night(rig, 14, { force: false })).report).toMatchObject({ exitCode: 0, restatements: 1 });
      expect(await stored(rig)).toEqual(ids.slice(count));
    });
  });
});
