import { describe, expect, test } from 'vitest';
import { READINESS_PATH } from '../../src/api/paths.ts';
import { parseDay } from '../../src/core/day.ts';
import { probe } from './probe.ts';

describe('a walk', () => {
  test.each(['newest', 'oldest', 'shuffled'] as const)(
    'in the order %s finds every report once',
    async (order) => {
      const at = await probe({ reports: 60, quirks: { readinessOrder: order } });
      const { reports } = await at.reports('limit=7');
      expect(reports).toHaveLength(60);
      expect(new Set(reports.map((report) => report.reportId)).size).toBe(60);
      const times = reports.map((report) => report.createdAt);
      const ascending = [...times].sort((a, b) => a - b);
      if (order === 'newest') expect(times).toEqual(ascending.toReversed());
      if (order === 'oldest') expect(times).toEqual(ascending);
      if (order === 'shuffled') {
        expect(times).not.toEqual(ascending);
        expect(times).not.toEqual(ascending.toReversed());
      }
      expect((await at.reports('limit=50')).reports).toEqual(reports);
    },
  );

  test('under a cap sees short pages, and only an empty page ends it', async () => {
    const at = await probe({ reports: 23, quirks: { readinessLimitCap: 5 } });
    expect((await at.get(`${READINESS_PATH}?limit=100`)).json.reports).toHaveLength(5);
    expect((await at.get(READINESS_PATH)).json.reports).toHaveLength(5);
    const { reports, pages } = await at.reports('limit=100');
    expect([reports.length, pages]).toEqual([23, 6]);
  });

  test('of one repository finds its reports only', async () => {
    const at = await probe({ reports: 60 });
    const all = (await at.reports()).reports;
    const found = [];
    for (const { repoId, repoUrl } of at.emulator.repositories()) {
      const { reports } = await at.reports(`limit=3&repoId=${repoId}`);
      expect(reports).toEqual(all.filter((report) => report.repoUrl === repoUrl));
      found.push(...reports);
    }
    expect(found).toHaveLength(60);
    expect((await at.reports('repoId=repo_unknown')).reports).toEqual([]);
  });
});

test('limit=1 with a repository gives its latest report', async () => {
  const at = await probe({ reports: 60 });
  const all = (await at.reports()).reports;
  for (const { repoId, repoUrl } of at.emulator.repositories().slice(0, 3)) {
    const latest = await at.get(`${READINESS_PATH}?limit=1&repoId=${repoId}`);
    expect(latest.json.reports).toEqual([all.find((report) => report.repoUrl === repoUrl)]);
  }
});

test('numerators lie within their denominators, which count the applications', async () => {
  const at = await probe({ reports: 60 });
  const { reports } = await at.reports();
  let skipped = 0;
  let criteria = 0;
  for (const { apps, report } of reports) {
    expect(Object.keys(report)).toHaveLength(81);
    expect(Object.keys(report)).toEqual(
      expect.arrayContaining(['lint_config', 'type_check', 'readme', 'error_to_insight_pipeline']),
    );
    for (const [id, { numerator, denominator }] of Object.entries(report)) {
      criteria += 1;
      expect([1, Object.keys(apps).length], id).toContain(denominator);
      if (numerator === null) skipped += 1;
      else if ((numerator ?? -1) < 0 || (numerator ?? 0) > (denominator ?? 0))
        throw new Error(`${id}: ${numerator}`);
    }
  }
  expect(skipped / criteria).toBeGreaterThan(0.02);
  expect(skipped / criteria).toBeLessThan(0.09);
});

test('nullNumerators decides how many criteria are skipped', async () => {
  const at = await probe({ reports: 10, quirks: { nullNumerators: 0 } });
  const numerators = async () =>
    (await at.reports()).reports.flatMap((report) =>
      Object.values(report.report).map(({ numerator }) => numerator),
    );
  expect(await numerators()).not.toContain(null);
  at.emulator.setQuirks({ nullNumerators: 1 });
  expect(new Set(await numerators())).toEqual(new Set([null]));
});

test('optional fields are missing from some reports and there in others', async () => {
  const at = await probe({ reports: 100 });
  const { reports } = await at.reports();
  for (const field of ['commitHash', 'modelUsed', 'droidVersion', 'branch', 'hasLocalChanges'] as const) {
    const there = reports.filter((report) => report[field] !== undefined).length;
    expect([field, there > 0 && there < reports.length]).toEqual([field, true]);
  }
});

test('readinessRoles manager keeps members and guests out', async () => {
  const at = await probe({ quirks: { readinessRoles: 'manager' } });
  const status = async (key: string) => (await at.get(READINESS_PATH, { key })).status;
  const { owner, manager, user, member, guest } = at.emulator.keys;
  expect(await Promise.all([owner, manager, user, member, guest].map(status))).toEqual([
    200, 200, 403, 403, 403,
  ]);
});

test('an organization without reports has an empty list', async () => {
  const at = await probe({ reports: 0 });
  expect((await at.get(READINESS_PATH)).json).toEqual({ reports: [] });
});

test('reports are the same whatever is today', async () => {
  const one = await probe({ reports: 20 });
  const other = await probe({ reports: 20 });
  other.emulator.setToday(parseDay('2026-09-09'));
  expect((await other.reports()).reports).toEqual((await one.reports()).reports);
});
