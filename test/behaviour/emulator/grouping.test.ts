import { afterAll, beforeAll, expect, test } from 'vitest';
import { type Emulator, startEmulator } from '../../../src/emulator/emulator.ts';
import { type Json, type Probe, pathOf, probeOf, sumOf, TODAY } from '../../support/emulator/probe.ts';

let emulator: Emulator;
let at: Probe;
beforeAll(async () => {
  emulator = await startEmulator({ today: TODAY, users: 80 });
  at = probeOf(emulator);
});
afterAll(() => emulator.close());

const DAYS = '2026-02-02..2026-02-04';

test('tools grouped by tool name equal the nested breakdown', async () => {
  const plain = await at.rows('tools', DAYS);
  const grouped = await at.rows('tools', DAYS, 'group_by=tool_name');
  expect(grouped).toEqual(
    plain.flatMap((row) =>
      row.by_tool.map((element: Json) => ({
        date: row.date,
        group_key: element.tool,
        tool_calls: element.invocations,
      })),
    ),
  );
  expect(sumOf(grouped, 'tool_calls')).toBe(sumOf(plain, 'tool_calls'));
});

test('activity grouped by client equals the nested breakdown', async () => {
  const plain = await at.rows('activity', DAYS);
  const grouped = await at.rows('activity', DAYS, 'group_by=client');
  expect(grouped).toEqual(
    plain.flatMap((row) =>
      Object.entries(row.daily_active_users_by_client).map(([group_key, daily_active_users]) => ({
        date: row.date,
        group_key,
        daily_active_users,
      })),
    ),
  );
  expect(grouped).toHaveLength(9);
});

test('tokens grouped by model equal the nested breakdown', async () => {
  const plain = await at.rows('tokens', DAYS);
  const grouped = await at.rows('tokens', DAYS, 'group_by=model');
  expect(grouped).toEqual(
    plain.flatMap((row) =>
      row.by_model.map(({ model_id, model_tier: _, ...credits }: Json) => ({
        date: row.date,
        group_key: model_id,
        ...credits,
      })),
    ),
  );
});

test.each([
  ['tokens', 'user'],
  ['tools', 'model'],
  ['activity', 'Client'],
  ['productivity', 'language'],
  ['users', 'model'],
  ['tools', ''],
] as const)('%s cannot be grouped by "%s"', async (stream, dimension) => {
  const answer = await at.get(pathOf(stream, DAYS, `group_by=${dimension}`));
  expect(answer.status).toBe(400);
  expect(answer.json.detail).toContain(`Unsupported group_by "${dimension}"`);
});

test('meta names the organization and the range, and nothing else', async () => {
  for (const stream of ['tokens', 'tools', 'activity', 'productivity'] as const) {
    const { json } = await at.get(pathOf(stream, DAYS));
    expect(Object.keys(json)).toEqual(['data', 'meta']);
    expect(json.meta).toEqual({ org_id: emulator.orgId, start_date: '2026-02-02', end_date: '2026-02-04' });
  }
  const { json } = await at.get(pathOf('users', DAYS, 'limit=2'));
  expect(json.meta).toEqual({
    org_id: emulator.orgId,
    start_date: '2026-02-02',
    end_date: '2026-02-04',
    has_more: true,
    next_cursor: json.data.at(-1).user_id,
  });
});

test('a limit counts users: a page over several days has one row per user and active day', async () => {
  const rows = await at.rows('users', DAYS, 'limit=10');
  const users = [...new Set(rows.map((row) => row.user_id))];
  expect(users).toHaveLength(10);
  expect(rows.length).toBeGreaterThan(10);
  expect(users).toEqual([...users].sort());
  const single = await at.walk('2026-02-03');
  const known = new Map(single.rows.map((row) => [row.user_id, row]));
  const ofDay = rows.filter((row) => row.date === '2026-02-03');
  expect(ofDay.length).toBeGreaterThan(0);
  for (const row of ofDay) expect(row).toEqual(known.get(row.user_id));
});
