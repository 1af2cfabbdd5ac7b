import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { normalize } from '../../../support/pipeline/normalize.ts';
import { report } from '../../../support/random/api-rows.ts';

const REPORT = {
  reportId: 'r-1',
  createdAt: 1_770_000_000_123,
  repoUrl: 'https://example.com/r.git',
  apps: {},
  report: {},
};

const flagOf = (value: unknown) => (typeof value === 'boolean' ? Number(value) : null);

describe('a readiness report', () => {
  it('has every field as sent, NULL if it is missing', () => {
    fc.assert(
      fc.property(report, (record) => {
        const { rows } = normalize('readiness', [record]);
        const model = (record['modelUsed'] ?? {}) as Record<string, unknown>;
        expect(rows('readiness_reports')).toMatchObject([
          {
            report_id: record['reportId'],
            created_at: new Date(Number(record['createdAt'])).toISOString(),
            repo_url: record['repoUrl'],
            commit_hash: record['commitHash'] ?? null,
            branch: record['branch'] ?? null,
            has_local_changes: flagOf(record['hasLocalChanges']),
            has_non_remote_commits: flagOf(record['hasNonRemoteCommits']),
            model_id: model['id'] ?? null,
            model_reasoning_effort: model['reasoningEffort'] ?? null,
            droid_version: record['droidVersion'] ?? null,
          },
        ]);
      }),
    );
  });

  it('has all its applications and criteria, with their content', () => {
    fc.assert(
      fc.property(report, (record) => {
        const { rows } = normalize('readiness', [record]);
        const apps = Object.entries(record['apps'] as Record<string, Record<string, unknown>>);
        const criteria = Object.entries(record['report'] as Record<string, Record<string, unknown>>);
        const storedApps = rows('readiness_report_apps').map((row) => [row['app_path'], row['description']]);
        const storedCriteria = rows('readiness_report_criteria').map((row) => [
          row['criterion_id'],
          row['numerator'],
          row['denominator'],
          row['rationale'],
        ]);
        const sorted = (list: unknown[]) => list.map((item) => JSON.stringify(item)).toSorted();
        expect(sorted(storedApps)).toEqual(
          sorted(apps.map(([path, app]) => [path, app['description'] ?? null])),
        );
        expect(sorted(storedCriteria)).toEqual(
          sorted(
            criteria.map(([id, { numerator, denominator, rationale }]) => [
              id,
              numerator ?? null,
              denominator ?? null,
              rationale ?? null,
            ]),
          ),
        );
      }),
    );
  });

  it('keeps unknown fields of itself, its model, its applications and criteria', () => {
    const record = {
      ...REPORT,
      score: 0.5,
      modelUsed: { id: 'm', temperature: 1 },
      apps: { '.': { description: 'x', language: 'Go' } },
      report: { readme: { numerator: 1, denominator: 1, weight: 2 } },
    };
    const { rows, findings } = normalize('readiness', [record]);
    expect(rows('readiness_reports')[0]?.['extra']).toBe('{"modelUsed":{"temperature":1},"score":0.5}');
    expect(rows('readiness_report_apps')[0]?.['extra']).toBe('{"language":"Go"}');
    expect(rows('readiness_report_criteria')[0]?.['extra']).toBe('{"weight":2}');
    expect(findings.drift.map(({ path }) => path).toSorted()).toEqual([
      'reports[].apps[*].language',
      'reports[].modelUsed.temperature',
      'reports[].report[*].weight',
      'reports[].score',
    ]);
  });

  it('that is sent twice counts once; if the two differ, it is held', () => {
    const same = normalize('readiness', [REPORT, REPORT]);
    expect(same.rows('readiness_reports')).toHaveLength(1);
    expect(same.findings.held).toEqual([]);
    const { findings } = normalize('readiness', [
      { ...REPORT, branch: 'a', report: { readme: {} } },
      { ...REPORT, branch: 'b' },
    ]);
    expect(findings.held).toMatchObject([{ table: { name: 'readiness_reports' } }]);
    expect(findings.quarantined).toMatchObject([
      {
        path: expect.stringMatching(/\[1\]$/),
        isHeld: true,
        reason: 'the same report came twice with different values',
      },
    ]);
  });

  it.each([-62_135_596_800_000, 0, 253_402_300_799_999])('may have any timestamp: %i', (createdAt) => {
    const { rows } = normalize('readiness', [{ ...REPORT, createdAt }]);
    expect(rows('readiness_reports')[0]?.['created_at']).toBe(new Date(createdAt).toISOString());
  });

  it.each([253_402_300_800_000, -62_135_596_800_001, '1770000000123', 1e300])(
    'is quarantined when its timestamp is %j',
    (createdAt) => {
      const { rows, findings } = normalize('readiness', [{ ...REPORT, createdAt }]);
      expect(rows('readiness_reports')).toEqual([]);
      expect(findings.quarantined).toHaveLength(1);
    },
  );

  it.each([
    [1_770_000_000_123.25, '2026-02-02T02:40:00.123Z'],
    [1_770_000_000_123.5, '2026-02-02T02:40:00.124Z'],
    [-0.4, '1970-01-01T00:00:00.000Z'],
    [253_402_300_799_998.5, '9999-12-31T23:59:59.999Z'],
  ])('with a fractional timestamp is stored at the nearest millisecond: %d', (createdAt, instant) => {
    const { rows, findings } = normalize('readiness', [{ ...REPORT, createdAt }]);
    expect(rows('readiness_reports')[0]?.['created_at']).toBe(instant);
    expect(findings.quarantined).toEqual([]);
  });
});
