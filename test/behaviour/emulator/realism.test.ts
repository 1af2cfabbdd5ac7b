import { expect, test } from 'vitest';
import { parseDay } from '../../../src/core/day.ts';
import { type Json, probe, sumOf } from '../../support/emulator/probe.ts';

const YEAR = [
  '2026-01-14..2026-04-13',
  '2026-04-14..2026-07-12',
  '2026-07-13..2026-10-10',
  '2026-10-11..2027-01-13',
];

test('over a year some tool names are parsing artifacts, about 0.006% of the invocations', {
  tags: 'ci/rare',
}, async () => {
  const at = await probe({ today: parseDay('2027-01-14') });
  let artifacts = 0;
  let calls = 0;
  for (const days of YEAR) {
    for (const row of await at.rows('tools', days)) {
      calls += row.tool_calls;
      artifacts += sumOf(
        row.by_tool.filter((element: Json) => !/^[\w-]+$/.test(element.tool)),
        'invocations',
      );
    }
  }
  expect(artifacts).toBeGreaterThan(10);
  expect(artifacts / calls).toBeGreaterThan(0.00002);
  expect(artifacts / calls).toBeLessThan(0.00012);
});

test('MCP servers occur under names that differ by letter case only on some days, not on all', async () => {
  const at = await probe();
  const days = await at.rows('tools', '2026-03-01..2026-04-30');
  const doubled = days.filter((row) => {
    const names = row.mcp_by_server.map((element: Json) => element.server.toLowerCase());
    return new Set(names).size < names.length;
  });
  expect(doubled.length).toBeGreaterThan(5);
  expect(doubled.length).toBeLessThan(days.length);
});

test('users join and leave over the year, some have no email, and some change theirs once', async () => {
  const at = await probe({ today: parseDay('2027-01-14') });
  const [early, late] = await Promise.all([
    at.walk('2026-01-14..2026-02-28'),
    at.walk('2026-11-01..2026-12-31'),
  ]);
  const before = new Set(early.rows.map((row) => row.user_id));
  const after = new Set(late.rows.map((row) => row.user_id));
  expect([...after].filter((id) => !before.has(id)).length).toBeGreaterThan(50);
  expect([...before].filter((id) => !after.has(id)).length).toBeGreaterThan(5);
  expect(
    new Set(early.rows.filter((row) => row.user_email === null).map((row) => row.user_id)).size,
  ).toBeGreaterThan(2);
  const emails = new Map<string, Set<string>>();
  for (const { user_id, user_email } of [...early.rows, ...late.rows]) {
    const known = emails.get(user_id) ?? new Set<string>();
    emails.set(user_id, known.add(String(user_email)));
  }
  const changed = [...emails.values()].filter((known) => known.size > 1);
  expect(changed.length).toBeGreaterThan(0);
  expect(Math.max(...changed.map((known) => known.size))).toBe(2);
});

test('models come and go over the year', async () => {
  const at = await probe({ today: parseDay('2027-01-14') });
  const models = async (days: string) =>
    new Set((await at.rows('tokens', days, 'group_by=model')).map((row) => row.group_key));
  const first = await models('2026-01-14..2026-01-31');
  const last = await models('2026-12-01..2026-12-31');
  expect([...first].filter((model) => !last.has(model))).toEqual(['borealis-2']);
  expect([...last].filter((model) => !first.has(model)).length).toBeGreaterThan(2);
});

test('ids are opaque and sort in page order', async () => {
  const at = await probe();
  const { rows } = await at.walk('2026-03-10');
  const ids = rows.map((row) => row.user_id);
  expect(ids).toEqual([...ids].sort());
  expect(new Set(ids).size).toBe(ids.length);
  for (const id of ids) expect(id).toMatch(/^user_01[0-9A-HJKMNP-TV-Z]{24}$/);
  expect(at.emulator.orgId).toMatch(/^org_01[0-9A-HJKMNP-TV-Z]{24}$/);
});
