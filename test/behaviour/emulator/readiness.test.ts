import { describe, expect, test } from 'vitest';
import { READINESS_PATH } from '../../../src/contract/paths.ts';
import { parseDay } from '../../../src/core/day.ts';
import { type Json, pathOf, probe } from '../../support/emulator/probe.ts';
import { testVariants } from '../../support/suite/variants.ts';

describe('a walk', () => {
  test.each(['newest', 'oldest', 'shuffled'] as const)(
    'in the order %s returns every report once',
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

  test('under a cap has short pages, and only an empty page ends it', async () => {
    const at = await probe({ reports: 23, quirks: { readinessLimitCap: 5 } });
    expect((await at.get(`${READINESS_PATH}?limit=100`)).json.reports).toHaveLength(5);
    expect((await at.get(READINESS_PATH)).json.reports).toHaveLength(5);
    const { reports, pages } = await at.reports('limit=100');
    expect([reports.length, pages]).toEqual([23, 6]);
  });

  test('of one repository returns only its reports', async () => {
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

test('limit=1 with a repository returns its latest report', async () => {
  const at = await probe({ reports: 60 });
  const all = (await at.reports()).reports;
  for (const { repoId, repoUrl } of at.emulator.repositories().slice(0, 3)) {
    const latest = await at.get(`${READINESS_PATH}?limit=1&repoId=${repoId}`);
    expect(latest.json.reports).toEqual([all.find((report) => report.repoUrl === repoUrl)]);
  }
});

test('numerators do not exceed their denominators, which count the applications', async () => {
  const at = await probe({ reports: 60 });
  const { reports } = await at.reports();
  for (const { apps, report } of reports) {
    expect(Object.keys(report)).toHaveLength(81);
    expect(Object.keys(report)).toEqual(
      expect.arrayContaining(['lint_config', 'type_check', 'readme', 'error_to_insight_pipeline']),
    );
    for (const [id, { numerator, denominator }] of Object.entries(report)) {
      expect([1, Object.keys(apps).length], id).toContain(denominator);
      if (!((numerator ?? -1) >= 0 && (numerator ?? 0) <= (denominator ?? 0)))
        throw new Error(`${id}: ${numerator}`);
    }
  }
});

test('nullNumerators sets how many criteria are skipped', async () => {
  const at = await probe({ reports: 10, quirks: { nullNumerators: 0 } });
  const numerators = async () =>
    (await at.reports()).reports.flatMap((report) =>
      Object.values(report.report).map(({ numerator }) => numerator),
    );
  expect(await numerators()).not.toContain(null);
  at.emulator.setQuirks({ nullNumerators: 1 });
  expect(new Set(await numerators())).toEqual(new Set([null]));
});

test('optional fields are missing from some reports and present in others', async () => {
  const at = await probe({ reports: 100 });
  const { reports } = await at.reports();
  for (const field of ['commitHash', 'modelUsed', 'droidVersion', 'branch', 'hasLocalChanges'] as const) {
    const there = reports.filter((report) => report[field] !== undefined).length;
    expect([field, there > 0 && there < reports.length]).toEqual([field, true]);
  }
});

test('readinessRoles manager refuses members and guests', async () => {
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

describe('reports reach up to today', () => {
  const dayBefore = (today: string) => new Date(Date.parse(today) - 86_400_000).toISOString().slice(0, 10);
  const dayOf = (report: Json) => new Date(report.createdAt).toISOString().slice(0, 10);

  testVariants(['2026-01-15', '2026-03-01', '2026-11-20'])(
    'the newest report is one day old on %s',
    async (today) => {
      for (const reports of [1, 7, 500]) {
        const at = await probe({ reports, today: parseDay(today) });
        const found = (await at.reports()).reports;
        expect(found).toHaveLength(reports);
        expect(dayOf(found[0])).toBe(dayBefore(today));
        expect(found.filter((report) => report.createdAt >= Date.parse(today))).toEqual([]);
      }
    },
  );

  test('they are spread over the history', async () => {
    const at = await probe({ reports: 120, today: parseDay('2026-07-13') });
    const months = new Set((await at.reports()).reports.map((report) => dayOf(report).slice(0, 7)));
    expect([...months].sort()).toEqual([
      ...['2025-09', '2025-10', '2025-11', '2025-12'],
      ...['2026-01', '2026-02', '2026-03', '2026-04', '2026-05', '2026-06', '2026-07'],
    ]);
  });

  test('each new day adds one report, and removes none', async () => {
    const at = await probe({ reports: 20, today: parseDay('2026-03-01') });
    const before = (await at.reports()).reports;
    at.emulator.setToday(parseDay('2026-03-04'));
    const after = (await at.reports()).reports;
    expect(after.slice(3)).toEqual(before);
    expect(after.slice(0, 3).map(dayOf)).toEqual(['2026-03-03', '2026-03-02', '2026-03-01']);
    at.emulator.setToday(parseDay('2026-03-02'));
    expect((await at.reports()).reports).toEqual(after.slice(2));
    at.emulator.setToday(parseDay('2026-02-01'));
    const earlier = (await at.reports()).reports;
    expect(earlier.length).toBeGreaterThan(0);
    expect(before.slice(-earlier.length)).toEqual(earlier);
  });

  test('a start on the next day has the same reports and one newer one', async () => {
    const one = await probe({ reports: 40, today: parseDay('2026-03-01') });
    const other = await probe({ reports: 40, today: parseDay('2026-03-02') });
    const [reports, others] = [(await one.reports()).reports, (await other.reports()).reports];
    expect(others.slice(1)).toEqual(reports.slice(1));
    expect(others.map((report) => report.reportId)).toEqual(reports.map((report) => report.reportId));
  });
});

describe('what the specification leaves open', () => {
  test('readinessLimitMax refuses a larger limit, and 0 refuses any', async () => {
    const at = await probe({ reports: 30, quirks: { readinessLimitMax: 20 } });
    const of = async (query: string) => {
      const { status, json } = await at.get(`${READINESS_PATH}${query}`);
      return [status, json.reports?.length];
    };
    expect(await of('?limit=21')).toEqual([400, undefined]);
    expect(await of('?limit=20')).toEqual([200, 20]);
    expect(await of('')).toEqual([200, 30]);
    at.emulator.setQuirks({ readinessLimitMax: 0 });
    expect(await of('?limit=1')).toEqual([400, undefined]);
    expect(await of('')).toEqual([200, 30]);
  });

  test('readinessUnauthorized refuses every key with 401, and analytics still answer', async () => {
    const at = await probe({ reports: 3, quirks: { readinessUnauthorized: true } });
    expect((await at.get(READINESS_PATH)).status).toBe(401);
    expect((await at.get(pathOf('activity', '2026-02-03'))).status).toBe(200);
  });

  test('fractionalCreatedAt adds a fraction and changes nothing else', async () => {
    const at = await probe({ reports: 30 });
    const before = (await at.reports()).reports;
    at.emulator.setQuirks({ fractionalCreatedAt: true });
    const after = (await at.reports()).reports;
    expect(after.filter((report) => Number.isInteger(report.createdAt))).toEqual([]);
    expect(after.map((report) => ({ ...report, createdAt: Math.floor(report.createdAt) }))).toEqual(before);
  });

  test.each([
    ['error', /^\{"error":\{"code":"Bad Request","message":"Invalid limit/],
    ['text', /^Bad Request\nInvalid limit/],
  ] as const)('readinessErrors %s changes the body of refusals', async (readinessErrors, body) => {
    const at = await probe({ quirks: { readinessErrors } });
    const answer = await at.get(`${READINESS_PATH}?limit=0`);
    expect(answer.status).toBe(400);
    expect(answer.text).toMatch(body);
    const other = await at.get(pathOf('activity', '2026-02-31'));
    expect(other.json).toMatchObject({ title: 'Bad Request', status: 400 });
  });
});
