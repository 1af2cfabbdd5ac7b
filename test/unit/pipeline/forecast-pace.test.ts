import { describe, expect, test } from 'vitest';
import { millisecondsPerRequest } from '../../../jobs/dry-run.ts';
import type { RunRecord } from '../../../src/warehouse/port.ts';

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

describe('the time that a run is expected to take', () => {
  const runs = [runOf(12, 1_200), runOf(13, 1_300), runOf(14, 1_400), runOf(1_000, 10_000)];

  test('is that of runs of about the same number of requests', () => {
    expect(millisecondsPerRequest(runs, 13)).toBeCloseTo(100);
    expect(millisecondsPerRequest([runOf(900, 9_100), runOf(1_000, 10_000), ...runs], 950)).toBeLessThan(12);
  });

  test('of a second night is not that of a first sync', () => {
    expect(millisecondsPerRequest([runOf(12, 1_200), runOf(1_000, 10_000)], 12)).toBeCloseTo(100);
    expect(millisecondsPerRequest([runOf(1_000, 10_000)], 12)).toBeCloseTo(10);
  });

  test('is not known where no run has ended that sent a request', () => {
    expect(millisecondsPerRequest([runOf(12, 1_200, false), runOf(0, 50)], 12)).toBeNull();
  });
});
