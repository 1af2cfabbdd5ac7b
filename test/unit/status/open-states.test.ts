import { describe, expect, test } from 'vitest';
import { parseDay } from '../../../src/core/day.ts';
import type { DailyStream } from '../../../src/core/stream.ts';
import { doubtText } from '../../../src/judge/doubt.ts';
import { notesText } from '../../../src/judge/notes.ts';
import { type OpenFacts, openStatesOf } from '../../../src/status/open-states.ts';
import { dayKey, type LedgerUnit, pendingUnit, readinessKey } from '../../../src/units/unit.ts';

const TODAY = parseDay('2026-03-10');
const NOTHING: OpenFacts = { units: [], records: [], isNeverActive: false, today: TODAY };

function unit(stream: DailyStream, day: string, record: Partial<LedgerUnit>): LedgerUnit {
  const key = dayKey('org', { stream, day: parseDay(day) });
  return { ...pendingUnit(key), ...record } as LedgerUnit;
}

function doubt(
  rule: 'loss-of-all' | 'loss-of-reports',
  seenOn: readonly string[],
  missing: readonly string[],
) {
  return doubtText({ rule, rows: missing.length, of: 12, seenOn: seenOn.map(parseDay), missing });
}

test('nothing is open in a warehouse that waits for nothing', () => {
  expect(openStatesOf({ ...NOTHING, units: [unit('users', '2026-03-01', { state: 'loaded' })] })).toEqual([]);
});

describe('records in quarantine', () => {
  const units = [
    unit('users', '2026-03-01', {
      state: 'quarantined',
      watch: notesText({ heldSince: parseDay('2026-03-05') }),
    }),
    unit('tools', '2026-03-03', {
      state: 'quarantined',
      watch: notesText({ heldSince: parseDay('2026-03-07') }),
    }),
    unit('tokens', '2026-03-05', { state: 'quarantined' }),
  ];
  const records = [
    { stream: 'tools', day: parseDay('2026-03-03'), records: 2, since: '2026-03-07T03:00:00.000Z' },
    { stream: 'users', day: parseDay('2026-03-01'), records: 1, since: '2026-03-05T03:00:00.000Z' },
    { stream: 'tokens', day: parseDay('2026-03-05'), records: 4, since: '2026-03-08T03:00:00.000Z' },
    { stream: 'readiness', day: '', records: 1, since: '2026-03-06T03:00:00.000Z' },
  ] as const;

  test('that cannot be read come first, and end only if the service corrects them', () => {
    expect(openStatesOf({ ...NOTHING, units, records })[0]).toEqual({
      ...{ state: 'quarantined', exitCode: 5, count: 5, firstDay: '2026-03-05', lastDay: '2026-03-05' },
      ...{ since: '2026-03-06T03:00:00.000Z', looks: null, endsOn: null },
    });
  });

  test('that cannot be true end a week after the newest of them came', () => {
    expect(openStatesOf({ ...NOTHING, units, records })[1]).toEqual({
      ...{ state: 'impossible', exitCode: 5, count: 3, firstDay: '2026-03-01', lastDay: '2026-03-03' },
      ...{ since: '2026-03-05T03:00:00.000Z', looks: { soFar: 3, needed: 7 }, endsOn: '2026-03-14' },
    });
  });
});

test('doubted days end three looks and 60 hours after the newest doubt began', () => {
  const units = ['2026-03-02', '2026-03-04'].map((day, index) =>
    unit('users', day, {
      state: 'doubted',
      doubt: doubt('loss-of-all', ['2026-03-09', '2026-03-10'].slice(index), ['u']),
      doubtedAt: index === 0 ? '2026-03-09T03:00:00.000Z' : '2026-03-10T03:00:00.000Z',
    }),
  );
  expect(openStatesOf({ ...NOTHING, units })).toEqual([
    {
      ...{ state: 'doubted', exitCode: 5, count: 2, firstDay: '2026-03-02', lastDay: '2026-03-04' },
      ...{ since: '2026-03-09T03:00:00.000Z', looks: { soFar: 1, needed: 3 }, endsOn: '2026-03-12' },
    },
  ]);
});

describe('missing readiness reports', () => {
  const readiness = (record: Partial<LedgerUnit>) =>
    ({ ...pendingUnit(readinessKey('org')), state: 'loaded', ...record }) as LedgerUnit;

  test('end on the next day, and do not change the exit code', () => {
    const own = {
      doubt: doubt('loss-of-reports', ['2026-03-10'], ['a', 'b']),
      doubtedAt: '2026-03-10T20:00:00.000Z',
    };
    expect(openStatesOf({ ...NOTHING, units: [readiness(own)] })).toEqual([
      {
        ...{ state: 'reports-missing', exitCode: 0, count: 2, firstDay: null, lastDay: null },
        ...{ since: own.doubtedAt, looks: { soFar: 1, needed: 2 }, endsOn: '2026-03-11' },
      },
    ]);
  });

  test('end on the third day and after 60 hours if they are most of all', () => {
    const own = { doubt: doubt('loss-of-all', ['2026-03-10'], ['a']), doubtedAt: '2026-03-10T20:00:00.000Z' };
    expect(openStatesOf({ ...NOTHING, units: [readiness({ ...own, state: 'doubted' })] })).toMatchObject([
      { state: 'most-reports-missing', exitCode: 5, looks: { soFar: 1, needed: 3 }, endsOn: '2026-03-13' },
    ]);
  });
});

test('the empty days of an organization without any activity wait for the first', () => {
  const units = ['2026-01-14', '2026-01-15'].map((day) =>
    unit('users', day, { state: 'awaiting', lastPulledAt: '2026-03-01T03:00:00.000Z' }),
  );
  expect(openStatesOf({ ...NOTHING, units })).toEqual([]);
  expect(openStatesOf({ ...NOTHING, units, isNeverActive: true })).toEqual([
    {
      ...{ state: 'never-active', exitCode: 0, count: 2, firstDay: '2026-01-14', lastDay: '2026-01-15' },
      ...{ since: '2026-03-01T03:00:00.000Z', looks: null, endsOn: null },
    },
  ]);
});

describe('what has not been seen for some nights', () => {
  const digest = 'a'.repeat(16);
  const looks = [[parseDay('2026-03-05'), digest]] as const;
  const waiting = unit('users', '2026-02-01', {
    ...{ state: 'loaded', lastPulledAt: '2026-03-05T03:00:00.000Z', contentSha256: digest },
    watch: notesText({ looks, lookedAt: '2026-03-05T03:00:00.000Z', settlesOn: parseDay('2026-03-07') }),
  });

  test('ends in the night of its last missing look, and not before today', () => {
    expect(openStatesOf({ ...NOTHING, units: [waiting] })).toMatchObject([
      { state: 'first-looks', looks: { soFar: 1, needed: 3 }, endsOn: '2026-03-11' },
    ]);
  });

  test('ends a night later if a run of today has left it out', () => {
    const young = unit('users', '2026-03-09', { state: 'loaded', lastPulledAt: '2026-03-10T03:00:00.000Z' });
    expect(openStatesOf({ ...NOTHING, units: [waiting, young] })).toMatchObject([
      { state: 'first-looks', endsOn: '2026-03-12' },
    ]);
  });
});
