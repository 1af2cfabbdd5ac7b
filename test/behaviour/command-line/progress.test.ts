import { stripVTControlCharacters } from 'node:util';
import { afterEach, beforeEach, describe, expect, test, vi } from 'vitest';
import {
  advance,
  renderProgress,
  requestRate,
  startProgress,
  timeLeftMs,
} from '../../../src/cli/output/progress.ts';
import { createReporting, type Reporting } from '../../../src/cli/output/reporting.ts';
import { createSink, createStyle, terminalOf } from '../../../src/cli/output/terminal.ts';
import { widthOf } from '../../../src/cli/screens/text.ts';
import type { Clock } from '../../../src/core/clock.ts';
import { parseDay } from '../../../src/core/day.ts';
import type { RunEvent } from '../../../src/pipeline/events.ts';
import { createRedactor } from '../../../src/settings/secrets.ts';
import { FakeStream } from '../../support/process/fake-terminal.ts';

const DAY = parseDay('2026-03-01');
const ESCAPE = '\u001b';

const planned = (units: number): RunEvent => ({
  type: 'planned',
  orgId: 'org_1',
  units,
  firstDay: DAY,
  lastDay: DAY,
  streams: ['tokens'],
});
const started: RunEvent = { type: 'run-started', runId: 'r', command: 'run', warehouse: 'w.db' };
const done: RunEvent = {
  type: 'unit-done',
  stream: 'tokens',
  day: DAY,
  state: 'loaded',
  rows: 5,
  rowsWritten: 5,
  requests: 2,
  restated: false,
  quarantined: 0,
};
const failed: RunEvent = {
  type: 'unit-failed',
  stream: 'users',
  day: DAY,
  state: 'failed',
  error: 'answered 500',
  hint: 'wait',
};

const manualClock = (): Clock & { atMs: number } => ({
  atMs: 0,
  now() {
    return new Date(Date.UTC(2026, 2, 2, 3, 0, 0, this.atMs));
  },
  monotonicMs() {
    return this.atMs;
  },
  sleep: () => Promise.resolve(),
});

describe('the state of a run', () => {
  test('follows from its events alone', () => {
    let state = startProgress(0);
    expect([requestRate(state, 100), timeLeftMs(state, 100)]).toEqual([null, null]);
    state = advance(state, planned(10), 0);
    for (let atMs = 1_000; atMs <= 4_000; atMs += 1_000) state = advance(state, done, atMs);
    state = advance(state, failed, 5_000);
    expect(state).toMatchObject({
      unitsPlanned: 10,
      unitsDone: 4,
      unitsFailed: 1,
      rowsWritten: 20,
      requests: 8,
    });
    expect(requestRate(state, 5_000)).toBeCloseTo(8 / 5);
    expect(timeLeftMs(state, 5_000)).toBe(5_000);
  });

  test('forgets old rates, and keeps few samples in a fast run', () => {
    let state = advance(startProgress(0), planned(100_000), 0);
    for (let atMs = 0; atMs < 20_000; atMs += 1) state = advance(state, done, atMs);
    expect(state.samples.length).toBeLessThan(50);
    expect(requestRate(state, 20_000)).toBeGreaterThan(1_900);
    expect(requestRate(state, 20_000)).toBeLessThan(2_100);
  });
});

describe('the progress line', () => {
  test.each([20, 40, 80, 120, 200])('fits %i cells and shows the progress', (width) => {
    let state = advance(startProgress(0), planned(1_240), 0);
    for (let index = 0; index < 620; index += 1) state = advance(state, done, index * 10);
    const line = renderProgress(state, { atMs: 6_200, width, style: createStyle(false) });
    expect(widthOf(line)).toBeLessThanOrEqual(width);
    expect(line).toContain('620/1,240 units');
    if (width >= 80) expect(line).toMatch(/^━+─+ {2}620\/1,240 units {2}6\.2 s left {2}3,100 rows/);
  });
});

describe('a run that waits for the service', () => {
  const facts = { host: 'https://api.example.com', since: '2026-03-02T03:00:12.345Z' };
  const began: RunEvent = { type: 'wait-began', ...facts, until: '2026-03-02T03:30:22.345Z' };
  const ended: RunEvent = { type: 'wait-ended', ...facts, end: 'answered' };
  const frame = { atMs: 6_200, width: 80, style: createStyle(false) };

  test('says since when, before its plan is known and afterwards, until the service answers', () => {
    const preparing = advance(startProgress(0), began, 0);
    expect(renderProgress(preparing, frame)).toMatch(/^waiting for the service since 03:00:12 UTC/);
    const pulling = advance(advance(startProgress(0), planned(10), 0), began, 0);
    expect(renderProgress(pulling, frame)).toMatch(
      /^waiting for the service since 03:00:12 UTC {2}0\/10 units/,
    );
    expect(widthOf(renderProgress(pulling, { ...frame, width: 20 }))).toBeLessThanOrEqual(20);
    expect(renderProgress(advance(pulling, ended, 0), frame)).not.toContain('waiting');
  });
});

describe('on a terminal', () => {
  let stream: FakeStream;
  let reporting: Reporting;
  let clock: ReturnType<typeof manualClock>;

  const open = (env: Record<string, string> = {}, columns = 80) => {
    stream = new FakeStream({ columns });
    clock = manualClock();
    const terminal = terminalOf(stream, env);
    const redact = (text: string) => text.replaceAll('canary', '[redacted]');
    reporting = createReporting({ format: 'pretty', sink: createSink(stream), terminal, redact, clock });
  };
  const pass = (ms: number) => {
    clock.atMs += ms;
    vi.advanceTimersByTime(ms);
  };

  beforeEach(() => {
    vi.useFakeTimers();
  });
  afterEach(() => {
    reporting.stop();
    vi.useRealTimers();
  });

  test('one line is redrawn in place, at most ten times a second', () => {
    open();
    for (const event of [started, planned(100)]) reporting.observe(event);
    for (let unit = 0; unit < 100; unit += 1) {
      reporting.observe(done);
      pass(10);
    }
    const draws = stream.text.split('\r').length - 1;
    expect(draws).toBeGreaterThan(5);
    expect(draws).toBeLessThanOrEqual(11);
    expect(stream.screen.at(-1)).toContain('100/100 units');
  });

  test('log lines scroll above it, and it stays the last line', () => {
    open();
    for (const event of [started, planned(10), done]) reporting.observe(event);
    pass(100);
    reporting.observe(failed);
    const visible = stream.screen.map((line) => stripVTControlCharacters(line));
    expect(visible.slice(-3, -1)).toEqual(['error: users 2026-03-01 failed: answered 500', '  hint: wait']);
    expect(visible.at(-1)).toContain('1/10 units');
  });

  test('it disappears when the run ends, and nothing is drawn afterwards', () => {
    open();
    for (const event of [started, planned(10), done]) reporting.observe(event);
    pass(500);
    reporting.stop();
    expect(stream.screen.at(-1)).toBe('');
    const before = stream.text;
    pass(5_000);
    expect(stream.text).toBe(before);
    expect(vi.getTimerCount()).toBe(0);
  });

  test('its width follows the window size', () => {
    open({}, 120);
    for (const event of [started, planned(10), done]) reporting.observe(event);
    pass(100);
    stream.columns = 40;
    reporting.observe(done);
    pass(100);
    const line = stripVTControlCharacters(stream.screen.at(-1) ?? '');
    expect(line).toContain('2/10 units');
    expect(widthOf(line)).toBeLessThan(40);
  });

  test.each([{ NO_COLOR: '1' }, { TERM: 'dumb' }])(
    'with %j there are no control codes, and progress is logged at intervals',
    (env) => {
      open(env);
      for (const event of [started, planned(10), done, failed]) reporting.observe(event);
      pass(30_000);
      reporting.stop();
      expect(stream.text).not.toContain(ESCAPE);
      expect(stream.text).not.toContain('\r');
      expect(stream.text).toContain('2/10 units');
    },
  );

  test('secrets and foreign control codes are not shown', () => {
    open();
    reporting.observe({ type: 'warning', message: 'key canary \u001b[2Jcleared\nnext', hint: undefined });
    expect(stream.text).toContain('key [redacted] \\x1b[2Jcleared\\nnext');
  });
});

test('no part of a secret remains where a log line is wrapped', () => {
  const secret = 'canary-0123456789abcdef';
  for (let columns = 20; columns <= 80; columns += 1) {
    const stream = new FakeStream({ columns });
    const redact = createRedactor([secret]);
    const options = {
      sink: createSink(stream),
      terminal: terminalOf(stream, {}),
      redact,
      clock: manualClock(),
    };
    const reporting = createReporting({ format: 'pretty', ...options });
    const message = `GET https://h/path answered 400: the key ${secret} is not known here`;
    reporting.observe({ type: 'warning', message, hint: `not ${secret}` });
    expect(stripVTControlCharacters(stream.text).replaceAll(/\s/g, '')).not.toMatch(/canary|0123|cdef/);
  }
});

describe('without a terminal', () => {
  test('each event is one line of JSON with time, level and event, without secrets', () => {
    const stream = new FakeStream();
    const terminal = terminalOf(stream, {});
    const redact = (text: string) => text.replaceAll('canary', '[redacted]');
    const reporting = createReporting({
      format: 'json',
      sink: createSink(stream),
      terminal,
      redact,
      clock: manualClock(),
    });
    const nasty: RunEvent = {
      type: 'warning',
      message: 'canary\n{"event":"forged"}\u2028\u001b[0m',
      hint: undefined,
    };
    for (const event of [started, planned(2), done, failed, nasty]) reporting.observe(event);

    const lines = stream.text
      .trimEnd()
      .split('\n')
      .map((line) => JSON.parse(line));
    expect(lines.map(({ event, level }) => [event, level])).toEqual([
      ['run-started', 'info'],
      ['planned', 'info'],
      ['unit-done', 'info'],
      ['unit-failed', 'error'],
      ['warning', 'warn'],
    ]);
    for (const line of lines) expect(line.time).toBe('2026-03-02T03:00:00.000Z');
    expect(lines[2]).toMatchObject({ stream: 'tokens', day: '2026-03-01', state: 'loaded', rowsWritten: 5 });
    expect(lines[3]).toMatchObject({ error: 'answered 500', hint: 'wait' });
    expect(lines[4].message).toBe('[redacted]\n{"event":"forged"}\u2028\u001b[0m');
  });

  test('the level silent prints nothing', () => {
    const stream = new FakeStream();
    const options = {
      sink: createSink(stream),
      terminal: terminalOf(stream, {}),
      redact: String,
      clock: manualClock(),
    };
    const reporting = createReporting({ format: 'silent', ...options });
    for (const event of [started, planned(2), failed]) reporting.observe(event);
    reporting.stop();
    expect(stream.text).toBe('');
  });

  test('the text log shows a few retries, not thousands', () => {
    const stream = new FakeStream();
    const options = {
      sink: createSink(stream),
      terminal: terminalOf(stream, {}),
      redact: String,
      clock: manualClock(),
    };
    const reporting = createReporting({ format: 'pretty', ...options });
    const retry: RunEvent = {
      type: 'retry',
      target: 'GET /tokens',
      attempt: 1,
      waitMs: 500,
      error: 'answered 503',
    };
    for (let index = 0; index < 1_000; index += 1) reporting.observe(retry);
    const lines = stream.text.trimEnd().split('\n');
    expect(lines).toHaveLength(6);
    expect(lines.at(-1)).toBe('further retries are only counted');
  });
});
