import { describe, expect, test } from 'vitest';
import type { ReportedEvent } from '../../../../src/cli/output/log.ts';
import { createJsonLog } from '../../../../src/cli/output/log.ts';
import { describeEvent } from '../../../../src/cli/output/reporting.ts';
import { systemClock } from '../../../../src/core/clock.ts';
import { parseDay } from '../../../../src/core/day.ts';

function loggedAs(event: ReportedEvent): Record<string, unknown> {
  const lines: string[] = [];
  const log = createJsonLog({ write: (text) => void lines.push(text), clock: systemClock() });
  log.write(describeEvent(event));
  return JSON.parse(lines.join(''));
}

describe('a line of the log about a unit', () => {
  test.each<[string, ReportedEvent]>([
    ['done', { ...done(), stream: 'readiness' }],
    ['elsewhere', { type: 'unit-elsewhere', stream: 'readiness', state: 'loaded' }],
    ['failed', { type: 'unit-failed', stream: 'readiness', state: 'failed', error: 'x', hint: undefined }],
    [
      'doubted',
      { type: 'unit-doubted', stream: 'readiness', rule: 'loss-of-all', rows: 1, of: 2, since: 's' },
    ],
  ])('that is %s has an empty day for readiness', (_, event) => {
    expect(loggedAs(event)).toMatchObject({ stream: 'readiness', day: '' });
  });

  test('has its stream and its day first', () => {
    const line = loggedAs({ ...done(), stream: 'users', day: parseDay('2026-02-01') });
    expect(Object.keys(line).slice(0, 5)).toEqual(['time', 'level', 'event', 'stream', 'day']);
    expect(line).toMatchObject({ stream: 'users', day: '2026-02-01' });
  });
});

describe('a line of the log about a failed unit', () => {
  test('has the remedy of the command line in place of the reason', () => {
    const line = loggedAs({
      type: 'unit-failed',
      stream: 'readiness',
      state: 'failed',
      error: 'x',
      hint: 'raise the request time-out if the service is that slow',
      reason: 'timed-out',
      facts: {},
    });
    expect(line['hint']).toContain('DAYWALK_REQUEST_TIMEOUT_MS');
    expect(Object.keys(line)).not.toContain('reason');
    expect(Object.keys(line)).not.toContain('facts');
  });
});

function done() {
  const counts = { rows: 1, rowsWritten: 1, requests: 1, quarantined: 0 };
  return { type: 'unit-done', state: 'loaded', restated: false, ...counts } as const;
}
