import { describe, expect, test } from 'vitest';
import { IDENTITIES, sumsOfStream } from '../../../schema/invariants.ts';
import { FIRST_DAY, shiftDay } from '../../../src/core/day.ts';
import type { DailyStream } from '../../../src/core/stream.ts';
import { areEqual, countIdentities, type Measured } from '../../../src/judge/identities.ts';

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
    ])('%s', (_, units, expected) => {
      expect(specified(units)).toBe(expected);
    });
  });
});
