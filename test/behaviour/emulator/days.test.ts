import { describe, expect, test } from 'vitest';
import { READINESS_PATH } from '../../../src/contract/paths.ts';
import { parseDay } from '../../../src/core/day.ts';
import { type DaySource, parseDays } from '../../../src/emulator/days.ts';
import { type Json, type Probe, pathOf, probe } from '../../support/emulator/probe.ts';

const DAY = '2026-03-02';
const TOKENS = {
  date: DAY,
  billable_tokens: 30,
  input_tokens: 100,
  by_model: [
    { model_id: 'm1', model_tier: 'thinking', billable_tokens: 10, input_tokens: 40 },
    { model_name: 'm2', billable_tokens: 20 },
    { billable_tokens: 5 },
  ],
  by_user: [],
};
const TOOLS = {
  date: DAY,
  tool_calls: 3,
  by_tool: [
    { tool: 'read', invocations: 2 },
    { tool: 'edit', invocations: 1 },
  ],
};
const ACTIVITY = {
  date: DAY,
  daily_active_users: 2,
  daily_active_users_by_client: { web: 2, 'terminal-ui': 1 },
};

function line(stream: string, rows: readonly object[], date = DAY): string {
  return JSON.stringify({ stream, date, rows });
}

function userRow(user_id: string, sessions: number, date = DAY): object {
  return { user_id, date, sessions };
}

async function put(at: Probe, body: string): Promise<Json> {
  const answer = await fetch(`${at.emulator.url}/__admin/days`, { method: 'PUT', body });
  return { status: answer.status, json: await answer.json() };
}

describe('a day that is given', () => {
  test('is served whole and exactly as it was written, and the others are generated', async () => {
    const at = await probe();
    const around = await at.rows('tokens', '2026-03-01..2026-03-03');
    const row =
      '{"date":"2026-03-02", "billable_tokens":1.50, "input_tokens":9007199254740993, "new":{"a" : 1e2}}';
    await put(at, `\n{"stream":"tokens","date":"${DAY}","rows":[${row}]}\n`);
    expect((await at.get(pathOf('tokens', DAY))).text).toContain(`{"data":[${row}],"meta":`);
    const days = await at.rows('tokens', '2026-03-01..2026-03-03');
    expect([days[0], days[2]]).toEqual([around[0], around[2]]);
    expect((await at.rows('tools', DAY))[0].tool_calls).toBeGreaterThan(3);
  });

  test('may be empty', async () => {
    const at = await probe({ days: parseDays(line('activity', [])) });
    expect(await at.rows('activity', DAY)).toEqual([]);
    at.emulator.setQuirks({ emptyDays: 'zeros' });
    expect(await at.rows('activity', DAY)).toEqual([]);
  });

  test('has grouped rows from its breakdowns', async () => {
    const at = await probe({
      days: parseDays(
        [line('tokens', [TOKENS]), line('tools', [TOOLS]), line('activity', [ACTIVITY])].join('\n'),
      ),
    });
    expect(await at.rows('tokens', DAY, 'group_by=model')).toEqual([
      { date: DAY, group_key: 'm1', billable_tokens: 10, input_tokens: 40 },
      { date: DAY, group_key: 'm2', billable_tokens: 20 },
    ]);
    expect(await at.rows('tools', DAY, 'group_by=tool_name')).toEqual([
      { date: DAY, group_key: 'read', tool_calls: 2 },
      { date: DAY, group_key: 'edit', tool_calls: 1 },
    ]);
    expect(await at.rows('activity', DAY, 'group_by=client')).toEqual([
      { date: DAY, group_key: 'web', daily_active_users: 2 },
      { date: DAY, group_key: 'terminal-ui', daily_active_users: 1 },
    ]);
    const across = await at.rows('activity', '2026-03-01..2026-03-02', 'group_by=client');
    expect(across.filter(({ date }) => date === '2026-03-01')).toHaveLength(3);
  });

  test('obeys quirks and lies, and not revisions', async () => {
    const at = await probe({ days: parseDays(line('tokens', [TOKENS])), quirks: { unknownFields: true } });
    expect((await at.rows('tokens', DAY))[0]).toHaveProperty('emulator_extra');
    at.emulator.setQuirks({ unknownFields: false, lies: { zeroDays: [parseDay(DAY)] } });
    expect((await at.rows('tokens', DAY))[0]).toMatchObject({ billable_tokens: 0, by_model: [] });
    at.emulator.setQuirks({ lies: { twice: {} } });
    expect(await at.rows('tokens', DAY)).toEqual([TOKENS, { ...TOKENS, billable_tokens: 31 }]);
    at.emulator.setQuirks({ lies: { lateDays: [parseDay(DAY)] } });
    expect(await at.rows('tokens', DAY)).toEqual([]);
    const revise = () => at.emulator.revise({ kind: 'restate', day: parseDay(DAY) });
    expect(revise).toThrow(/the rows of tokens 2026-03-02 are given/);
  });
});

describe('users of given days', () => {
  test('are paged in the order of their ids, together with generated ones', async () => {
    const at = await probe({ users: 60 });
    const generated = (await at.walk('2026-03-01..2026-03-03')).rows;
    const known = generated[10]?.user_id ?? '';
    await put(
      at,
      line('users', [userRow('zoe', 1), userRow(known, 7), userRow('adam', 2), userRow('adam', 3)]),
    );
    const whole = (await at.walk('2026-03-01..2026-03-03', 'limit=100')).rows;
    const namesOf = (rows: readonly Json[]) => rows.map(({ user_id, date }) => `${user_id} ${date}`);
    const expected = [
      ...namesOf(generated.filter(({ date }) => date !== DAY)),
      ...['zoe', known, 'adam', 'adam'].map((id) => `${id} ${DAY}`),
    ];
    expect(namesOf(whole)).toEqual(expected.sort());
    expect(whole.find(({ user_id, date }) => user_id === known && date === DAY)?.sessions).toBe(7);
    for (const limit of [1, 2, 7]) {
      const { rows, pages } = await at.walk('2026-03-01..2026-03-03', `limit=${limit}`);
      expect(rows).toEqual(whole);
      expect(pages).toBe(Math.ceil(new Set(whole.map(({ user_id }) => user_id)).size / limit));
    }
    expect((await at.walk(DAY, 'limit=1')).rows).toEqual([
      userRow('adam', 2),
      userRow('adam', 3),
      userRow(known, 7),
      userRow('zoe', 1),
    ]);
  });

  test('are counted by rules that match a page', async () => {
    const at = await probe({
      days: parseDays(
        line(
          'users',
          ['a', 'b', 'c', 'd', 'e'].map((id) => userRow(id, 1)),
        ),
      ),
    });
    at.emulator.setRules([
      { match: { page: 2 }, when: { count: 1 }, action: { type: 'status', status: 503 } },
    ]);
    expect((await at.get(pathOf('users', DAY, 'limit=2'))).status).toBe(200);
    expect((await at.get(pathOf('users', DAY, 'limit=2&cursor=d'))).status).toBe(200);
    expect((await at.get(pathOf('users', DAY, 'limit=2&cursor=b'))).status).toBe(503);
  });
});

test('readiness reports are given in one line without a date, in its order', async () => {
  const at = await probe({ reports: 5 });
  const reports = ['r3', 'r1', 'r2'].map((reportId) => ({
    reportId,
    createdAt: 1,
    repoUrl: `https://x/${reportId}`,
  }));
  await put(at, JSON.stringify({ stream: 'readiness', rows: reports }));
  expect((await at.reports('limit=2')).reports).toEqual(reports);
  expect((await at.get(`${READINESS_PATH}?startAfter=r3&limit=1`)).json.reports).toEqual([reports[1]]);
  expect((await at.get(`${READINESS_PATH}?startAfter=r9`)).status).toBe(400);
  expect((await at.get(`${READINESS_PATH}?repoId=https://x/r2`)).json.reports).toEqual([reports[2]]);
  await put(
    at,
    JSON.stringify({ stream: 'readiness', rows: [...reports, { reportId: 'r4', repoUrl: 'https://x/r1' }] }),
  );
  const ids = (await at.get('/__admin/repositories')).json.map(({ repoId }: Json) => repoId);
  expect(ids).toEqual(['https://x/r3', 'https://x/r1', 'https://x/r2']);
  for (const kind of ['add-reports', 'delete-report', 'change-report'] as const)
    expect(() => at.emulator.revise({ kind })).toThrow('the readiness reports are given');
  expect(at.emulator.revise({ kind: 'revert' }).kind).toBe('revert');
});

describe('PUT /__admin/days', () => {
  test.each(['', '[]'])('ignores a byte order mark before %j', async (text) => {
    const given = text === '' ? line('tools', [TOOLS]) : `[${line('tools', [TOOLS])}]`;
    expect((await put(await probe(), `\uFEFF${given}`)).json.days).toHaveLength(1);
  });

  test('adds days, takes a list as well, and GET lists them', async () => {
    const at = await probe({ days: parseDays(line('tools', [TOOLS])) });
    await put(at, [line('users', [userRow('a', 1)]), '', line('users', [], '2026-03-03')].join('\r\n'));
    const { json } = await put(
      at,
      `[${line('activity', [ACTIVITY])},\n${line('users', [userRow('b', 1), userRow('c', 1)])}]`,
    );
    expect(json).toEqual({
      days: [
        { stream: 'activity', date: DAY, rows: 1 },
        { stream: 'tools', date: DAY, rows: 1 },
        { stream: 'users', date: DAY, rows: 2 },
        { stream: 'users', date: '2026-03-03', rows: 0 },
      ],
      removed: [],
    });
    expect((await at.get('/__admin/days')).json).toEqual(json);
    const generated = (await (await probe()).walk('2026-03-03')).rows;
    await fetch(`${at.emulator.url}/__admin/days`, { method: 'DELETE' });
    expect((await at.get('/__admin/days')).json.days).toEqual([{ stream: 'tools', date: DAY, rows: 1 }]);
    expect((await at.walk('2026-03-03')).rows).toEqual(generated);
  });

  test.each([
    ['{', 'days, line 1: it is not JSON'],
    [
      `${line('tools', [])}\n{"stream":"weather","date":"2026-03-02","rows":[]}`,
      'line 2.stream: "weather" is not accepted',
    ],
    [JSON.stringify({ stream: 'tools', rows: [] }), 'line 1.date: nothing is not accepted'],
    [line('tools', [], '2026-02-30'), 'line 1.date: "2026-02-30" is not accepted'],
    [line('tools', [], '2026-01-13'), 'line 1.date: 2026-01-13 is before the first day with data'],
    [JSON.stringify({ stream: 'tools', date: DAY, rows: {} }), 'line 1.rows: it is not a list'],
    [JSON.stringify({ stream: 'tools', date: DAY, rows: [1] }), 'line 1.rows[0]: it is not an object'],
    [line('tools', [{ date: '2026-03-03' }]), 'line 1.rows[0].date: it is not the day of the line'],
    [line('users', [userRow('a', 1), { date: DAY }]), 'line 1.rows[1].user_id: it is not an ID'],
    [line('users', [userRow('', 1)]), 'line 1.rows[0].user_id: it is not an ID'],
    ['{"stream":"readiness","rows":[{"reportId":""}]}', 'line 1.rows[0].reportId: it is not an ID'],
    [
      '{"stream":"readiness","rows":[{"reportId":"r"},{"reportId":"r"}]}',
      'line 1.rows[1].reportId: "r" is given twice',
    ],
    [`${line('tools', [])}\n${line('tools', [])}`, 'line 2: tools 2026-03-02 is given twice'],
    ['{"stream":"readiness","rows":[{}]}', 'line 1.rows[0].reportId: it is not an ID'],
    [
      JSON.stringify({ stream: 'tools', date: DAY, rows: [], row: 1 }),
      'line 1.row: there is no field of this name',
    ],
  ])('refuses %s and changes nothing', async (body, detail) => {
    const at = await probe({ days: parseDays(line('tools', [TOOLS])) });
    const { status, json } = await put(at, body);
    expect([status, json.detail]).toEqual([400, expect.stringContaining(detail)]);
    expect(json.hint).toEqual(expect.any(String));
    expect(at.emulator.days().days).toHaveLength(1);
  });
});

test('a source that has all days leaves none to be generated, and says what it lacks', async () => {
  const source: DaySource = {
    rowsOf: (stream, date) => (stream === 'tools' && date === DAY ? [JSON.stringify(TOOLS)] : []),
    reports: () => [],
    describe: () => ({ days: [{ stream: 'tools', date: DAY, rows: 1 }], removed: ['email addresses'] }),
  };
  const at = await probe({ days: source });
  expect(await at.rows('tools', '2026-01-14..2026-05-31')).toEqual([TOOLS]);
  for (const stream of ['users', 'tokens', 'activity'] as const)
    expect(await at.rows(stream, '2026-01-14..2026-05-31')).toEqual([]);
  expect((await at.get(READINESS_PATH)).json).toEqual({ reports: [] });
  expect((await at.get('/__admin/days')).json.removed).toEqual(['email addresses']);
});
