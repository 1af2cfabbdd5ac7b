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

test('a day that is still to come counts for no doubt', () => {
  const own = {
    doubt: doubt('loss-of-all', ['2026-03-10', '2026-03-20'], ['u']),
    doubtedAt: '2026-03-10T03:00:00.000Z',
  };
  const units = [unit('users', '2026-03-02', { ...own, state: 'doubted' })];
  expect(openStatesOf({ ...NOTHING, units })).toMatchObject([{ looks: { soFar: 1, needed: 3 } }]);
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

describe('a settled day that differs', () => {
  const [STORED, OTHER] = ['a'.repeat(64), 'b'.repeat(64)];
  /** A settled unit, with a look on each day from one in March on; its content is named by a letter. */
  const seen = (day: string, letters: string, firstNight: number, stream: DailyStream = 'tools') =>
    unit(stream, day, {
      ...{ state: 'loaded', contentSha256: STORED, settledAt: '2026-02-10T03:00:00.000Z' },
      watch: notesText({
        looks: [...letters].map((letter, index) => {
          const night = String(firstNight + index).padStart(2, '0');
          return [parseDay(`2026-03-${night}`), (letter === 'a' ? STORED : OTHER).slice(0, 16)] as const;
        }),
        lookedAt: '2026-03-09T03:00:00.000Z',
      }),
    });
  const two = [seen('2026-02-03', 'bb', 8), seen('2026-02-05', 'b', 9)];

  test('is seen otherwise until the third look at the last of them', () => {
    expect(openStatesOf({ ...NOTHING, units: two })).toEqual([
      {
        ...{ state: 'seen-otherwise', exitCode: 0, count: 2, firstDay: '2026-02-03', lastDay: '2026-02-05' },
        ...{ since: '2026-03-08T00:00:00.000Z', looks: { soFar: 1, needed: 3 }, endsOn: '2026-03-11' },
      },
    ]);
  });

  test('and goes back and forth is unstable, until five looks at the other content or three at the stored one', () => {
    const state = { state: 'unstable', exitCode: 5, count: 1 };
    expect(openStatesOf({ ...NOTHING, units: [seen('2026-02-03', 'bbab', 6)] })).toMatchObject([
      { ...state, looks: { soFar: 1, needed: 5 }, endsOn: '2026-03-13' },
    ]);
    expect(openStatesOf({ ...NOTHING, units: [seen('2026-02-03', 'bba', 7)] })).toMatchObject([
      { ...state, looks: { soFar: 1, needed: 3 }, endsOn: '2026-03-11' },
    ]);
  });

  test('needs five looks for a change while the service alternates, which is named until three nights after', () => {
    const flapping = { since: parseDay('2026-03-04'), lastOn: parseDay('2026-03-08') };
    const alternates = {
      ...{ state: 'flapping', exitCode: 5, count: 0, firstDay: null, lastDay: null, looks: null },
      ...{ since: '2026-03-04T00:00:00.000Z', endsOn: '2026-03-12' },
    };
    const differs = { state: 'seen-otherwise', looks: { soFar: 1, needed: 5 }, endsOn: '2026-03-13' };
    expect(openStatesOf({ ...NOTHING, units: two, flapping })).toMatchObject([alternates, differs]);
    const later = { ...NOTHING, units: two, flapping, today: parseDay('2026-03-12') };
    expect(openStatesOf(later)).toMatchObject([{ ...differs, endsOn: '2026-03-15' }]);
  });

  test('is one of many until the fourth night, and for three weeks at most', () => {
    const mass = {
      ...{ since: parseDay('2026-03-09'), days: 30 },
      ...{ first: parseDay('2026-02-01'), last: parseDay('2026-03-02') },
    };
    const named = {
      ...{ state: 'mass', exitCode: 5, count: 2, firstDay: '2026-02-03', lastDay: '2026-02-05', looks: null },
      ...{ since: '2026-03-09T00:00:00.000Z', endsOn: '2026-03-12' },
    };
    expect(openStatesOf({ ...NOTHING, units: two, mass })[0]).toEqual(named);
    const late = openStatesOf({ ...NOTHING, units: two, mass, today: parseDay('2026-03-31') });
    expect(late.map(({ state }) => state)).toEqual(['seen-otherwise']);
  });
});

test('a day that lacks a few users waits for three looks, and does not change the exit code', () => {
  const lacking = {
    rule: 'leaver',
    rows: 1,
    of: 40,
    seenOn: [parseDay('2026-03-09')],
    missing: 'AQ==',
  } as const;
  const units = [
    unit('users', '2026-03-02', {
      ...{ state: 'doubted', doubt: doubtText(lacking), doubtedAt: '2026-03-09T03:00:00.000Z' },
    }),
  ];
  expect(openStatesOf({ ...NOTHING, units })).toEqual([
    {
      ...{ state: 'leavers', exitCode: 0, count: 1, firstDay: '2026-03-02', lastDay: '2026-03-02' },
      ...{ since: '2026-03-09T03:00:00.000Z', looks: { soFar: 1, needed: 3 }, endsOn: '2026-03-11' },
    },
  ]);
});

test('a day that contradicts another stream waits for seven days of the same looks', () => {
  const digest = 'a'.repeat(64);
  const looks = ['2026-03-07', '2026-03-08', '2026-03-09'].map(
    (day) => [parseDay(day), digest.slice(0, 16)] as const,
  );
  const watch = notesText({ looks, lookedAt: '2026-03-09T03:00:00.000Z', odd: ['sessions'] });
  const units = [unit('users', '2026-03-03', { state: 'loaded', contentSha256: digest, watch })];
  expect(openStatesOf({ ...NOTHING, units })).toMatchObject([
    {
      ...{ state: 'figures-disagree', exitCode: 0, count: 1, since: '2026-03-07T00:00:00.000Z' },
      ...{ looks: { soFar: 3, needed: 7 }, endsOn: '2026-03-13' },
    },
  ]);
});

test('what runs had no requests for is listed for all jobs, and ends with the next run', () => {
  const [first, last] = [parseDay('2026-01-20'), parseDay('2026-02-20')];
  const leftOut = [
    { since: parseDay('2026-03-08'), units: 5, first, last },
    { since: parseDay('2026-03-06'), units: 2, first: last, last },
  ];
  expect(openStatesOf({ ...NOTHING, leftOut })).toEqual([
    {
      ...{ state: 'left-out', exitCode: 0, count: 7, firstDay: first, lastDay: last, looks: null },
      ...{ since: '2026-03-06T00:00:00.000Z', endsOn: TODAY },
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
