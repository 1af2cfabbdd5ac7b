import { stripVTControlCharacters } from 'node:util';
import { describe, expect, test } from 'vitest';
import { renderForecast } from '../../../src/cli/actions/export.ts';
import { renderCalendar } from '../../../src/cli/actions/status-tables.ts';
import { createStyle } from '../../../src/cli/output/terminal.ts';
import { renderRunSummary } from '../../../src/cli/screens/run-summary.ts';
import { namesOf } from '../../../src/cli/screens/sections.ts';
import { widthOf } from '../../../src/cli/screens/text.ts';
import { daysFrom, FIRST_DAY, parseDay } from '../../../src/core/day.ts';
import type { RunReport } from '../../../src/pipeline/events.ts';
import type { DayState } from '../../../src/status/organization.ts';

const style = createStyle(false);

const report: RunReport = {
  runId: 'run-1',
  command: 'run',
  orgId: 'org_1',
  exitCode: 0,
  firstDay: FIRST_DAY,
  lastDay: parseDay('2026-03-01'),
  unitsPlanned: 1_236,
  unitsSettled: 0,
  unitsDone: 1_236,
  unitsFailed: 0,
  unitsElsewhere: 0,
  unitsLeftOut: 0,
  unitsDoubted: 0,
  unitsUnstable: 0,
  daysReopened: 0,
  states: { loaded: 1_230, empty: 6 },
  rowsWritten: 48_120,
  restatements: 2,
  quarantined: 0,
  requests: 1_310,
  retries: 1,
  responses: { 200: 1_309, 503: 1 },
  durationMs: 185_000,
  completed: ['tokens', 'users'],
  problems: [],
};

describe('a calendar', () => {
  const days = daysFrom(FIRST_DAY, parseDay('2026-03-05')).map((day) => ({
    day,
    state: 'settled' as DayState,
  }));
  const set = (day: string, state: DayState) =>
    days.map((entry) => (entry.day === day ? { ...entry, state } : entry));

  test('has a line per month and a cell per day, aligned with its ruler', () => {
    const lines = renderCalendar(set('2026-02-10', 'failed'), { width: 80, style }) ?? [];
    expect(lines.slice(0, 4)).toEqual([
      '         1       5         10        15        20        25        30',
      `2026-01  ${' '.repeat(26)}${'■ '.repeat(18).trim()}`,
      `2026-02  ${'■ '.repeat(9)}F ${'■ '.repeat(18).trim()}`,
      '2026-03  ■ ■ ■ ■ ■',
    ]);
    expect(lines[2]?.indexOf('F')).toBe(lines[0]?.indexOf('10'));
    expect(lines[4]).toBe('■ settled   F failed');
  });

  test('shows every state distinctly without colour', () => {
    const states: DayState[] = [
      'failed',
      'quarantined',
      'pending',
      'awaiting',
      'unsettled',
      'empty',
      'settled',
    ];
    const mixed = days
      .slice(0, states.length)
      .map(({ day }, index) => ({ day, state: states[index] ?? 'settled' }));
    const [, month = ''] = renderCalendar(mixed, { width: 200, style }) ?? [];
    const symbols = month.slice(9).trim().split(' ');
    expect(symbols).toHaveLength(states.length);
    expect(new Set(symbols).size).toBe(states.length);
  });

  test.each([80, 72, 71, 40])('fits %i cells', (width) => {
    const lines = renderCalendar(set('2026-02-10', 'quarantined'), { width, style }) ?? [];
    expect(lines.length).toBeGreaterThan(3);
    for (const line of lines) expect(widthOf(line)).toBeLessThanOrEqual(width);
  });

  test('is omitted if it does not fit', () => {
    expect(renderCalendar(days, { width: 39, style })).toBeNull();
    expect(renderCalendar([], { width: 80, style })).toBeNull();
  });

  test('of years shows the latest months and says so', () => {
    const years = daysFrom(FIRST_DAY, parseDay('2029-02-28')).map((day) => ({
      day,
      state: 'settled' as DayState,
    }));
    const lines = renderCalendar(years, { width: 80, style }) ?? [];
    expect(lines.length).toBeLessThan(24);
    expect(lines.at(-1)).toBe('20 earlier months are not shown; --json has every day');
  });

  test('has the same shape with colours', () => {
    const frame = { width: 80, style: createStyle(true) };
    const coloured = renderCalendar(days, frame)?.map(stripVTControlCharacters);
    expect(coloured).toEqual(renderCalendar(days, { width: 80, style }));
  });
});

describe('the summary of a run', () => {
  const draw = (change: Partial<RunReport>, width = 80) =>
    renderRunSummary(
      { ...report, ...change },
      {
        width,
        style,
        isTerminal: true,
        redact: (text) => text.replaceAll('canary', '[redacted]'),
        warehouse: namesOf('w.db', true),
      },
    );

  test('of a complete run', () => {
    expect(draw({})).toEqual([
      'run: complete, 1,236 units in the warehouse',
      '',
      '  organization  org_1',
      '  days          2026-01-14 to 2026-03-01',
      '  units         1,236 planned: 1,236 done, 0 failed, 0 left out',
      '  states        1,230 loaded, 6 empty',
      '  rows written  48,120',
      '  restatements  2',
      '  quarantined   0 records',
      '  requests      1,310, including 1 retry',
      '  duration      3m 05s',
      '',
      'Next',
      '  daywalk status --warehouse w.db',
      '      what the warehouse holds, day by day',
      '',
      'run run-1',
    ]);
  });

  test('of a run that added an organization names the earlier ones', () => {
    const line = (before: readonly string[]) => draw({ organizationsBefore: before }, 200)[2];
    expect(line(['org_0'])).toBe('  organization  org_1, new in this warehouse; it already held org_0');
    expect(line(['a', 'b', 'c', 'd'])).toMatch(/held a, b, c, …$/);
  });

  test('of a run that doubts a loss says how to accept it, and does not mention quarantine', () => {
    const lines = draw({ exitCode: 5, unitsDoubted: 2, states: { loaded: 3, doubted: 2 } }, 120).join('\n');
    expect(lines).toContain('doubted       2 units; the stored rows are kept');
    expect(lines).toContain('daywalk run --accept-loss');
    expect(lines).not.toContain('quarantine list');
  });

  test('of a run before the daily batch says what is not available yet', () => {
    expect(draw({ unitsDone: 10, states: { loaded: 5, awaiting: 5 } })[0]).toBe(
      'run: complete, 10 units in the warehouse; 5 await the daily batch',
    );
  });

  test('of a backfill names the settled units that it did not pull', () => {
    expect(draw({ command: 'backfill', unitsSettled: 35 }).join('\n')).toContain(
      '35 settled units; --force pulls settled units too',
    );
    expect(draw({ unitsSettled: 35 }).join('\n')).not.toContain('--force');
  });

  test('of a run with nothing to do says so', () => {
    expect(draw({ unitsPlanned: 0, unitsDone: 0, states: {} })[0]).toBe(
      'run: nothing to do, every day is settled or was seen today',
    );
  });

  test.each([
    [1, 'a defect in daywalk'],
    [3, 'the service refused the credential'],
    [4, 'upstream failure'],
    [
      5,
      'records were quarantined, a loss of stored rows is doubted, or the organization is not the expected one',
    ],
    [6, 'the warehouse could not be read or written'],
    [75, 'another run holds the warehouse'],
    [130, 'stopped by SIGINT'],
    [143, 'stopped by SIGTERM'],
  ] as const)('never calls a run with exit code %i complete', (exitCode, meaning) => {
    const lines = draw({ exitCode, unitsDone: 3, unitsFailed: 2, unitsLeftOut: 1 });
    expect(lines[0]).toBe(`run: exit code ${exitCode}, ${lines[0]?.split(', ').slice(1).join(', ')}`);
    expect(lines[0]).toContain(meaning);
    expect(lines.join('\n')).not.toContain('complete');
    expect(lines.join('\n')).toContain('3 done, 2 failed, 1 left out');
    expect(lines).toContain('Next');
  });

  test.each([40, 80, 200])('with problems fits %i cells, redacts before it cuts, and escapes', (width) => {
    const problem = {
      message: `pull users: answered \u001b[31mcanary${'x'.repeat(200)}`,
      hint: 'see the log',
      units: 3,
    };
    const lines = draw({ exitCode: 4, problems: Array.from({ length: 20 }, () => problem) }, width);
    const text = lines.join('\n');
    expect(text).not.toContain('\u001b');
    expect(text).not.toContain('canary');
    expect(text).toContain('3 units: pull users');
    expect(text).toContain('and 12 more; --json lists them all');
    const own = lines.slice(0, lines.indexOf('Next'));
    for (const line of own) expect(widthOf(line)).toBeLessThanOrEqual(Math.max(width, 73));
  });

  test('of a run that ended before the service named the organization', () => {
    const lines = draw({
      exitCode: 3,
      orgId: null,
      firstDay: null,
      lastDay: null,
      unitsPlanned: 0,
      unitsDone: 0,
      states: {},
    });
    expect(lines.join('\n')).toContain('the run ended before the service named it');
    expect(lines.join('\n')).toContain('none planned');
  });
});

test('suggested commands name a warehouse without its password', () => {
  const names = namesOf('postgres://etl:canary@db/analytics', true);
  expect(names.name).toBe("'postgres://etl:[redacted]@db/analytics'");
  expect(names.flag).toBe(` --warehouse ${names.name}`);
  expect(namesOf("it's.db", false)).toEqual({ name: "'it'\\''s.db'", flag: '' });
});

test('a forecast says what a run would do, and that nothing was done', () => {
  const forecast = {
    orgId: null,
    firstDay: FIRST_DAY,
    lastDay: parseDay('2026-03-01'),
    units: 236,
    newDays: 47,
    unitsByStream: { tokens: 47, users: 47, readiness: 1 },
    isEstimate: true,
    requests: 300,
    durationMs: 61_000,
    isDurationEstimate: true,
  };
  const lines = renderForecast(forecast, { width: 80, style });
  expect(lines[0]).toBe('This is what a run would do. Nothing was sent, nothing was written.');
  expect(lines).toContain('  time          about 1m 01s (a rough estimate: no run was this large)');
  expect(lines.join('\n')).toContain('  users         47');
  expect(renderForecast({ ...forecast, units: 0, unitsByStream: {} }, { width: 80, style })[0]).toContain(
    'Nothing to pull',
  );
});
