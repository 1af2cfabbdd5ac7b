import { describe, expect, test } from 'vitest';
import { forecastDuration } from '../../../../src/pipeline/request-forecast.ts';
import type { RunRecord } from '../../../../src/records/runs.ts';

function runOf(requests: number, ms: number, ended = true): RunRecord {
  return {
    runId: `run-${requests}-${ms}`,
    orgId: 'org_1',
    command: 'run',
    startedAt: '2026-02-10T03:00:00.000Z',
    endedAt: ended ? new Date(Date.parse('2026-02-10T03:00:00Z') + ms).toISOString() : null,
    exitCode: 0,
    unitsDone: 1,
    unitsFailed: 0,
    rowsWritten: 0,
    requests,
    retries: 0,
  };
}

describe('the expected duration of a run', () => {
  const nights = [runOf(12, 1_200), runOf(13, 1_300), runOf(14, 1_400)];
  const firstSync = runOf(1_000, 10_000);

  test('follows the runs with a similar number of requests', () => {
    expect(forecastDuration([...nights, firstSync], 13)).toEqual({ durationMs: 1_300, isEstimate: false });
    expect(forecastDuration([...nights, runOf(900, 9_100), firstSync], 950)?.durationMs).toBeLessThan(11_000);
  });

  test('is marked as an estimate while only a first sync, which is much larger, has ended', () => {
    expect(forecastDuration([firstSync], 12)).toEqual({ durationMs: 120, isEstimate: true });
    expect(forecastDuration([runOf(12, 1_200), firstSync], 12)).toEqual({
      durationMs: 1_200,
      isEstimate: false,
    });
  });

  test('is unknown while no run has ended that sent a request', () => {
    expect(forecastDuration([runOf(12, 1_200, false), runOf(0, 50)], 12)).toBeNull();
  });
});
