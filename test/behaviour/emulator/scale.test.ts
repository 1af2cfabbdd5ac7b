import { expect, test } from 'vitest';
import { parseDay } from '../../../src/core/day.ts';
import { openLru } from '../../../src/emulator/dataset/lru.ts';
import { pathOf, probe, sumOf } from '../../support/emulator/probe.ts';

test('50,000 users: any day of the year is served fast, consistent and in bounded memory', {
  tags: 'ci/variant',
}, async () => {
  const at = await probe({ users: 50_000, today: parseDay('2027-01-14'), cacheBytesMax: 8 * 1024 * 1024 });
  const durations: number[] = [];
  const before = process.memoryUsage().rss;
  for (const day of ['2026-01-14', '2026-06-30', '2026-12-01']) {
    const started = performance.now();
    const [tools] = await at.rows('tools', day);
    const [activity] = await at.rows('activity', day);
    expect(sumOf(tools.by_tool, 'invocations')).toBe(tools.tool_calls);
    expect(activity.monthly_active_users).toBeGreaterThanOrEqual(activity.weekly_active_users);
    expect(activity.daily_active_users).toBeGreaterThan(5_000);
    const first = await at.get(pathOf('users', day, 'limit=100'));
    expect(first.json.data).toHaveLength(100);
    const last = await at.get(pathOf('users', day, 'limit=100&cursor=user_01K'));
    expect(last.status).toBe(200);
    durations.push(performance.now() - started);
  }
  const [row] = await at.rows('tokens', '2026-12-01');
  expect(sumOf(row.by_user, 'billable_tokens')).toBe(row.billable_tokens);
  expect(row.by_user.length).toBeGreaterThan(15_000);
  const weeks = await at.rows('activity', '2026-11-28..2026-12-09');
  expect(weeks).toHaveLength(12);
  // Generous: the point is that neither grows with users times days. The last day is three hundred days after the first.
  expect(durations[2]).toBeLessThan(10 * (durations[0] ?? 0));
  expect(process.memoryUsage().rss - before).toBeLessThan(600 * 1024 * 1024);
});

test('a request whose answer would be too large is refused, so that a client requests fewer days', async () => {
  const at = await probe({ quirks: { maxAnswerChars: 100_000 } });
  const answer = await at.get(pathOf('tokens', '2026-03-02..2026-03-29'));
  expect([answer.status, answer.json.detail]).toEqual([
    400,
    'The requested range is too large for this organization: request fewer days',
  ]);
  expect(await at.rows('tokens', '2026-03-02')).toHaveLength(1);
});

test('a steady organization has every user on every day', async () => {
  const at = await probe({ users: 230, steady: true });
  for (const day of ['2026-01-14', '2026-03-01', '2026-05-31']) {
    expect((await at.walk(day)).rows).toHaveLength(230);
  }
  const [activity] = await at.rows('activity', '2026-03-01');
  expect([activity.daily_active_users, activity.monthly_active_users]).toEqual([230, 230]);
});

test.each([1, 2, 31, 32, 33, 64])('an organization of %d users is complete', async (users) => {
  const at = await probe({ users, steady: true });
  const { rows } = await at.walk('2026-03-10', 'limit=3');
  expect(new Set(rows.map((row) => row.user_id)).size).toBe(users);
});

test('a cache never exceeds its limit, and keeps what was used last', () => {
  const cache = openLru<string>(100, (value) => (value === 'heavy' ? 101 : 30));
  const made: string[] = [];
  const remember = (key: string, value = `v-${key}`) =>
    cache.remember(key, () => {
      made.push(key);
      return value;
    });
  for (let i = 0; i < 50; i++) {
    expect(remember(`k${i}`)).toBe(`v-k${i}`);
    expect(remember('k0')).toBe('v-k0');
    expect(cache.bytes()).toBeLessThanOrEqual(100);
  }
  expect(made).toEqual(Array.from({ length: 50 }, (_, i) => `k${i}`));
  for (const key of ['k0', 'k48', 'k49']) remember(key);
  expect([made.length, cache.bytes()]).toEqual([50, 90]);
  remember('k1');
  expect(made.slice(50)).toEqual(['k1']);

  remember('big', 'heavy');
  remember('big', 'heavy');
  remember('k49');
  expect([made.slice(51), cache.bytes()]).toEqual([['big', 'big'], 90]);
  cache.clear();
  expect(cache.bytes()).toBe(0);
  remember('k49');
  expect(made.at(-1)).toBe('k49');
});

test.each([
  ['users', 0],
  ['users', 1_000_001],
  ['users', 2.5],
  ['seed', -1],
  ['reports', 100_001],
  ['port', 65_536],
  ['latencyMs', -5],
] as const)('the option %s %d is refused, and its limits are named', async (name, value) => {
  await expect(probe({ [name]: value })).rejects.toThrow(
    expect.objectContaining({
      name: 'UsageError',
      hint: expect.stringContaining(`${name} is a whole number from`),
    }),
  );
});

test('today must be after the first day, and a key must be a valid header value', async () => {
  await expect(probe({ today: parseDay('2026-01-14') })).rejects.toThrow('cannot use "2026-01-14" as today');
  await expect(probe({ apiKey: 'two words' })).rejects.toThrow('cannot use this API key');
  await expect(probe({ apiKey: 'two words' })).rejects.not.toThrow('two words');
});

test('a port in use is refused with a remedy', async () => {
  const { emulator } = await probe({ users: 1 });
  const port = Number(new URL(emulator.url).port);
  await expect(probe({ users: 1, port })).rejects.toThrow(
    expect.objectContaining({ name: 'UsageError', message: expect.stringContaining(`127.0.0.1:${port}`) }),
  );
});
