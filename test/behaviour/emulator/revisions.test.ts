import { describe, expect, test } from 'vitest';
import type { UserRow } from '../../../src/contract/shapes.ts';
import { parseDay } from '../../../src/core/day.ts';
import type { RevisionRequest } from '../../../src/emulator/revise.ts';
import { type Json, type Probe, probe, sumOf } from '../../support/emulator/probe.ts';

const DAY = parseDay('2026-02-03');
const NEIGHBOUR = '2026-02-04';

interface WholeDay {
  readonly users: UserRow[];
  readonly tokens: Json;
  readonly tools: Json;
  readonly activity: Json;
  readonly productivity: Json;
}

async function wholeDay(at: Probe, day: string): Promise<WholeDay> {
  const [tokens, tools, activity, productivity] = await Promise.all(
    (['tokens', 'tools', 'activity', 'productivity'] as const).map(
      async (stream) => (await at.rows(stream, day))[0],
    ),
  );
  return { users: (await at.walk(day)).rows, tokens, tools, activity, productivity };
}

function expectCoherent({ users, tokens, tools, activity, productivity }: WholeDay): void {
  expect(activity.daily_active_users).toBe(users.length);
  expect(activity.messages).toBe(sumOf(users, 'messages'));
  expect(tools.tool_calls).toBe(sumOf(users, 'tool_calls'));
  expect(sumOf(tools.by_tool, 'invocations')).toBe(tools.tool_calls);
  expect(tokens.billable_tokens).toBe(sumOf(users, 'billable_tokens'));
  expect(sumOf(tokens.by_model, 'billable_tokens')).toBe(tokens.billable_tokens);
  expect(tokens.by_user.map((user: Json) => user.user_id)).toEqual(users.map((user) => user.user_id));
  expect(productivity.files_edited).toBe(sumOf(users, 'files_edited'));
  const files = productivity.files_created + productivity.files_edited;
  expect(sumOf(productivity.by_language, 'count')).toBe(files);
}

async function revised(request: Omit<RevisionRequest, 'day'>) {
  const at = await probe({ users: 80 });
  const before = await wholeDay(at, DAY);
  const neighbour = await wholeDay(at, NEIGHBOUR);
  const outcome = at.emulator.revise({ day: DAY, ...request });
  const after = await wholeDay(at, DAY);
  const then = await wholeDay(at, NEIGHBOUR);
  // Only the trailing unions of the days that follow may show it.
  expect({ ...then, activity: then.activity.daily_active_users }).toEqual({
    ...neighbour,
    activity: neighbour.activity.daily_active_users,
  });
  return { at, before, after, outcome };
}

const idsOf = (day: WholeDay) => day.users.map((user) => user.user_id);

test('restate changes the numbers of the same users, consistently on all endpoints', async () => {
  const { before, after } = await revised({ kind: 'restate' });
  expect(idsOf(after)).toEqual(idsOf(before));
  expect(after.tokens.billable_tokens).not.toBe(before.tokens.billable_tokens);
  const same = after.users.filter(
    (user, index) => user.billable_tokens === before.users[index]?.billable_tokens,
  );
  expect(same).toEqual([]);
  expectCoherent(after);
});

test('restate with a share changes some users only', async () => {
  const { before, after } = await revised({ kind: 'restate', share: 0.3 });
  const changed = after.users.filter(
    (user, index) => user.billable_tokens !== before.users[index]?.billable_tokens,
  );
  expect(changed.length).toBeGreaterThan(0);
  expect(changed.length).toBeLessThan(after.users.length / 2);
  expectCoherent(after);
});

test('restate of some streams does not change the others, so that a cross-check finds a difference', async () => {
  const { before, after } = await revised({ kind: 'restate', streams: ['tools'] });
  expect(after.tools.tool_calls).not.toBe(before.tools.tool_calls);
  expect({ ...after, tools: null }).toEqual({ ...before, tools: null });
});

test('vanish-users removes users from every endpoint', async () => {
  const { before, after, outcome } = await revised({ kind: 'vanish-users', count: 3 });
  expect(outcome.names).toHaveLength(3);
  expect(idsOf(after)).toEqual(idsOf(before).filter((id) => !outcome.names.includes(id)));
  expect(JSON.stringify(after)).not.toContain(outcome.names[0]);
  expectCoherent(after);
});

test('add-users makes idle members active', async () => {
  const { before, after, outcome } = await revised({ kind: 'add-users', count: 2 });
  expect(idsOf(after)).toEqual([...idsOf(before), ...outcome.names].sort());
  expectCoherent(after);
});

test('vanish-models removes models from every breakdown and user', async () => {
  const { before, after, outcome } = await revised({ kind: 'vanish-models', count: 2 });
  expect(outcome.names).toHaveLength(2);
  for (const model of outcome.names) {
    expect(JSON.stringify(before)).toContain(`"model_id":"${model}"`);
    expect(JSON.stringify(after)).not.toContain(`"${model}"`);
  }
  expect(idsOf(after)).toEqual(idsOf(before));
  expectCoherent(after);
});

test('vanish-languages assigns the files to other languages', async () => {
  const { before, after, outcome } = await revised({ kind: 'vanish-languages', languages: ['Python'] });
  expect(outcome.names).toEqual(['Python']);
  expect(JSON.stringify(before.productivity)).toContain('"Python"');
  expect(JSON.stringify([after.productivity, after.users])).not.toContain('"Python"');
  expect(after.productivity.files_edited).toBe(before.productivity.files_edited);
  expectCoherent(after);
});

test('empty removes the whole day, and the weekly count of users shrinks', async () => {
  const at = await probe({ users: 80 });
  const [before] = await at.rows('activity', '2026-02-08');
  at.emulator.revise({ kind: 'empty', day: DAY });
  for (const stream of ['tokens', 'tools', 'activity', 'productivity', 'users'] as const) {
    expect(await at.rows(stream, DAY)).toEqual([]);
  }
  const [after] = await at.rows('activity', '2026-02-08');
  expect(after.weekly_active_users).toBeLessThan(before.weekly_active_users);
  expect(after.daily_active_users).toBe(before.daily_active_users);
});

test('revisions add up; for each user the latest one counts', async () => {
  const at = await probe({ users: 80 });
  const { names } = at.emulator.revise({ kind: 'vanish-users', day: DAY, count: 1 });
  at.emulator.revise({ kind: 'restate', day: DAY });
  const without = await wholeDay(at, DAY);
  expect(idsOf(without)).not.toContain(names[0]);
  expectCoherent(without);
  at.emulator.revise({ kind: 'add-users', day: DAY, users: names });
  const again = await wholeDay(at, DAY);
  expect(idsOf(again)).toContain(names[0]);
  expectCoherent(again);
});

test('revert undoes one day or everything', async () => {
  const at = await probe({ users: 80, reports: 5 });
  const [one, two] = [await wholeDay(at, DAY), await wholeDay(at, NEIGHBOUR)];
  const { reports } = await at.reports();
  at.emulator.revise({ kind: 'restate', day: DAY });
  at.emulator.revise({ kind: 'restate', day: parseDay(NEIGHBOUR) });
  at.emulator.revise({ kind: 'add-reports', count: 2 });
  at.emulator.revise({ kind: 'revert', day: DAY });
  expect((await wholeDay(at, DAY)).users).toEqual(one.users);
  expect((await wholeDay(at, NEIGHBOUR)).users).not.toEqual(two.users);
  expect((await at.reports()).reports).toHaveLength(7);
  at.emulator.revise({ kind: 'revert' });
  expect(await wholeDay(at, NEIGHBOUR)).toEqual(two);
  expect((await at.reports()).reports).toEqual(reports);
});

test('the same revisions in the same order give the same data', async () => {
  const make = async () => {
    const at = await probe({ users: 80 });
    at.emulator.revise({ kind: 'vanish-users', day: DAY, count: 2 });
    at.emulator.revise({ kind: 'restate', day: DAY, share: 0.4 });
    return wholeDay(at, DAY);
  };
  expect(await make()).toEqual(await make());
});

describe('reports', () => {
  test('added reports are the newest', async () => {
    const at = await probe({ reports: 10 });
    const before = (await at.reports()).reports;
    const { names } = at.emulator.revise({ kind: 'add-reports', count: 3 });
    const after = (await at.reports()).reports;
    expect(after.slice(3)).toEqual(before);
    expect(after.slice(0, 3).map((report) => report.reportId)).toEqual(names.toReversed());
    const times = after.map((report) => report.createdAt);
    expect(times).toEqual([...times].sort((a, b) => b - a));
  });

  test('a deleted report disappears, and a changed one differs only in its evaluation', async () => {
    const at = await probe({ reports: 10 });
    const before = (await at.reports()).reports;
    const [first, second, third] = before;
    const deleted = at.emulator.revise({ kind: 'delete-report' });
    const changed = at.emulator.revise({ kind: 'change-report', reportId: third?.reportId ?? '' });
    const after = (await at.reports()).reports;
    expect([deleted.names, changed.names]).toEqual([[first?.reportId], [third?.reportId]]);
    expect(after.map((report) => report.reportId)).toEqual(before.slice(1).map((report) => report.reportId));
    expect(after[0]).toEqual(second);
    expect(after[1]?.report).not.toEqual(third?.report);
    expect({ ...after[1], report: null }).toEqual({ ...third, report: null });
  });
});

const REFUSED: [string, RevisionRequest, RegExp][] = [
  ['no day', { kind: 'restate' }, /no day is given/],
  ["today's day", { kind: 'empty', day: parseDay('2026-06-01') }, /2026-06-01 is not a past day/],
  ['a day before the data', { kind: 'empty', day: parseDay('2026-01-13') }, /2026-01-13 is not a past day/],
  [
    'an unknown user',
    { kind: 'vanish-users', day: DAY, users: ['user_x'] },
    /user "user_x" cannot be chosen/,
  ],
  ['an unknown model', { kind: 'vanish-models', day: DAY, models: ['gpt'] }, /model "gpt" cannot be chosen/],
  ['no users at all', { kind: 'vanish-users', day: DAY, count: 0 }, /no user to choose/],
  ['an unknown report', { kind: 'delete-report', reportId: 'x' }, /no report x/],
];

test.each(REFUSED)('%s is refused with a remedy', async (_, request, message) => {
  const at = await probe({ users: 80 });
  expect(() => at.emulator.revise(request)).toThrow(message);
  expect(() => at.emulator.revise(request)).toThrow(
    expect.objectContaining({ hint: expect.stringMatching(/\w/) }),
  );
});

test('at least one model and one language of a day remain', async () => {
  const at = await probe({ users: 80 });
  const [productivity] = await at.rows('productivity', DAY);
  const languages = productivity.by_language.map((element: Json) => element.language);
  expect(() => at.emulator.revise({ kind: 'vanish-languages', day: DAY, languages })).toThrow(
    /cannot vanish/,
  );
  const { names } = at.emulator.revise({ kind: 'vanish-languages', day: DAY, count: 99 });
  expect(names).toHaveLength(languages.length - 1);
  expectCoherent(await wholeDay(at, DAY));
});
