import { expect, test } from 'vitest';
import { SESSIONS_PATH } from '../../../src/contract/paths.ts';
import { DEFAULT_QUIRKS, REALISTIC_QUIRKS } from '../../../src/emulator/quirks.ts';
import { type Probe, pathOf, probe } from '../../support/emulator/probe.ts';

/** The emulator follows the specification unless it is asked to deviate. */

const LONG = '2026-01-14..2026-05-30';

async function numeratorsOf(at: Probe): Promise<(number | null | undefined)[]> {
  const { reports } = await at.reports('limit=100');
  return reports.flatMap(({ report }) => Object.values(report).map(({ numerator }) => numerator));
}

test('by default it answers as the specification says', async () => {
  const at = await probe({ reports: 100 });
  const last = await at.get(pathOf('users', '2026-02-03', 'limit=100'));
  expect(last.json.meta.has_more).toBe(false);
  expect(last.json.meta).not.toHaveProperty('next_cursor');
  expect((await at.get(pathOf('activity', LONG))).status).toBe(200);
  const numerators = await numeratorsOf(at);
  expect(numerators.length).toBe(100 * 81);
  expect(numerators.filter((numerator) => typeof numerator !== 'number')).toEqual([]);
});

test('the limit of a response stays: a range that needs a longer one gets 400', async () => {
  const at = await probe({ quirks: { maxAnswerChars: 20_000 } });
  const { status, json } = await at.get(pathOf('tokens', LONG));
  expect([status, json.detail]).toEqual([400, expect.stringContaining('request fewer days')]);
});

test('realistic turns on what services of this kind are likely to do, and each of it is a quirk', async () => {
  const at = await probe({ realistic: true, reports: 100 });
  expect(at.emulator.quirks()).toEqual({ ...DEFAULT_QUIRKS, ...REALISTIC_QUIRKS });
  const last = await at.get(pathOf('users', '2026-02-03', 'limit=100'));
  expect(last.json.meta).toMatchObject({ has_more: false, next_cursor: null });
  expect((await at.get(pathOf('activity', LONG))).json.detail).toMatch(/137 days exceeds the maximum of 100/);
  const skipped = (await numeratorsOf(at)).filter((numerator) => numerator === null).length / (100 * 81);
  expect(skipped).toBeGreaterThan(0.02);
  expect(skipped).toBeLessThan(0.09);

  at.emulator.setQuirks({ lastCursor: 'absent', maxRangeDays: null, nullNumerators: 0 });
  const strict = await probe({ reports: 100 });
  expect((await at.reports()).reports).toEqual((await strict.reports()).reports);
  expect((await at.get(pathOf('activity', LONG))).text).toBe(
    (await strict.get(pathOf('activity', LONG))).text,
  );
  at.emulator.resetQuirks();
  expect(at.emulator.quirks()).toMatchObject(REALISTIC_QUIRKS);
});

test('a quirk that is given wins over a realistic one', async () => {
  const at = await probe({ realistic: true, quirks: { maxRangeDays: null } });
  expect(at.emulator.quirks()).toMatchObject({ maxRangeDays: null, lastCursor: 'null' });
});

test('sessions accept a JWT by default, which opens nothing else', async () => {
  const at = await probe();
  const { jwt } = (await at.get('/__admin/keys')).json;
  expect(jwt.split('.')).toHaveLength(3);
  expect(JSON.parse(Buffer.from(jwt.split('.')[0], 'base64url').toString())).toMatchObject({ typ: 'JWT' });
  const create = (key: string) =>
    fetch(at.emulator.url + SESSIONS_PATH, {
      method: 'POST',
      headers: { authorization: `Bearer ${key}`, 'content-type': 'application/json' },
      body: '{"computerId":"computer-1"}',
    });
  expect((await create(jwt)).status).toBe(201);
  expect((await create(`${jwt}x`)).status).toBe(401);
  expect((await at.get(pathOf('activity', '2026-02-03'), { key: jwt })).status).toBe(401);
  at.emulator.setQuirks({ sessionsJwt: null });
  expect((await create(jwt)).status).toBe(401);
  // A request without a credential would have it.
  expect(() => at.emulator.setQuirks({ sessionsJwt: '' })).toThrow(/sessionsJwt: "" is not accepted/);
});

test.each([
  ['any', ['owner', 'manager', 'user', 'member', 'guest']],
  ['manager', ['owner', 'manager']],
  ['owner', ['owner']],
] as const)('with sessionsRoles %s, these roles create sessions: %j', async (sessionsRoles, allowed) => {
  const at = await probe({ quirks: { sessionsRoles } });
  const created: string[] = [];
  for (const [role, key] of Object.entries(at.emulator.keys)) {
    const answer = await fetch(at.emulator.url + SESSIONS_PATH, {
      method: 'POST',
      headers: { authorization: `Bearer ${key}`, 'content-type': 'application/json' },
      body: '{"computerId":"computer-1"}',
    });
    if (answer.status === 201) created.push(role);
    else {
      const detail = `The role ${sessionsRoles} is required; this key belongs to a ${role}`;
      expect(await answer.json()).toEqual({ title: 'Forbidden', status: 403, detail });
    }
  }
  expect(created).toEqual(allowed);
});

test.each([
  [pathOf('users', '2026-02-03'), 'GET, OPTIONS'],
  [SESSIONS_PATH, 'POST, OPTIONS'],
  ['/openapi.json', 'GET, OPTIONS'],
])('OPTIONS %s names its methods without a key', async (path, allow) => {
  const { emulator } = await probe();
  const answer = await fetch(emulator.url + path, { method: 'OPTIONS' });
  expect([answer.status, answer.headers.get('allow'), await answer.text()]).toEqual([204, allow, '']);
  expect(answer.headers.get('content-length')).toBeNull();
  expect(answer.headers.get('x-request-id')).toMatch(/^req_/);
});

test.each(['HEAD', 'POST', 'PUT', 'DELETE'])('%s is not allowed at the OpenAPI document', async (method) => {
  const { emulator } = await probe();
  const answer = await fetch(`${emulator.url}/openapi.json`, { method });
  expect([answer.status, answer.headers.get('allow')]).toEqual([405, 'GET, OPTIONS']);
});

test('OPTIONS of a path that does not exist is not found', async () => {
  const { emulator } = await probe();
  expect((await fetch(`${emulator.url}/nowhere`, { method: 'OPTIONS' })).status).toBe(404);
});
