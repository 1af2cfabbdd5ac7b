import { describe, expect, test } from 'vitest';
import { shiftDay } from '../../../src/core/day.ts';
import { expectExactReports } from '../../support/rig/exact-copy.ts';
import { expectedReports } from '../../support/rig/expected-tables.ts';
import { exportedRig } from '../../support/rig/exported-rig.ts';
import { firings, requestsOf } from '../../support/rig/journal.ts';
import { createRig, type Rig, TODAY } from '../../support/rig/rig.ts';
import { testVariants } from '../../support/suite/variants.ts';
import { type Found, onEachDatabase } from '../../support/warehouse/each-database.ts';

const readiness = { streams: ['readiness'] as const };

/** The cursors of the readiness requests; '' for the first page. */
function cursors(rig: Rig): string[] {
  return requestsOf(rig)
    .filter(({ path, status }) => path.startsWith('/api/organization/') && status !== 308)
    .map(({ query }) => query['startAfter'] ?? '');
}

/** The limits of the readiness requests; undefined for none. */
function limitsAsked(rig: Rig): (string | undefined)[] {
  return requestsOf(rig)
    .filter(({ path }) => path.startsWith('/api/organization/'))
    .map(({ query }) => query['limit']);
}

async function stateOf(rig: Rig): Promise<Found> {
  const [unit = {}] = await rig.sql(
    "SELECT state, rows, cursor FROM export_units WHERE stream = 'readiness'",
  );
  return unit;
}

onEachDatabase((database) => {
  describe('the readiness walk', () => {
    test('resumes after the last stored page when it was interrupted', { tags: 'ci/rare' }, async () => {
      const rig = await createRig({ reports: 30, quirks: { readinessLimitCap: 4 } }, { database });
      rig.emulator.setRules([
        { match: { stream: 'readiness', page: 4 }, action: { type: 'status', status: 500 } },
      ]);
      const first = await rig.run({ ...readiness, settings: { attempts: 1 } });
      expect(first.report).toMatchObject({ exitCode: 4, unitsFailed: 1 });
      expect(await rig.column('SELECT COUNT(*) FROM readiness_reports')).toEqual([12]);
      const { state, cursor } = await stateOf(rig);
      expect(state).toBe('failed');
      const { startAfter } = JSON.parse(String(cursor));

      rig.emulator.setRules([]);
      rig.emulator.resetJournal();
      const second = await rig.run(readiness);
      expect(second.report.exitCode).toBe(0);
      expect(cursors(rig)[0]).toBe(startAfter);
      await expectExactReports(rig);
      expect(await stateOf(rig)).toMatchObject({ state: 'loaded' });
    });

    testVariants([
      [50, ['100', '50', '50']],
      [49, ['100', '50', '20', '20', '20']],
      [7, ['100', '50', '20', '5', '5', '5', '5', '5', '5', '5', '5']],
      [0, ['100', '50', '20', '5', undefined, undefined]],
    ])('uses a smaller limit if the service refuses more than %d, and remembers it', async (max, limits) => {
      const rig = await createRig({ reports: 35, quirks: { readinessLimitMax: max } }, { database });
      const first = await rig.run(readiness);
      expect(first.report).toMatchObject({ exitCode: 0, unitsDone: 1, unitsFailed: 0 });
      expect(limitsAsked(rig)).toEqual(limits);
      rig.emulator.setQuirks({ readinessLimitMax: null });
      await expectExactReports(rig);
      rig.emulator.setQuirks({ readinessLimitMax: max });
      rig.emulator.resetJournal();
      const second = await rig.run(readiness);
      expect(second.report).toMatchObject({ exitCode: 0, rowsWritten: 0 });
      expect(limitsAsked(rig)).toEqual([limits.at(-1)]);
      expect(requestsOf(rig).filter(({ status }) => status === 400)).toEqual([]);
    });

    test('fails with the first refusal, after at most six requests, if every limit is refused', async () => {
      const rig = await createRig({ reports: 5 }, { database });
      rig.emulator.setRules([
        { match: { stream: 'readiness' }, action: { type: 'status', status: 400, detail: 'no such thing' } },
      ]);
      const { report } = await rig.run(readiness);
      expect(report).toMatchObject({ exitCode: 4, unitsFailed: 1 });
      expect(report.problems[0]?.message).toMatch(/limit=100 answered 400: no such thing/);
      expect(limitsAsked(rig)).toEqual(['100', '50', '20', '5', undefined]);
    });

    test('resumes with smaller pages if the service no longer accepts larger ones', {
      tags: 'ci/rare',
    }, async () => {
      const rig = await createRig({ reports: 130 }, { database });
      rig.emulator.setRules([
        { match: { stream: 'readiness', page: 2 }, action: { type: 'status', status: 500 } },
      ]);
      await rig.run({ ...readiness, settings: { attempts: 1 } });
      expect(await rig.column('SELECT COUNT(*) FROM readiness_reports')).toEqual([100]);
      rig.emulator.setRules([]);
      rig.emulator.setQuirks({ readinessLimitMax: 20 });
      expect((await rig.run(readiness)).report.exitCode).toBe(0);
      await expectExactReports(rig);
    });

    test('that resumes in the middle also finds reports newer than its first page', async () => {
      const rig = await createRig({ reports: 30, quirks: { readinessLimitCap: 4 } }, { database });
      rig.emulator.setRules([
        { match: { stream: 'readiness', page: 4 }, action: { type: 'status', status: 500 } },
      ]);
      await rig.run({ ...readiness, settings: { attempts: 1 } });
      rig.emulator.setRules([]);
      rig.emulator.revise({ kind: 'add-reports', count: 3 });
      expect((await rig.run(readiness)).report.exitCode).toBe(0);
      await expectExactReports(rig);
    });

    test('requests only new reports from a service that answers newest first', {
      tags: 'ci/rare',
    }, async () => {
      const rig = await createRig({ reports: 60, quirks: { readinessLimitCap: 5 } }, { database });
      await rig.run(readiness);
      rig.emulator.resetJournal();
      const { report } = await rig.run(readiness);
      expect(report.rowsWritten).toBe(0);
      expect(cursors(rig)).toEqual(['']);

      rig.emulator.revise({ kind: 'add-reports', count: 7 });
      rig.emulator.resetJournal();
      await rig.run(readiness);
      expect(cursors(rig)).toHaveLength(3);
      await expectExactReports(rig);
    });

    test('that is interrupted among new reports does not treat its own rows as the end', async () => {
      const rig = await createRig({ reports: 20, quirks: { readinessLimitCap: 3 } }, { database });
      await rig.run(readiness);
      rig.emulator.revise({ kind: 'add-reports', count: 8 });
      rig.emulator.setRules([
        { match: { stream: 'readiness', page: 2 }, action: { type: 'status', status: 500 } },
      ]);
      await rig.run({ ...readiness, settings: { attempts: 1 } });
      expect(await rig.column('SELECT COUNT(*) FROM readiness_reports')).toEqual([23]);
      rig.emulator.setRules([]);
      await rig.run(readiness);
      await expectExactReports(rig);
    });

    for (const readinessOrder of ['oldest', 'shuffled'] as const) {
      test(`reads all reports if the order is ${readinessOrder}`, async () => {
        const rig = await createRig(
          { reports: 12, quirks: { readinessLimitCap: 5, readinessOrder } },
          { database },
        );
        await rig.run(readiness);
        rig.emulator.revise({ kind: 'add-reports', count: 2 });
        rig.emulator.resetJournal();
        const { report } = await rig.run(readiness);
        expect(report.exitCode).toBe(0);
        expect(cursors(rig)).toHaveLength(4);
        await expectExactReports(rig);
      });
    }

    test('restarts when the report under its cursor is deleted', async () => {
      const rig = await createRig({ reports: 20, quirks: { readinessLimitCap: 4 } }, { database });
      rig.emulator.setRules([
        {
          id: 'lost',
          match: { stream: 'readiness', page: 3 },
          when: { count: 1 },
          action: { type: 'status', status: 400, detail: 'Unknown report' },
        },
      ]);
      const { report } = await rig.run(readiness);
      expect(report.exitCode).toBe(0);
      expect(cursors(rig).filter((cursor) => cursor === '')).toHaveLength(2);
      await expectExactReports(rig);
    });

    test('gives up in a bounded number of requests when every cursor is refused', async () => {
      const rig = await createRig({ reports: 20, quirks: { readinessLimitCap: 4 } }, { database });
      rig.emulator.setRules([
        { match: { stream: 'readiness', page: 2 }, action: { type: 'status', status: 400 } },
      ]);
      const { report } = await rig.run(readiness);
      expect(report).toMatchObject({ exitCode: 4, unitsFailed: 1 });
      expect(cursors(rig).length).toBeLessThan(12);
    });

    test('fails at the first repeated page of an endless walk', async () => {
      const rig = await createRig({ reports: 20, quirks: { readinessLimitCap: 4 } }, { database });
      rig.emulator.setRules([
        { match: { stream: 'readiness', page: 3 }, action: { type: 'cursor', mode: 'repeat' } },
      ]);
      const { report } = await rig.run(readiness);
      expect(report).toMatchObject({ exitCode: 4, unitsFailed: 1 });
      expect(cursors(rig).length).toBeLessThan(8);
    });

    test('replaces a changed report, and records the change', async () => {
      const rig = await exportedRig({ reports: 10 }, { database }, readiness);
      rig.emulator.revise({ kind: 'change-report' });
      const { report } = await rig.run(readiness);
      expect(report.restatements).toBe(1);
      await expectExactReports(rig);
      expect(await rig.column("SELECT date FROM restatements WHERE stream = 'readiness'")).toEqual(['']);
    });

    test('deletes a report that passes on two days miss, and records the deletion', async () => {
      const rig = await exportedRig({ reports: 10 }, { database }, readiness);
      rig.emulator.revise({ kind: 'delete-report' });
      expect((await rig.run({ ...readiness, force: true })).report.restatements).toBe(0);
      const { report } = await rig.run({ ...readiness, now: shiftDay(TODAY, 1) });
      expect(report.restatements).toBe(1);
      await expectExactReports(rig);
    });

    test('quarantines a malformed report and keeps its stored content', async () => {
      const rig = await exportedRig({ reports: 10 }, { database }, readiness);
      const operations = [{ op: 'set' as const, path: '/reports/0/createdAt', value: 'yesterday' }];
      rig.emulator.setRules([
        { match: { stream: 'readiness', page: 1 }, action: { type: 'patch', operations } },
      ]);
      const broken = await rig.run({ ...readiness, force: true });
      expect(broken.report).toMatchObject({ exitCode: 5, quarantined: 1 });
      expect(await rig.column('SELECT COUNT(*) FROM readiness_reports')).toEqual([10]);
      expect(await stateOf(rig)).toMatchObject({ state: 'quarantined' });
      rig.emulator.setRules([]);
      expect((await rig.run(readiness)).report.exitCode).toBe(0);
      expect(await rig.column('SELECT COUNT(*) FROM quarantine')).toEqual([0]);
    });
  });

  describe('what a walk over new reports misses', () => {
    test('is found within a week, when every report is read again, and deleted in the next night', {
      tags: 'ci/rare',
    }, async () => {
      const rig = await createRig({ reports: 60, quirks: { readinessLimitCap: 20 } }, { database });
      await rig.run(readiness);
      const all = [...(await expectedReports(rig.emulator)).keys()];
      // One of the first page is gone, another far behind has changed.
      rig.emulator.revise({ kind: 'delete-report', reportId: all[5] ?? '' });
      rig.emulator.revise({ kind: 'change-report', reportId: all[45] ?? '' });
      for (let night = 1; night <= 8; night += 1) {
        const now = shiftDay(TODAY, night);
        rig.emulator.setToday(now);
        expect((await rig.run({ ...readiness, now })).report.exitCode).toBe(0);
      }
      await expectExactReports(rig);
    });

    test('is nothing if only equal instants suggest an order', async () => {
      const operations = [{ op: 'set' as const, path: '/reports/*/createdAt', value: 1_770_000_000_000 }];
      const rig = await createRig(
        { reports: 12, quirks: { readinessOrder: 'oldest', readinessLimitCap: 5 } },
        { database },
      );
      rig.emulator.setRules([{ match: { stream: 'readiness' }, action: { type: 'patch', operations } }]);
      await rig.run(readiness);
      rig.emulator.revise({ kind: 'add-reports', count: 2 });
      await rig.run(readiness);
      expect(await rig.column('SELECT COUNT(*) FROM readiness_reports')).toEqual([14]);
    });
  });

  describe('an interrupted walk over a service without order', () => {
    test('reads everything again, so that it misses no report added in between', {
      tags: 'ci/rare',
    }, async () => {
      const rig = await createRig(
        {
          reports: 16,
          quirks: { readinessOrder: 'shuffled', readinessLimitCap: 4 },
        },
        { database },
      );
      rig.emulator.setRules([
        { match: { stream: 'readiness', page: 3 }, action: { type: 'status', status: 500 } },
      ]);
      await rig.run({ ...readiness, settings: { attempts: 1 } });
      rig.emulator.setRules([]);
      rig.emulator.revise({ kind: 'add-reports', count: 6 });
      expect((await rig.run(readiness)).report.exitCode).toBe(0);
      await expectExactReports(rig);
    });
  });

  describe('an empty page where more reports follow', () => {
    test('does not delete stored reports if the report under the cursor is gone', {
      tags: 'ci/rare',
    }, async () => {
      const rig = await exportedRig(
        { reports: 20, quirks: { readinessLimitCap: 4 } },
        { database },
        readiness,
      );
      const reportId =
        (await rig.value(
          'SELECT report_id FROM readiness_reports ORDER BY created_at DESC LIMIT 1 OFFSET 7',
        )) ?? '';
      const revision = { kind: 'delete-report' as const, reportId };
      rig.emulator.setRules([
        {
          id: 'gone',
          match: { stream: 'readiness', query: { startAfter: reportId } },
          action: [
            { type: 'revise', revision },
            { type: 'body', text: '{"reports":[]}' },
          ],
        },
      ]);
      const { report } = await rig.run({ ...readiness, force: true });
      expect(firings(rig, 'gone')).toBeGreaterThan(0);
      expect(report.exitCode).toBe(0);
      expect(await rig.column('SELECT COUNT(*) FROM readiness_reports')).toEqual([20]);
      await rig.run({ ...readiness, now: shiftDay(TODAY, 1) });
      expect(await rig.column('SELECT COUNT(*) FROM readiness_reports')).toEqual([19]);
      await expectExactReports(rig);
    });

    test('does not delete stored reports if the service is wrong', async () => {
      const rig = await exportedRig(
        { reports: 20, quirks: { readinessLimitCap: 4 } },
        { database },
        readiness,
      );
      rig.emulator.setRules([
        {
          match: { stream: 'readiness', page: 3 },
          when: { count: 1 },
          action: { type: 'body', text: '{"reports":[]}' },
        },
      ]);
      const { report } = await rig.run({ ...readiness, force: true });
      expect(report).toMatchObject({ exitCode: 0, restatements: 0, rowsWritten: 0 });
      await expectExactReports(rig);
    });
  });

  describe('a report with hostile names', () => {
    test('is validated completely, and loads without its invalid parts', async () => {
      const rig = await createRig({ reports: 3 }, { database });
      const operations = [
        {
          op: 'raw' as const,
          path: '/reports/0/report',
          text: '{"line\\nbreak":{"numerator":"7","denominator":1,"rationale":"x"}}',
        },
        {
          op: 'raw' as const,
          path: '/reports/0/apps',
          text: '{"a\\nb":null,"__proto__":{"description":"kept"}}',
        },
      ];
      rig.emulator.setRules([
        { match: { stream: 'readiness', page: 1 }, action: { type: 'patch', operations } },
      ]);
      const { report } = await rig.run(readiness);
      expect(report).toMatchObject({ exitCode: 5, quarantined: 2, unitsFailed: 0 });
      expect(
        await rig.column("SELECT app_path FROM readiness_report_apps WHERE description = 'kept'"),
      ).toEqual(['__proto__']);
      expect(
        await rig.column("SELECT COUNT(*) FROM readiness_report_criteria WHERE criterion_id LIKE 'line%'"),
      ).toEqual([0]);
    });

    // An escape makes the program look through all texts for those that no database can hold.
    test.each(['', '"\\u0061"'])(
      'fails the unit, not the program, when it is nested deeper than the stack (innermost value: %j)',
      async (text) => {
        const rig = await createRig({ reports: 3 }, { database });
        const deep = `${'['.repeat(200_000)}${text}${']'.repeat(200_000)}`;
        const operations = [{ op: 'raw' as const, path: '/reports/0/deep', text: deep }];
        rig.emulator.setRules([
          { match: { stream: 'readiness', page: 1 }, action: { type: 'patch', operations } },
        ]);
        const { report } = await rig.run(readiness);
        expect(report).toMatchObject({ exitCode: 4, unitsFailed: 1 });
        expect(report.problems[0]?.message).toContain('nested too deeply');
      },
    );
  });
});
