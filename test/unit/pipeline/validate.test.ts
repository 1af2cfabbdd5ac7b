import { describe, expect, it } from 'vitest';
import { analyticsPage } from '../../../src/api/pages.ts';
import { rowCheck } from '../../../src/checks/row-check.ts';
import { ToolsRow, UserRow } from '../../../src/contract/shapes.ts';
import { parseDay } from '../../../src/core/day.ts';
import type { DayBatch } from '../../../src/pipeline/plan.ts';
import { validateDays } from '../../../src/pipeline/run/prepare-batch.ts';
import { expectAnswerTo, UnclearRangeError, validateReports } from '../../../src/pipeline/validate.ts';

const DAY = parseDay('2026-02-01');
const BATCH: DayBatch = { stream: 'users', days: [DAY] };

function pageOf(data: unknown[], orgId = 'org_1', dates: Record<string, unknown> = {}) {
  const body = { data, meta: { org_id: orgId, ...dates } };
  return analyticsPage({ status: 200, body, text: JSON.stringify(body), requestId: undefined }, 'x');
}

describe('a row', () => {
  it('of a day that was not requested is quarantined, and the rest loads', () => {
    const rows = [
      { date: '2026-02-01', user_id: 'a' },
      { date: '2026-02-02', user_id: 'b' },
      { date: '2026-02-01T00:00:00Z', user_id: 'c' },
    ];
    const { rows: kept, rejected } = validateDays(rowCheck(UserRow), pageOf(rows), BATCH);
    expect([...kept]).toEqual([[DAY, [rows[0]]]]);
    expect(rejected).toEqual([
      {
        record: rows[1],
        path: 'data[1]',
        reason: 'is about 2026-02-02, and 2026-02-01 was asked for',
        kind: 'foreign',
      },
      {
        kind: 'foreign',
        record: rows[2],
        path: 'data[2]',
        reason: 'is about 2026-02-01T00:00:00Z, and 2026-02-01 was asked for',
      },
    ]);
  });

  it('of another day is reported with its place even if a part of it is quarantined already', () => {
    const rows = [{ date: '2026-02-01' }, { date: '2026-02-02', by_tool: [{}] }];
    const { rejected } = validateDays(rowCheck(ToolsRow), pageOf(rows), { stream: 'tools', days: [DAY] });
    expect(rejected.map(({ path }) => path)).toEqual(['data[1].by_tool[0]', 'data[1]']);
  });

  it('of the requested day is passed on unchanged', () => {
    const rows = [{ date: '2026-02-01', user_id: 'a', new: 1 }];
    expect(validateDays(rowCheck(UserRow), pageOf(rows), BATCH).rows.get(DAY)?.[0]).toBe(rows[0]);
  });

  it('is assigned to its day when a range was requested', () => {
    const next = parseDay('2026-02-02');
    const rows = [
      { date: '2026-02-02', user_id: 'a' },
      { date: '2026-02-01', user_id: 'a' },
      { date: '2026-02-02', user_id: 'b' },
      { date: '2026-02-03', user_id: 'b' },
    ];
    const range: DayBatch = { stream: 'users', days: [DAY, next] };
    const { rows: kept, rejected } = validateDays(rowCheck(UserRow), pageOf(rows), range);
    expect(kept.get(DAY)).toEqual([rows[1]]);
    expect(kept.get(next)).toEqual([rows[0], rows[2]]);
    expect(rejected.map(({ reason }) => reason)).toEqual([
      'is about 2026-02-03, and 2026-02-01 to 2026-02-02 were asked for',
    ]);
  });
});

describe('an answer about another organization', () => {
  it('ends the run with exit code 5', () => {
    expect(() => expectAnswerTo(pageOf([], 'org_2'), 'org_1', BATCH)).toThrow(
      expect.objectContaining({
        effect: 'run',
        exitCode: 5,
        message: expect.stringMatching(/users 2026-02-01.*"org_2".*"org_1"/),
      }),
    );
    expect(() => expectAnswerTo(pageOf([], 'org_1'), 'org_1', BATCH)).not.toThrow();
  });
});

describe('an answer about other days', () => {
  const NEXT = parseDay('2026-02-02');
  const RANGE: DayBatch = { stream: 'users', days: [DAY, NEXT] };
  const about = (start: unknown, end: unknown) => pageOf([], 'org_1', { start_date: start, end_date: end });

  it('fails the unit when one day was requested', () => {
    for (const page of [about(NEXT, NEXT), about(DAY, NEXT), about(null, NEXT)])
      expect(() => expectAnswerTo(page, 'org_1', BATCH)).toThrow(
        expect.objectContaining({ effect: 'unit', reason: 'other-range' }),
      );
  });

  it('makes a range unclear', () => {
    for (const page of [about(DAY, DAY), about(NEXT, NEXT)])
      expect(() => expectAnswerTo(page, 'org_1', RANGE)).toThrow(UnclearRangeError);
  });

  it('is not assumed if the answer names the requested days, or none', () => {
    expect(() => expectAnswerTo(about(DAY, DAY), 'org_1', BATCH)).not.toThrow();
    expect(() => expectAnswerTo(about(DAY, NEXT), 'org_1', RANGE)).not.toThrow();
    expect(() => expectAnswerTo(about(null, undefined), 'org_1', RANGE)).not.toThrow();
  });
});

describe('a report', () => {
  it('without its id is quarantined, and the rest loads', () => {
    const good = { reportId: 'r', createdAt: 1, repoUrl: 'x', apps: {}, report: {} };
    const { reportId: _, ...bad } = good;
    const reports = [bad, good];
    const page = {
      status: 200,
      body: { reports },
      text: JSON.stringify({ reports }),
      requestId: undefined,
      reports,
    };
    expect(validateReports(page)).toEqual({
      rows: [good],
      rejected: [
        {
          record: bad,
          path: 'reports[0]',
          kind: 'wrong-type',
          reason: 'reportId must be a text that is not empty',
        },
      ],
    });
  });
});
