import { request } from 'node:http';
import { describe, expect, test } from 'vitest';
import { parseDay } from '../../../src/core/day.ts';
import { DEFAULT_QUIRKS } from '../../../src/emulator/quirks.ts';
import { type Json, type Probe, pathOf, probe } from '../../support/emulator/probe.ts';

async function admin(
  at: Probe,
  method: string,
  path: string,
  body?: unknown,
): Promise<{ status: number; json: Json }> {
  const response = await fetch(`${at.emulator.url}/__admin${path}`, {
    method,
    ...(body === undefined ? {} : { body: typeof body === 'string' ? body : JSON.stringify(body) }),
  });
  return { status: response.status, json: await response.json() };
}

test('the list names every route, and every route answers without a key', async () => {
  const at = await probe();
  const { json } = await admin(at, 'GET', '');
  const names = json.map((route: Json) => `${route.method} ${route.path}`);
  expect(names).toEqual([
    'GET /__admin',
    'POST /__admin/reset',
    'GET /__admin/keys',
    'GET /__admin/rules',
    'PUT /__admin/rules',
    'GET /__admin/quirks',
    'PUT /__admin/quirks',
    'DELETE /__admin/quirks',
    'GET /__admin/journal',
    'DELETE /__admin/journal',
    'POST /__admin/requests/count',
    'POST /__admin/requests/find',
    'GET /__admin/today',
    'PUT /__admin/today',
    'PUT /__admin/latency',
    'POST /__admin/revisions',
    'DELETE /__admin/revisions',
    'GET /__admin/days',
    'PUT /__admin/days',
    'DELETE /__admin/days',
    'GET /__admin/repositories',
    'GET /__admin/sessions',
  ]);
  for (const { path } of json.filter((route: Json) => route.method === 'GET')) {
    expect((await fetch(at.emulator.url + path)).status).toBe(200);
  }
});

test('rules can be replaced and read, and invalid ones are refused', async () => {
  const at = await probe();
  const rules = [{ id: 'x', match: { stream: 'users' }, action: { type: 'status', status: 503 } }];
  expect(await admin(at, 'PUT', '/rules', rules)).toEqual({ status: 200, json: rules });
  expect((await at.get(pathOf('users', '2026-02-03'))).status).toBe(503);
  expect((await admin(at, 'GET', '/rules')).json).toEqual(rules);
  const refused = await admin(at, 'PUT', '/rules', [{ action: { type: 'status' } }]);
  expect(refused.status).toBe(400);
  expect(refused.json).toMatchObject({
    title: 'Bad Request',
    detail: 'rules[0].action.status: nothing is not accepted',
    hint: 'rules[0].action.status must be a whole number from 200 to 599',
  });
  expect(at.emulator.rules()).toEqual(rules);
  await admin(at, 'PUT', '/rules', []);
  expect((await at.get(pathOf('users', '2026-02-03'))).status).toBe(200);
});

test('the journal can be read and reset, and does not count admin requests', async () => {
  const at = await probe();
  await at.get('/nowhere');
  expect((await admin(at, 'GET', '/journal')).json).toEqual(
    JSON.parse(JSON.stringify(at.emulator.journal())),
  );
  expect((await admin(at, 'GET', '/journal')).json).toMatchObject({ requests: 1, byPath: { '/nowhere': 1 } });
  expect((await admin(at, 'DELETE', '/journal')).status).toBe(200);
  expect(at.emulator.journal().requests).toBe(0);
});

test('quirks can be changed one by one, read and reset, and invalid ones are refused', async () => {
  const at = await probe({ quirks: { modelTier: false } });
  const changed = await admin(at, 'PUT', '/quirks', { maxRangeDays: 1 });
  expect(changed.json).toEqual({ ...DEFAULT_QUIRKS, modelTier: false, maxRangeDays: 1 });
  expect((await at.get(pathOf('users', '2026-02-03..2026-02-04'))).status).toBe(400);
  expect((await admin(at, 'PUT', '/quirks', { maxRangeDays: 'no' })).status).toBe(400);
  expect((await admin(at, 'PUT', '/quirks', [])).status).toBe(400);
  await admin(at, 'DELETE', '/quirks');
  expect((await admin(at, 'GET', '/quirks')).json).toEqual(DEFAULT_QUIRKS);
});

test('today can be changed, within limits', async () => {
  const at = await probe();
  expect((await at.get(pathOf('activity', '2026-06-10'))).status).toBe(400);
  expect((await admin(at, 'PUT', '/today', { today: '2026-06-11' })).json).toEqual({ today: '2026-06-11' });
  expect((await at.get(pathOf('activity', '2026-06-10'))).status).toBe(200);
  expect((await admin(at, 'GET', '/today')).json).toEqual({ today: '2026-06-11' });
  for (const today of ['2026-01-14', '2026-02-30', 'tomorrow', null]) {
    expect((await admin(at, 'PUT', '/today', { today })).status).toBe(400);
  }
  expect(at.emulator.today()).toBe(parseDay('2026-06-11'));
});

test('latency can be set, and does not affect admin requests', async () => {
  const at = await probe();
  expect((await admin(at, 'PUT', '/latency', { ms: 150 })).json).toEqual({ ms: 150 });
  const started = performance.now();
  await at.get('/nowhere');
  expect(performance.now() - started).toBeGreaterThan(145);
  await admin(at, 'PUT', '/latency', { ms: 60_000 });
  const asked = performance.now();
  await admin(at, 'GET', '/today');
  expect(performance.now() - asked).toBeLessThan(30_000);
  expect((await admin(at, 'PUT', '/latency', { ms: -1 })).status).toBe(400);
  expect((await admin(at, 'PUT', '/latency', { ms: 10_000_000 })).status).toBe(400);
});

test('revisions can be made and reverted', async () => {
  const at = await probe();
  const before = await at.rows('tokens', '2026-02-03');
  const made = await admin(at, 'POST', '/revisions', { kind: 'vanish-users', day: '2026-02-03', count: 2 });
  expect(made).toMatchObject({ status: 200, json: { number: 1, kind: 'vanish-users', day: '2026-02-03' } });
  expect(made.json.names).toHaveLength(2);
  expect(await at.rows('tokens', '2026-02-03')).not.toEqual(before);
  await admin(at, 'DELETE', '/revisions');
  expect(await at.rows('tokens', '2026-02-03')).toEqual(before);
  expect((await admin(at, 'POST', '/revisions', { kind: 'restate' })).json.hint).toMatch(/name a day/);
  expect((await admin(at, 'POST', '/revisions', { kind: 'unmake' })).json.detail).toMatch(/^revision.kind:/);
});

test('keys and repositories can be read', async () => {
  const at = await probe({ apiKey: 'my-key' });
  expect((await admin(at, 'GET', '/keys')).json).toEqual({
    ...at.emulator.keys,
    jwt: at.emulator.quirks().sessionsJwt,
  });
  expect(at.emulator.keys.owner).toBe('my-key');
  const [repository] = (await admin(at, 'GET', '/repositories')).json;
  expect(repository).toEqual({
    repoId: expect.stringMatching(/^repo_01/),
    repoUrl: expect.stringMatching(/^https:\/\//),
  });
});

test.each([
  ['quirks', `{"orgId":${'['.repeat(20_000)}${']'.repeat(20_000)}}`],
  ['rules', '['.repeat(300_000) + ']'.repeat(300_000)],
  ['quirks', `{"orgId":"\\"","lies":${'{"a":'.repeat(100)}1${'}'.repeat(100)}}`],
  [
    'days',
    `{"stream":"tools","date":"2026-03-02","rows":[{"date":"2026-03-02","x":${'['.repeat(5_000)}${']'.repeat(5_000)}}]}`,
  ],
])('PUT %s with too many levels is refused, and the emulator goes on', async (path, body) => {
  const at = await probe();
  const { status, json } = await admin(at, 'PUT', `/${path}`, body);
  expect([status, json.detail]).toEqual([400, expect.stringContaining('has more than 100 levels')]);
  at.emulator.setQuirks({ unknownFields: true });
  expect((await at.get(pathOf('tools', '2026-03-02'))).status).toBe(200);
});

test('brackets in texts and beside each other are not levels', async () => {
  const at = await probe();
  expect((await admin(at, 'PUT', '/quirks', { orgId: '["{\\'.repeat(200) })).status).toBe(200);
  const rules = Array.from({ length: 200 }, () => ({ action: [{ type: 'hang' }], match: { page: 9 } }));
  expect((await admin(at, 'PUT', '/rules', rules)).status).toBe(200);
});

test('what fails while it answers is a 500, and the emulator goes on', async () => {
  let row = `{"x":${'['.repeat(20_000)}${']'.repeat(20_000)}}`;
  const days = { rowsOf: () => [row], reports: () => null, describe: () => ({ days: [], removed: [] }) };
  const at = await probe({ days, quirks: { unknownFields: true }, cacheBytesMax: 0 });
  const { status, json } = await at.get(pathOf('tools', '2026-03-02'));
  expect([status, json.detail]).toEqual([500, expect.stringMatching(/^the emulator failed: /)]);
  row = '{}';
  expect((await at.get(pathOf('tools', '2026-03-02'))).status).toBe(200);
});

test('unknown paths, wrong methods and bodies that are not JSON are refused', async () => {
  const at = await probe();
  expect((await admin(at, 'GET', '/nothing')).status).toBe(404);
  expect((await admin(at, 'POST', '/rules', [])).status).toBe(405);
  expect((await admin(at, 'PUT', '/rules', '{')).json.detail).toBe('the body is not JSON');
  expect((await admin(at, 'PUT', '/today')).status).toBe(400);
  expect((await admin(at, 'PUT', '/quirks', `{"orgId":"${'x'.repeat(9_000_000)}"}`)).json.detail).toMatch(
    /exceeds \d+ bytes/,
  );
});

test('faults do not affect admin requests', async () => {
  const at = await probe({ rules: [{ action: { type: 'hang' } }] });
  expect((await admin(at, 'GET', '/today')).status).toBe(200);
});

describe('a web page that reaches the emulator through its own host name', () => {
  /** Returns the status of a request with these headers. Does not use fetch, which does not allow setting Host. */
  function statusFor(at: Probe, headers: Record<string, string>, method = 'GET'): Promise<number> {
    const { port } = new URL(at.emulator.url);
    return new Promise((resolve, reject) => {
      const path = '/__admin/keys';
      const sent = request({ host: '127.0.0.1', port, path, method, headers }, (answer) => {
        answer.resume();
        resolve(answer.statusCode ?? 0);
      });
      sent.on('error', reject);
      sent.end();
    });
  }

  test('cannot read or change it: a foreign Host or Origin gets 403', async () => {
    const at = await probe();
    const { host, port } = new URL(at.emulator.url);
    for (const foreign of [
      'evil.example',
      `evil.example:${port}`,
      `localhost.evil.example:${port}`,
      '127.0.0.1.nip.io',
      '10.0.0.1',
    ]) {
      expect(await statusFor(at, { host: foreign }), foreign).toBe(403);
    }
    for (const origin of [
      'http://evil.example',
      `http://evil.example:${port}`,
      'null',
      'http://127.0.0.1:1',
      `https://${host}`,
    ]) {
      for (const method of ['GET', 'PUT', 'DELETE'])
        expect(await statusFor(at, { host, origin }, method), origin).toBe(403);
    }
  });

  test('is distinguished from requests to any local name', async () => {
    const at = await probe();
    const { host, port } = new URL(at.emulator.url);
    for (const own of [host, '127.0.0.1', 'localhost', `LOCALHOST:${port}`, '[::1]', `[::1]:${port}`]) {
      expect(await statusFor(at, { host: own }), own).toBe(200);
    }
    expect(await statusFor(at, { host, origin: `http://${host}` })).toBe(200);
  });
});
