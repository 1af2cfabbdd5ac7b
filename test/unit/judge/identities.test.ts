import { describe, expect, test } from 'vitest';
import { IDENTITIES, sumsOfStream } from '../../../schema/invariants.ts';
import { FIRST_DAY, shiftDay } from '../../../src/core/day.ts';
import type { DailyStream } from '../../../src/core/stream.ts';
import {
  areEqual,
  brokenBy,
  type Change,
  countIdentities,
  doHold,
  type Measured,
  violationsOf,
  waitedDays,
} from '../../../src/judge/identities.ts';
import { sortChanges, withBreaks } from '../../../src/judge/watch.ts';

const TODAY = shiftDay(FIRST_DAY, 80);
const TOOL_CALLS = 'user_daily.tool_calls = tools_daily.tool_calls';

/** The ledger knows the figures by their order, so it may only grow at its end. */
test('the identities keep their order', () => {
  expect(IDENTITIES.map(({ name, isSpecified }) => `${name}${isSpecified ? ', specified' : ''}`)).toEqual([
    'user_daily.rows = activity_daily.daily_active_users, specified',
    'user_daily.sessions = activity_daily.sessions',
    'user_daily.messages = activity_daily.messages',
    'user_daily.user_messages = activity_daily.user_messages',
    'user_daily.billable_tokens = tokens_daily.billable_tokens',
    'user_daily.files_created = productivity_daily.files_created',
    'user_daily.files_edited = productivity_daily.files_edited',
    'user_daily.git_commits = productivity_daily.git_commits',
    'user_daily.git_prs_created = productivity_daily.git_prs_created',
    'user_daily.tool_calls = tools_daily.tool_calls',
    'user_daily.skill_calls = tools_daily.skills_invocations',
    'user_daily.slash_commands = tools_daily.slash_commands_invocations',
    'user_daily.hooks = tools_daily.hooks_invocations',
    'user_daily.mcp_calls = tools_daily_by_mcp_server.invocations',
  ]);
});

test('sums of doubles are equal whatever their order', () => {
  expect(areEqual(0.1 + 0.2 + 0.3, 0.3 + 0.2 + 0.1)).toBe(true);
  expect(areEqual(1_000_000, 1_000_001)).toBe(false);
  expect(areEqual(0, 0)).toBe(true);
  expect(areEqual(0.001, 0.0010001)).toBe(false);
});

/** A unit with one number in all its figures, so many days ago. */
function unit(stream: DailyStream, age: number, value: number, isSettled = true): Measured {
  const figures = sumsOfStream(stream).map(() => value);
  return {
    ...{ stream, day: shiftDay(TODAY, -age), state: 'loaded', activeUsers: value },
    ...{ settledAt: isSettled ? 'then' : null, watch: JSON.stringify({ figures }) },
  };
}

/** Users and tools of so many days, the newest of which differ. */
function days(known: number, { differing = 0, isSettled = true, oldest = 3 + known } = {}): Measured[] {
  return Array.from({ length: known }, (_, index) => oldest - known + index).flatMap((age, index) => [
    unit('users', age, 10, isSettled),
    unit('tools', age, index < differing ? 11 : 10, isSettled),
    unit('activity', age, index < differing ? 11 : 10, isSettled),
  ]);
}

describe('an identity counts', () => {
  const counts = (units: readonly Measured[]) =>
    countIdentities(IDENTITIES, units, { today: TODAY, settleDays: 3 }).some(
      ({ name, counts: isOn }) => name === TOOL_CALLS && isOn,
    );

  test.each([
    ['if it held on all of 14 days', days(14), true],
    ['not if only 13 are known', days(13), false],
    ['if it held on 90 % of them', days(20, { differing: 2 }), true],
    ['not if it held on fewer', days(20, { differing: 3 }), false],
    ['whether or not they have settled', days(14, { isSettled: false }), true],
    ['not by days that are older than 60', days(14, { oldest: 80 }), false],
    ['by a day that is 60 days old', days(14, { oldest: 61 }), true],
    [
      'not by days with records in quarantine',
      days(14).map((own) => ({ ...own, state: 'quarantined' })),
      false,
    ],
    [
      'not if a figure of one of 14 is not known',
      days(14).map((own, index) => (index === 0 ? { ...own, watch: null } : own)),
      false,
    ],
    ['not by days that are too young to settle', days(14, { oldest: 16 }), false],
    ['not by days of which one figure is not known', days(14).map((own) => ({ ...own, watch: null })), false],
  ])('%s', (_, units, expected) => {
    expect(counts(units)).toBe(expected);
  });

  describe('that the specification supports', () => {
    const specified = (units: readonly Measured[]) =>
      countIdentities(IDENTITIES, units, { today: TODAY, settleDays: 3 }).some(
        ({ isSpecified, counts: isOn }) => isSpecified && isOn,
      );

    test.each([
      ['where nothing is known', [], true],
      ['until 14 settled days say otherwise', days(13, { differing: 13 }), true],
      ['also if unsettled days say otherwise', days(30, { differing: 30, isSettled: false }), true],
      ['no longer if 14 settled days do', days(14, { differing: 14 }), false],
      [
        'as long as one of the streams has not settled',
        days(14, { differing: 14 }).map((own) =>
          own.stream === 'users' ? own : { ...own, settledAt: null },
        ),
        true,
      ],
    ])('%s', (_, units, expected) => {
      expect(specified(units)).toBe(expected);
    });
  });
});

describe('a change of settled units', () => {
  const counted = IDENTITIES.filter(({ name }) => name === TOOL_CALLS).map((each) => ({
    ...each,
    counts: true,
  }));
  const [users, tools] = [unit('users', 9, 10), unit('tools', 9, 10)];
  /** A change to another number, which looks have found on so many days. */
  const change = (stream: DailyStream, value: number, lookDays = 3): Change => ({
    ...{ stream, day: users.day, sha256: 'b'.repeat(64), activeUsers: value },
    figures: sumsOfStream(stream).map(() => value),
    looks: {
      looks: Array.from(
        { length: lookDays },
        (_, index) => [shiftDay(TODAY, index), 'b'.repeat(16)] as const,
      ),
      lookedAt: '2026-04-04T03:00:00Z',
    },
  });
  const breaks = (...changes: readonly Change[]) => brokenBy(changes, [users, tools], counted);

  test('waits while it contradicts another stream, for seven days', () => {
    expect(breaks(change('tools', 11))).toEqual([TOOL_CALLS]);
    expect(breaks(change('tools', 11, 6))).toEqual([TOOL_CALLS]);
    expect(breaks(change('tools', 11, 7))).toEqual([]);
    expect(breaks(change('tools', 11, 7), change('users', 12))).toEqual([TOOL_CALLS]);
  });

  test('does not wait if both streams change alike, if the contradiction is not new, or does not count', () => {
    expect(breaks(change('tools', 11), change('users', 11))).toEqual([]);
    expect(brokenBy([change('tools', 12)], [users, unit('tools', 9, 11)], counted)).toEqual([]);
    const named = counted.map((each) => ({ ...each, counts: false }));
    expect(brokenBy([change('tools', 11)], [users, tools], named)).toEqual([]);
  });

  test('does not wait for another change that contradicts nothing', () => {
    expect(breaks(change('tools', 11, 7), change('productivity', 10))).toEqual([]);
  });

  test('waits while one of those that contradict the others is new', () => {
    const both = IDENTITIES.filter(({ name }) => name === TOOL_CALLS || name.endsWith('.files_edited')).map(
      (each) => ({ ...each, counts: true }),
    );
    const changes = [change('tools', 11), change('productivity', 12, 7)];
    const units = [users, tools, unit('productivity', 9, 10)];
    expect(brokenBy(changes, units, both)).toEqual(both.map(({ name }) => name).toSorted());
    const waited = [change('tools', 11, 7), change('productivity', 12, 7)];
    expect(brokenBy(waited, units, both)).toEqual([]);
  });

  test('that no look has found has waited for no day', () => {
    expect(waitedDays({}, 'b'.repeat(64))).toBe(0);
    expect(waitedDays(change('tools', 11, 1).looks, 'b'.repeat(64))).toBe(1);
    expect(waitedDays(change('tools', 11, 2).looks, 'b'.repeat(64))).toBe(2);
  });

  test('brings rows where there were none', () => {
    const empty = { ...tools, state: 'empty' };
    expect(brokenBy([change('tools', 11)], [users, empty], counted)).toEqual([TOOL_CALLS]);
    expect(brokenBy([change('tools', 10)], [users, empty], counted)).toEqual([]);
  });

  test('is stored or waits together with the others of its day', () => {
    const other = { ...change('tools', 11), day: shiftDay(TODAY, -20) };
    const changes = [change('tools', 11), other, change('activity', 5)];
    const sorted = sortChanges(changes, (day) => (day === users.day ? [users, tools] : []), counted);
    expect(sorted.ready).toEqual([other]);
    expect(sorted.waiting).toEqual(
      [changes[0], changes[2]].map((each) => ({ ...each, breaks: [TOOL_CALLS] })),
    );
    const [waits, goes] = [users, { ...users, day: other.day }].map((each) =>
      withBreaks({ ...each, stream: 'tools', watch: '{"own":"x","breaks":["old"]}' }, sorted.waiting),
    );
    expect(waits?.watch).toBe(`{"breaks":["${TOOL_CALLS}"],"own":"x"}`);
    expect(goes?.watch).toBe('{"own":"x"}');
    expect(withBreaks({ ...users, watch: null }, sorted.waiting).watch).toBeNull();
  });
});

describe('the streams of a day', () => {
  const counted = IDENTITIES.map((each) => ({ ...each, counts: false }));
  const names = (units: readonly Measured[]) => violationsOf(units, counted).map(({ identity }) => identity);

  test('contradict each other where both are known, and have activity', () => {
    const [users, tools] = [unit('users', 9, 10), unit('tools', 9, 11)];
    expect(violationsOf([users, tools], counted)).toContainEqual({
      ...{ identity: TOOL_CALLS, counts: false, streams: ['users', 'tools'] },
    });
    expect(names([users, unit('tools', 9, 10)])).toEqual([]);
    expect(names([users])).toEqual([]);
    for (const state of ['pending', 'awaiting', 'empty'])
      expect(names([users, { ...tools, state }])).toEqual([]);
    expect(names([users, { ...tools, watch: null }])).toEqual([]);
    expect(names([{ ...users, activeUsers: null, watch: null }, unit('activity', 9, 11)])).toEqual([]);
  });

  test('are known to agree only if every identity that is named exists, and its figures are known', () => {
    const units = [unit('users', 9, 10), unit('tools', 9, 10)];
    expect(doHold([TOOL_CALLS], units, IDENTITIES)).toBe(true);
    expect(doHold([TOOL_CALLS, 'gone'], units, IDENTITIES)).toBe(false);
    expect(doHold([TOOL_CALLS], units.slice(1), IDENTITIES)).toBe(false);
    expect(doHold([TOOL_CALLS], [...units.slice(1), unit('users', 9, 11)], IDENTITIES)).toBe(false);
  });
});
