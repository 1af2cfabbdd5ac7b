import { Ajv2020 } from 'ajv/dist/2020.js';
import { describe, expect, test } from 'vitest';
import { READINESS_PATH } from '../../../src/contract/paths.ts';
import type { Clock } from '../../../src/core/clock.ts';
import { parseDay } from '../../../src/core/day.ts';
import { probeOf, sumOf } from '../../support/emulator/probe.ts';
import { EVERY_SETTING, emulated, post } from '../../support/sessions/emulated-service.ts';
import { FIELD_ROWS, UNKNOWN_NAMES } from '../../support/sessions/setting-examples.ts';

const REQUEST = { computerId: 'computer-1' };
const TOMORROW = parseDay('2026-02-11');

describe('the emulated service', () => {
  test('answers 201 with a pending session', async () => {
    const emulator = await emulated();
    const { status, json } = await post(emulator, {
      ...REQUEST,
      cwd: '/srv',
      sessionSettings: EVERY_SETTING,
    });
    expect(status).toBe(201);
    expect(json).toEqual({
      sessionId: expect.stringMatching(/^session_/),
      title: 'Session on computer-1',
      status: 'pending',
      messageCount: 0,
      createdAt: Date.parse('2026-02-10T12:00:00Z'),
      updatedAt: Date.parse('2026-02-10T12:00:00Z'),
      computerId: 'computer-1',
      sessionSettings: EVERY_SETTING,
    });
  });

  test('creates a session for the JWT named by sessionsJwt, which is valid for nothing else', async () => {
    const jwt = `${'eyJhbGciOiJIUzI1NiJ9'}.${'c'.repeat(900)}.${'s-_'.repeat(30)}`;
    const emulator = await emulated({ quirks: { sessionsJwt: jwt } });
    const { status } = await post(emulator, REQUEST, { key: jwt });
    expect(status).toBe(201);
    const at = probeOf(emulator);
    expect((await at.get(READINESS_PATH, { key: jwt })).status).toBe(401);
    emulator.setQuirks({ sessionsJwt: null });
    expect((await post(emulator, REQUEST, { key: jwt })).status).toBe(401);
  });

  test.each(FIELD_ROWS)('refuses $field and names its path in the metadata', async ({ field, bad }) => {
    const emulator = await emulated();
    for (const [value, path = field] of bad) {
      const { status, json } = await post(emulator, { ...REQUEST, sessionSettings: { [field]: value } });
      const pointer = `/sessionSettings/${JSON.parse(`"${pointerOf(path)}"`)}`;
      expect({ status, json }, JSON.stringify(value)).toEqual({
        status: 400,
        json: {
          title: 'Bad Request',
          status: 400,
          detail: 'The request is not valid',
          metadata: {
            problems: expect.arrayContaining([{ pointer, rule: expect.any(String) }]),
            total: expect.any(Number),
          },
        },
      });
    }
  });

  test.each(UNKNOWN_NAMES)('refuses a setting called %j', async (name) => {
    const emulator = await emulated();
    const body = `{"computerId":"computer-1","sessionSettings":{${JSON.stringify(name)}:"x"}}`;
    expect((await post(emulator, body)).json.metadata.problems).toMatchObject([{ rule: 'no such property' }]);
  });

  test.each([
    [{}, '/computerId'],
    [{ computerId: 5 }, '/computerId'],
    [{ ...REQUEST, cwd: '' }, '/cwd'],
    [{ ...REQUEST, cwd: 'x'.repeat(4097) }, '/cwd'],
    [{ ...REQUEST, cwd: null }, '/cwd'],
    [{ ...REQUEST, sessionSettings: null }, '/sessionSettings'],
    [{ ...REQUEST, colour: 'red' }, '/colour'],
    [[], ''],
    ['null', ''],
    ['"text"', ''],
    [
      '{"computerId":"computer-1","sessionSettings":{"assistantActiveTimeMs":1e400}}',
      '/sessionSettings/assistantActiveTimeMs',
    ],
  ])('refuses the body %j at %s', async (body, pointer) => {
    const { status, json } = await post(await emulated(), body);
    expect(status).toBe(400);
    expect(json.metadata.problems).toMatchObject([{ pointer }]);
  });

  test('refuses a body with too many levels', async () => {
    const body = `{"computerId":"computer-1","sessionSettings":{"tags":${'['.repeat(9_000)}${']'.repeat(9_000)}}}`;
    expect((await post(await emulated(), body)).json).toEqual({
      title: 'Bad Request',
      status: 400,
      detail: 'The body has more than 100 levels',
    });
  });

  test.each(['/', 'x'.repeat(4096), '🦉'.repeat(4096)])(
    'accepts a cwd of 1 to 4096 characters',
    async (cwd) => {
      expect((await post(await emulated(), { ...REQUEST, cwd })).status).toBe(201);
    },
  );

  test('knows some computers, and refuses other names', async () => {
    const emulator = await emulated();
    expect((await post(emulator, { computerId: 'computer-9' })).json).toEqual({
      title: 'Bad Request',
      status: 400,
      detail: 'There is no such computer, or it is not connected',
      metadata: { computerId: 'computer-9' },
    });
    emulator.setQuirks({ computers: ['computer-9'] });
    expect((await post(emulator, { computerId: 'computer-9' })).status).toBe(201);
    expect((await post(emulator, REQUEST)).status).toBe(400);
    expect(emulator.sessions()).toHaveLength(1);
  });

  test('requires a credential before it reads the body', async () => {
    const emulator = await emulated();
    for (const key of [null, 'wrong']) {
      const { status, json, headers } = await post(emulator, 'not json', { key });
      expect({ status, json }).toEqual({
        status: 401,
        json: { title: 'Unauthorized', status: 401, detail: expect.stringContaining('API key') },
      });
      expect(headers.get('www-authenticate')).toBe('Bearer');
    }
  });

  test('lets every role create sessions, each for its own user', async () => {
    const emulator = await emulated();
    for (const key of Object.values(emulator.keys))
      expect((await post(emulator, REQUEST, { key })).status).toBe(201);
    const users = emulator.sessions().map(({ userId }) => userId);
    expect(new Set(users).size).toBe(Object.keys(emulator.keys).length);
  });

  test('accepts a JWT as the credential', async () => {
    const apiKey = 'eyJhbGciOiJub25lIn0.eyJzdWIiOiJ1c2VyXzEifQ.c2ln';
    expect((await post(await emulated({ apiKey }), REQUEST)).status).toBe(201);
  });

  test('is open to selected organizations only', async () => {
    const emulator = await emulated({ quirks: { sessionsDisabled: true } });
    const { status, json } = await post(emulator, REQUEST);
    expect({ status, json }).toEqual({
      status: 403,
      json: { title: 'Forbidden', status: 403, detail: 'Sessions are not enabled for the organization' },
    });
    emulator.setQuirks({ sessionsDisabled: false });
    expect((await post(emulator, REQUEST)).status).toBe(201);
  });

  test('answers 429 by rule and by rate, with Retry-After, and creates no session', async () => {
    const emulator = await emulated();
    const match = { path: '/api/v0/sessions', method: 'POST' };
    emulator.setRules([{ match, when: { nth: 1 }, action: { type: 'status', status: 429, retryAfter: 7 } }]);
    const byRule = await post(emulator, REQUEST);
    expect(byRule.json).toEqual({ title: 'Too Many Requests', status: 429, detail: 'Injected fault 429' });
    expect(byRule.headers.get('retry-after')).toBe('7');
    emulator.setQuirks({ rateLimit: { requestsPerMinute: 1, burst: 1 } });
    expect((await post(emulator, REQUEST)).status).toBe(201);
    const byRate = await post(emulator, REQUEST);
    expect(byRate.json).toEqual({ title: 'Too Many Requests', status: 429, detail: 'Rate limit exceeded' });
    expect(Number(byRate.headers.get('retry-after'))).toBeGreaterThan(0);
    expect(emulator.sessions()).toHaveLength(1);
  });

  test.each([
    ['text/plain', 415],
    ['application/jsonp', 415],
    ['multipart/form-data; boundary=x', 415],
    ['application/json; charset=utf-8', 201],
    ['Application/JSON', 201],
  ])('answers a body of type %s with %i', async (type, status) => {
    expect((await post(await emulated(), JSON.stringify(REQUEST), { type })).status).toBe(status);
  });

  test.each([
    ['nothing', ''],
    ['half of it', '{"computerId":'],
    ['bytes that are not UTF-8', new Uint8Array([0x22, 0xff, 0x22])],
  ])('answers 400 to a body that is %s', async (_, body) => {
    expect(await post(await emulated(), body)).toMatchObject({
      status: 400,
      json: { detail: 'The body is not JSON' },
    });
  });

  test('answers 413 to a body that is too large, and keeps running', async () => {
    const emulator = await emulated();
    const body = { ...REQUEST, sessionSettings: { model: 'x'.repeat(1024 * 1024) } };
    expect(await post(emulator, body)).toMatchObject({
      status: 413,
      json: { title: expect.stringMatching(/ Too Large$/) },
    });
    expect((await post(emulator, REQUEST)).status).toBe(201);
  });

  test('answers other methods with 405', async () => {
    const { get } = probeOf(await emulated());
    const answer = await get('/api/v0/sessions');
    expect(answer).toMatchObject({ status: 405, json: { title: 'Method Not Allowed', status: 405 } });
    expect(answer.headers.get('allow')).toBe('POST, OPTIONS');
  });

  test('adds unknown fields to its answer with a quirk', async () => {
    const emulator = await emulated({ quirks: { unknownFields: true, nullMetrics: 1 } });
    expect((await post(emulator, REQUEST)).json).toMatchObject({
      messageCount: 0,
      emulator_extra: { note: 'not in the specification' },
    });
  });
});

describe('the status of a session', () => {
  test('moves from pending to running to idle with the emulated time', async () => {
    let passedMs = 0;
    const clock: Clock = {
      now: () => new Date(Date.parse('2026-02-10T09:00:00Z') + passedMs),
      monotonicMs: () => passedMs,
      sleep: () => Promise.resolve(),
    };
    const emulator = await emulated({ clock });
    const { json: created } = await post(emulator, REQUEST);
    const states: unknown[] = [];
    for (const ms of [0, 1_999, 1, 57_999, 1, 3_600_000]) {
      passedMs += ms;
      const [{ status, updatedAt, completedAt } = {}] = emulator.sessions();
      states.push([
        status,
        (updatedAt ?? 0) - created.createdAt,
        completedAt && completedAt - created.createdAt,
      ]);
    }
    expect(states).toEqual([
      ['pending', 0, undefined],
      ['pending', 0, undefined],
      ['running', 2_000, undefined],
      ['running', 2_000, undefined],
      ['idle', 60_000, 60_000],
      ['idle', 60_000, 60_000],
    ]);
  });

  test('advances with the emulated day, and is visible in the admin interface', async () => {
    const emulator = await emulated();
    await post(emulator, REQUEST);
    emulator.setToday(TOMORROW);
    const response = await fetch(`${emulator.url}/__admin/sessions`);
    expect(await response.json()).toMatchObject([{ status: 'idle', computerId: 'computer-1', cwd: null }]);
  });
});

describe("the next day's analytics", () => {
  /** Returns the analytics of the day of the created sessions, once it is over. */
  async function dayOf(count: number, keys: 'owner' | 'guest' = 'owner', users = 40) {
    const emulator = await emulated({ users });
    for (let made = 0; made < count; made += 1) {
      expect((await post(emulator, REQUEST, { key: emulator.keys[keys] })).status).toBe(201);
    }
    const userId = emulator.sessions()[0]?.userId;
    emulator.setToday(TOMORROW);
    const { rows, walk } = probeOf(emulator);
    const [activity] = await rows('activity', '2026-02-10');
    const [tools] = await rows('tools', '2026-02-10');
    const [tokens] = await rows('tokens', '2026-02-10');
    const people = (await walk('2026-02-10')).rows;
    const dayBefore = await rows('activity', '2026-02-09');
    return {
      activity,
      tools,
      tokens,
      people,
      dayBefore,
      own: people.find(({ user_id }) => user_id === userId),
    };
  }

  test('have that many more sessions, all of the user of the key', async () => {
    const [without, one, three] = await Promise.all([dayOf(0), dayOf(1), dayOf(3)]);
    expect(one.activity.sessions).toBe(without.activity.sessions + 1);
    expect(three.activity.sessions).toBe(without.activity.sessions + 3);
    expect((three.own?.sessions ?? 0) - (one.own?.sessions ?? 0)).toBe(2);
    expect(one.dayBefore).toEqual(without.dayBefore);
    const others = (rows: typeof one.people) => rows.filter(({ user_id }) => user_id !== one.own?.user_id);
    expect(others(one.people)).toEqual(others(without.people));
  });

  test.each(['owner', 'guest'] as const)(
    'stay consistent with a session of the user of the %s',
    async (role) => {
      const { activity, tools, tokens, people, own } = await dayOf(2, role);
      expect(own).toBeDefined();
      expect(sumOf(people, 'sessions')).toBe(activity.sessions);
      expect(people).toHaveLength(activity.daily_active_users);
      expect(sumOf(people, 'messages')).toBe(activity.messages);
      expect(sumOf(people, 'tool_calls')).toBe(tools.tool_calls);
      expect(sumOf(people, 'billable_tokens')).toBe(tokens.billable_tokens);
      expect(tools.tool_calls_per_session_avg).toBeCloseTo(tools.tool_calls / activity.sessions, 3);
      expect(tokens.by_user).toHaveLength(people.length);
    },
  );

  test('have a row for a user with no other activity: only these sessions', async () => {
    // Some day in the first year of a user who works on few days is one without work.
    for (let seed = 1; seed <= 50; seed += 1) {
      const emulator = await emulated({ seed });
      emulator.setToday(TOMORROW);
      const { walk } = probeOf(emulator);
      const before = (await walk('2026-02-10')).rows;
      emulator.setToday(parseDay('2026-02-10'));
      await post(emulator, REQUEST);
      await post(emulator, REQUEST);
      emulator.setToday(TOMORROW);
      const userId = emulator.sessions()[0]?.userId;
      if (before.some(({ user_id }) => user_id === userId)) continue;
      const after = (await walk('2026-02-10')).rows;
      expect(after).toHaveLength(before.length + 1);
      expect(after.find(({ user_id }) => user_id === userId)).toMatchObject({
        sessions: 2,
        messages: 0,
        tool_calls: 0,
        billable_tokens: 0,
        files_edited: 0,
        languages: [],
      });
      return;
    }
    throw new Error('every owner worked on that day');
  });

  test('do not cover a day before it is over', async () => {
    const emulator = await emulated();
    await post(emulator, REQUEST);
    const { get } = probeOf(emulator);
    const path = '/api/v1/analytics/activity?startDate=2026-02-10&endDate=2026-02-10';
    expect((await get(path)).status).toBe(400);
  });
});

describe('the OpenAPI document', () => {
  test('describes the creation: requests, answers and refusals', async () => {
    const emulator = await emulated();
    const { get } = probeOf(emulator);
    const document = (await get('/openapi.json', { key: null })).json;
    const operation = document.paths['/api/v0/sessions'].post;
    expect(Object.keys(operation.responses)).toEqual([
      '201',
      '400',
      '401',
      '403',
      '405',
      '413',
      '415',
      '429',
      '500',
    ]);

    const ajv = new Ajv2020({ strict: false, validateFormats: false });
    ajv.addSchema(document, 'api');
    const fits = (name: string, value: unknown) => ajv.validate(`api#/components/schemas/${name}`, value);
    const valid = { ...REQUEST, cwd: '/', sessionSettings: EVERY_SETTING };
    expect(fits('SessionRequest', valid)).toBe(true);
    expect(fits('Session', (await post(emulator, valid)).json)).toBe(true);
    for (const { field, good, bad } of FIELD_ROWS) {
      const settings = (value: unknown) => ({ ...REQUEST, sessionSettings: { [field]: value } });
      for (const value of good)
        expect(fits('SessionRequest', settings(value)), `${field} ${value}`).toBe(true);
      for (const [value] of bad)
        expect(fits('SessionRequest', settings(value)), `${field} ${value}`).toBe(false);
    }
    for (const body of ['{', {}, { computerId: 'x' }])
      expect(fits('SessionProblem', (await post(emulator, body)).json)).toBe(true);
  });
});

/** `tags[0].name` as a JSON pointer without its first character. */
function pointerOf(path: string): string {
  return path.replaceAll(/\["?/g, '/').replaceAll(/"?\]/g, '').replaceAll('.', '/');
}
