import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { parseDay, shiftDay } from '../../../src/core/day.ts';
import { type Emulator, startEmulator } from '../../../src/emulator/emulator.ts';
import { type Json, type Probe, probeOf, sumOf, TODAY } from '../../support/emulator/probe.ts';

let emulator: Emulator;
let at: Probe;
beforeAll(async () => {
  emulator = await startEmulator({ today: TODAY, users: 250 });
  at = probeOf(emulator);
});
afterAll(() => emulator.close());

const DAYS = ['2026-01-14', '2026-02-16', '2026-03-01', '2026-05-29'];

describe.each(DAYS)('on %s', (day) => {
  test('on every endpoint the rows of users sum to those of the organization', async () => {
    const { rows: users } = await at.walk(day);
    const [tokens] = await at.rows('tokens', day);
    const [tools] = await at.rows('tools', day);
    const [activity] = await at.rows('activity', day);
    const [productivity] = await at.rows('productivity', day);
    expect(users.length).toBeGreaterThan(5);
    expect(activity.daily_active_users).toBe(users.length);
    expect(activity.sessions).toBe(sumOf(users, 'sessions'));
    expect(activity.messages).toBe(sumOf(users, 'messages'));
    expect(activity.user_messages).toBe(sumOf(users, 'user_messages'));
    expect(tokens.billable_tokens).toBe(sumOf(users, 'billable_tokens'));
    expect(tools.tool_calls).toBe(sumOf(users, 'tool_calls'));
    expect(tools.skills_invocations).toBe(sumOf(users, 'skill_calls'));
    expect(tools.slash_commands_invocations).toBe(sumOf(users, 'slash_commands'));
    expect(tools.hooks_invocations).toBe(sumOf(users, 'hooks'));
    expect(tools.mcp_users_with_mcp).toBe(users.filter((user: Json) => user.mcp_calls > 0).length);
    for (const field of ['files_created', 'files_edited', 'git_commits', 'git_prs_created']) {
      expect([field, productivity[field]]).toEqual([field, sumOf(users, field)]);
    }
  });

  test('breakdowns sum to their totals', async () => {
    const [tokens] = await at.rows('tokens', day);
    const [tools] = await at.rows('tools', day);
    const [productivity] = await at.rows('productivity', day);
    for (const field of ['billable_tokens', 'input_tokens', 'output_tokens']) {
      expect([field, sumOf(tokens.by_model, field)]).toEqual([field, tokens[field]]);
    }
    expect(sumOf(tokens.by_user, 'billable_tokens')).toBe(tokens.billable_tokens);
    for (const user of tokens.by_user)
      expect(sumOf(user.by_model, 'billable_tokens')).toBe(user.billable_tokens);
    for (const model of tokens.by_model) {
      const ofUsers = tokens.by_user
        .flatMap((user: Json) => user.by_model)
        .filter((element: Json) => element.model_id === model.model_id);
      expect(sumOf(ofUsers, 'input_tokens')).toBe(model.input_tokens);
    }
    expect(sumOf(tools.by_tool, 'invocations')).toBe(tools.tool_calls);
    expect(sumOf(tools.skills_by_name, 'count')).toBe(tools.skills_invocations);
    expect(sumOf(tools.slash_commands_by_name, 'count')).toBe(tools.slash_commands_invocations);
    expect(sumOf(tools.hooks_by_event, 'count')).toBe(tools.hooks_invocations);
    const files = productivity.files_created + productivity.files_edited;
    expect(sumOf(productivity.by_language, 'count')).toBe(files);
    expect(sumOf(productivity.by_extension, 'count')).toBe(files);
  });

  test('each user row is consistent, also with the token breakdown', async () => {
    const { rows: users } = await at.walk(day);
    const [tokens] = await at.rows('tokens', day);
    const byId = new Map<string, Json>(tokens.by_user.map((user: Json) => [user.user_id, user]));
    for (const user of users as Json[]) {
      expect(user.messages).toBe(user.user_messages + user.assistant_messages);
      expect(user.mcp_calls).toBeLessThanOrEqual(user.tool_calls);
      expect(user.languages.length > 0).toBe(user.files_created + user.files_edited > 0);
      const breakdown = byId.get(user.user_id);
      expect(breakdown.billable_tokens).toBe(user.billable_tokens);
      expect(breakdown.user_email).toBe(user.user_email);
      const most = Math.max(...breakdown.by_model.map((model: Json) => model.billable_tokens));
      const primary = breakdown.by_model.find((model: Json) => model.model_id === user.primary_model);
      expect([primary.billable_tokens, primary.model_tier]).toEqual([most, user.primary_model_tier]);
    }
    expect(byId.size).toBe(users.length);
  });
});

test('weekly and monthly active users are unions over the trailing days', async () => {
  const seen = new Map<string, Set<string>>();
  const first = parseDay('2026-01-14');
  const last = parseDay('2026-02-27');
  const { rows } = await at.walk(`${first}..${last}`);
  for (const row of rows) {
    const users = seen.get(row.date) ?? new Set<string>();
    seen.set(row.date, users.add(row.user_id));
  }
  const union = (day: typeof last, days: number) => {
    const users = new Set<string>();
    for (let back = 0; back < days; back++)
      for (const user of seen.get(shiftDay(day, -back)) ?? []) users.add(user);
    return users.size;
  };
  for (const day of [first, shiftDay(first, 3), parseDay('2026-02-15'), last]) {
    const [activity] = await at.rows('activity', day);
    expect([day, activity.weekly_active_users, activity.monthly_active_users]).toEqual([
      day,
      union(day, 7),
      union(day, 30),
    ]);
  }
});

test('each client has at most the active users, all clients together at least as many', async () => {
  const days = await at.rows('activity', '2026-02-01..2026-02-28');
  let overlaps = 0;
  for (const row of days) {
    const clients: number[] = Object.values(row.daily_active_users_by_client);
    expect(Object.keys(row.daily_active_users_by_client)).toEqual([
      'terminal-ui',
      'web',
      'non-interactive-cli',
    ]);
    for (const users of clients) expect(users).toBeLessThanOrEqual(row.daily_active_users);
    const together = clients.reduce((sum, users) => sum + users, 0);
    expect(together).toBeGreaterThanOrEqual(row.daily_active_users);
    if (together > row.daily_active_users) overlaps += 1;
    const [tools] = await at.rows('tools', row.date);
    expect(tools.web_users).toBe(row.daily_active_users_by_client.web);
  }
  expect(overlaps).toBeGreaterThan(20);
});

test('the autonomy ratio is not tool calls per user message, and the shares sum to 1 without a spec share', async () => {
  const { rows: users } = await at.walk('2026-03-10');
  const derived = users.filter(
    (user: Json) => Math.abs(user.autonomy_ratio - user.tool_calls / user.user_messages) < 0.001,
  );
  expect(derived.length).toBeLessThan(users.length / 10);
  const ratios = users.map((user: Json) => user.autonomy_ratio).sort((a, b) => a - b);
  const [tools] = await at.rows('tools', '2026-03-10');
  expect(tools.autonomy_ratio_p50).toBe(ratios[Math.floor((ratios.length - 1) * 0.5)]);
  expect(tools.autonomy_ratio_p90).toBe(ratios[Math.floor((ratios.length - 1) * 0.9)]);
  const shares: Record<string, number> = tools.tool_autonomy_level_ratio;
  expect(Object.keys(shares)).toEqual(['auto_high', 'auto_medium', 'auto_low', 'manual']);
  expect(Object.values(shares).reduce((sum, share) => sum + share, 0)).toBeCloseTo(1, 9);
});

test('weekdays are busier than weekends, and the organization grows', async () => {
  const days = await at.rows('activity', '2026-01-14..2026-04-14');
  const users = (from: number, to: number, weekend: boolean) => {
    const some = days
      .slice(from, to)
      .filter((row) => [0, 6].includes(new Date(`${row.date}T00:00:00Z`).getUTCDay()) === weekend);
    return sumOf(some, 'daily_active_users') / some.length;
  };
  expect(users(0, 91, true)).toBeLessThan(users(0, 91, false) / 2);
  expect(users(60, 91, false)).toBeGreaterThan(1.1 * users(0, 31, false));
});

test('ratios have at most four fraction digits and counts are whole', async () => {
  const { rows: users } = await at.walk('2026-03-10..2026-03-12');
  for (const user of users as Json[]) {
    for (const [field, value] of Object.entries(user)) {
      if (typeof value !== 'number') continue;
      const scaled = field === 'autonomy_ratio' ? Math.round(value * 10_000) / 10_000 : Math.round(value);
      expect([field, value]).toEqual([field, scaled]);
    }
  }
});
