import { describe, expect, test } from 'vitest';
import { READINESS_PATH } from '../../../src/contract/paths.ts';
import { parseDay } from '../../../src/core/day.ts';
import { DEFAULT_QUIRKS, parseQuirks } from '../../../src/emulator/quirks.ts';
import { READINESS_MOVED_PATH } from '../../../src/emulator/request.ts';
import { type Json, pathOf, probe, sumOf } from '../../support/emulator/probe.ts';

const DAY = '2026-02-03';

describe('shapes', () => {
  test.each(['model', 'model_name', 'group_key'] as const)(
    'modelKey %s renames the key of models',
    async (key) => {
      const at = await probe();
      const [before] = await at.rows('tokens', DAY);
      at.emulator.setQuirks({ modelKey: key });
      const [after] = await at.rows('tokens', DAY);
      const names = before.by_model.map((element: Json) => element.model_id);
      expect(after.by_model.map((element: Json) => element[key])).toEqual(names);
      expect(JSON.stringify(after)).not.toContain('model_id');
      expect(after.by_user[0].by_model[0][key]).toBe(before.by_user[0].by_model[0].model_id);
    },
  );

  test.each(['user', 'id', 'group_key'] as const)('userKey %s renames the key of users', async (key) => {
    const at = await probe();
    const [before] = await at.rows('tokens', DAY);
    at.emulator.setQuirks({ userKey: key });
    const [after] = await at.rows('tokens', DAY);
    const ids = before.by_user.map((element: Json) => element.user_id);
    expect(ids.length).toBeGreaterThan(0);
    expect(after.by_user.map((element: Json) => element[key])).toEqual(ids);
    expect(JSON.stringify(after.by_user)).not.toContain('user_id');
  });

  test('modelTier and cacheFields remove fields and add others', async () => {
    const at = await probe({ quirks: { modelTier: false, cacheFields: true } });
    const [row] = await at.rows('tokens', DAY);
    expect(Object.keys(row.by_model[0])).toEqual([
      'model_id',
      'billable_tokens',
      'input_tokens',
      'output_tokens',
      'cache_read_tokens',
      'cache_write_tokens',
    ]);
    expect(sumOf(row.by_model, 'cache_read_tokens')).toBe(row.cache_read_tokens);
    const grouped = await at.rows('tokens', DAY, 'group_by=model');
    expect(sumOf(grouped, 'cache_write_tokens')).toBe(row.cache_write_tokens);
  });

  test('byUser is nested, flat or absent', async () => {
    const at = await probe();
    expect((await at.rows('tokens', DAY))[0].by_user[0].by_model.length).toBeGreaterThan(0);
    at.emulator.setQuirks({ byUser: 'flat' });
    const [flat] = await at.rows('tokens', DAY);
    expect(Object.keys(flat.by_user[0])).toEqual(['user_id', 'user_email', 'billable_tokens']);
    at.emulator.setQuirks({ byUser: 'absent' });
    expect((await at.rows('tokens', DAY))[0]).not.toHaveProperty('by_user');
  });

  test('unknownFields adds a field to every object but not to maps', async () => {
    const at = await probe({ users: 20, quirks: { unknownFields: true } });
    const [users, tools, activity] = [
      (await at.get(pathOf('users', DAY))).json,
      (await at.get(pathOf('tools', DAY))).json,
      (await at.get(pathOf('activity', DAY))).json,
    ];
    const readiness = (await at.get(`${READINESS_PATH}?limit=1`)).json;
    const [report] = readiness.reports;
    const criterion = Object.values<Json>(report.report)[0];
    const places = [
      users,
      users.meta,
      users.data[0],
      tools.data[0].by_tool[0],
      tools.data[0].tool_autonomy_level_ratio,
    ];
    for (const place of [...places, readiness, report, criterion])
      expect(place).toHaveProperty('emulator_extra');
    for (const map of [activity.data[0].daily_active_users_by_client, report.apps, report.report]) {
      expect(map).not.toHaveProperty('emulator_extra');
    }
  });

  test('nullMetrics makes metrics null or absent, the same ones on any page', async () => {
    const at = await probe({ quirks: { nullMetrics: 0.3 } });
    const { rows } = await at.walk(DAY, 'limit=100');
    expect((await at.walk(DAY, 'limit=3')).rows).toEqual(rows);
    const metrics = rows.flatMap((row: Json) =>
      ['tool_calls', 'sessions', 'hooks', 'mcp_calls'].map((name) => row[name]),
    );
    const count = (value: unknown) => metrics.filter((metric) => metric === value).length / metrics.length;
    expect(count(null)).toBeGreaterThan(0.05);
    expect(count(undefined)).toBeGreaterThan(0.05);
    expect(count(null) + count(undefined)).toBeLessThan(0.5);
    for (const row of rows) expect([typeof row.user_id, row.date]).toEqual(['string', DAY]);
  });

  test('newClientType and newCriteria add unknown names', async () => {
    const at = await probe();
    const criteria = async () =>
      Object.keys((await at.get(`${READINESS_PATH}?limit=1`)).json.reports[0].report);
    const before = await criteria();
    at.emulator.setQuirks({ newClientType: true, newCriteria: true });
    const [row] = await at.rows('activity', DAY);
    expect(row.daily_active_users_by_client['ide-extension']).toBeGreaterThan(0);
    const grouped = await at.rows('activity', DAY, 'group_by=client');
    expect(grouped.map((element) => element.group_key)).toContain('ide-extension');
    expect((await criteria()).filter((id) => !before.includes(id))).toHaveLength(2);
  });

  test('orgId names another organization in responses', async () => {
    const at = await probe({ quirks: { orgId: 'org_other' } });
    for (const stream of ['tokens', 'users'] as const) {
      expect((await at.get(pathOf(stream, DAY))).json.meta.org_id).toBe('org_other');
    }
  });
});

describe('days', () => {
  test('inactiveDays are absent, or rows of zeros if emptyDays is zeros', async () => {
    const at = await probe({ quirks: { inactiveDays: [parseDay(DAY)] } });
    for (const stream of ['tokens', 'tools', 'activity', 'productivity', 'users'] as const) {
      expect(await at.rows(stream, DAY)).toEqual([]);
    }
    at.emulator.setQuirks({ emptyDays: 'zeros' });
    const [tokens] = await at.rows('tokens', DAY);
    expect(tokens).toEqual({
      date: DAY,
      billable_tokens: 0,
      input_tokens: 0,
      output_tokens: 0,
      cache_read_tokens: 0,
      cache_write_tokens: 0,
      by_model: [],
      by_user: [],
    });
    const [activity] = await at.rows('activity', DAY);
    expect(activity).toMatchObject({ date: DAY, daily_active_users: 0, sessions: 0, messages: 0 });
    expect(activity.weekly_active_users).toBeGreaterThan(10);
    const [tools] = await at.rows('tools', DAY);
    expect(tools).toMatchObject({
      tool_calls: 0,
      by_tool: [],
      autonomy_ratio_avg: 0,
      tool_calls_per_session_avg: 0,
    });
    expect(await at.rows('users', DAY)).toEqual([]);
    expect(await at.rows('tokens', DAY, 'group_by=model')).toEqual([]);
  });

  test('maxRangeDays refuses longer ranges', async () => {
    const at = await probe({ quirks: { maxRangeDays: 1 } });
    expect((await at.get(pathOf('users', DAY))).status).toBe(200);
    const answer = await at.get(pathOf('users', '2026-02-03..2026-02-04'));
    expect([answer.status, answer.json.detail]).toEqual([
      400,
      'Date range of 2 days exceeds the maximum of 1 days',
    ]);
  });

  test('days before the first day with data are empty, or refused', async () => {
    const at = await probe();
    expect(await at.rows('activity', '2026-01-12..2026-01-13')).toEqual([]);
    const across = await at.rows('activity', '2026-01-12..2026-01-15');
    expect(across.map((row) => row.date)).toEqual(['2026-01-14', '2026-01-15']);
    expect(across[0].monthly_active_users).toBe(across[0].daily_active_users);
    at.emulator.setQuirks({ beforeEpoch: 'reject', emptyDays: 'zeros' });
    expect((await at.get(pathOf('activity', '2026-01-13..2026-01-15'))).json.detail).toMatch(
      /before the earliest/,
    );
    expect((await at.get(pathOf('activity', '2026-01-14'))).status).toBe(200);
  });

  test('lateBatch leaves yesterday empty for a number of requests, or until it is switched off', async () => {
    const at = await probe({ quirks: { lateBatch: 2, emptyDays: 'zeros' } });
    const yesterday = '2026-05-31';
    expect(await at.rows('activity', '2026-05-29')).toHaveLength(1);
    expect(await at.rows('activity', yesterday)).toEqual([]);
    expect(await at.rows('activity', '2026-05-30..2026-05-31')).toHaveLength(1);
    expect(await at.rows('activity', yesterday)).toHaveLength(1);
    at.emulator.setQuirks({ lateBatch: true });
    for (let i = 0; i < 4; i++) expect(await at.rows('users', yesterday)).toEqual([]);
    at.emulator.setQuirks({ lateBatch: false });
    expect((await at.rows('users', yesterday)).length).toBeGreaterThan(0);
  });

  test('provisionalDays changes recent days until they have settled', async () => {
    const at = await probe({ today: parseDay('2026-02-04'), quirks: { provisionalDays: 2 } });
    const walk = async () => (await at.walk(DAY)).rows;
    const atAge1 = await walk();
    at.emulator.setToday(parseDay('2026-02-05'));
    const atAge2 = await walk();
    at.emulator.setToday(parseDay('2026-02-06'));
    const atAge3 = await walk();
    at.emulator.setToday(parseDay('2026-03-06'));
    expect(await walk()).toEqual(atAge3);
    expect(atAge1).not.toEqual(atAge2);
    expect(atAge2).not.toEqual(atAge3);
    expect(atAge1.length).toBeLessThan(atAge3.length);
    at.emulator.setToday(parseDay('2026-02-04'));
    expect(await walk()).toEqual(atAge1);
  });
});

test('unsupportedGroupBy ignore answers as without group_by', async () => {
  const at = await probe({ quirks: { unsupportedGroupBy: 'ignore' } });
  expect(await at.rows('tools', DAY, 'group_by=weather')).toEqual(await at.rows('tools', DAY));
  expect((await at.rows('tools', DAY, 'group_by=tool_name'))[0]).toHaveProperty('group_key');
});

test('analyticsDisabled refuses all analytics and leaves readiness', async () => {
  const at = await probe({ quirks: { analyticsDisabled: true } });
  const answer = await at.get(pathOf('tokens', DAY));
  expect([answer.status, answer.json.detail]).toEqual([403, 'Analytics is not enabled for the organization']);
  expect((await at.get(READINESS_PATH)).status).toBe(200);
});

test('gzip compresses only for clients that accept it, without changing the content', async () => {
  const at = await probe({ quirks: { gzip: true } });
  const plain = await at.get(pathOf('users', DAY), { headers: { 'accept-encoding': 'identity' } });
  const packed = await at.get(pathOf('users', DAY), { headers: { 'accept-encoding': 'gzip, br' } });
  expect(plain.headers.get('content-encoding')).toBeNull();
  expect(packed.headers.get('content-encoding')).toBe('gzip');
  expect(Number(packed.headers.get('content-length'))).toBeLessThan(plain.text.length / 3);
  expect(packed.text).toBe(plain.text);
  at.emulator.setQuirks({ gzip: false });
  expect((await at.get(pathOf('users', DAY))).headers.get('content-encoding')).toBeNull();
});

test('the readiness path redirects to its other path on the same host, with the query', async () => {
  const at = await probe({ quirks: { readinessRedirect: '308' } });
  const answer = await at.get(`${READINESS_PATH}?limit=2&repoId=x`);
  expect([answer.status, answer.headers.get('location')]).toEqual([
    308,
    `${READINESS_MOVED_PATH}?limit=2&repoId=x`,
  ]);
  expect((await at.get(`${READINESS_MOVED_PATH}?limit=2`)).json.reports).toHaveLength(2);
});

test('quirks from JSON: every default is accepted; an error for an invalid one names its place and remedy', () => {
  expect(parseQuirks(JSON.parse(JSON.stringify(DEFAULT_QUIRKS)))).toEqual(DEFAULT_QUIRKS);
  expect(parseQuirks({})).toEqual({});
  const bad: [unknown, string][] = [
    [[], 'quirks'],
    ['gzip', 'quirks'],
    [null, 'quirks'],
    [{ gzipp: true }, 'quirks.gzipp'],
    [{ gzip: 'yes' }, 'quirks.gzip'],
    [{ maxRangeDays: 0 }, 'quirks.maxRangeDays'],
    [{ inactiveDays: ['2026-02-03', '2026-02-30'] }, 'quirks.inactiveDays[1]'],
    [{ lateBatch: -1 }, 'quirks.lateBatch'],
    [{ nullMetrics: 1.5 }, 'quirks.nullMetrics'],
    [{ rateLimit: { perMinute: 3 } }, 'quirks.rateLimit.perMinute'],
    [{ modelKey: 'name' }, 'quirks.modelKey'],
  ];
  for (const [json, place] of bad) {
    expect(() => parseQuirks(json), JSON.stringify(json)).toThrow(
      expect.objectContaining({
        name: 'UsageError',
        message: expect.stringContaining(`${place}:`),
        hint: expect.any(String),
      }),
    );
  }
});
