import { request } from 'node:http';
import { networkInterfaces } from 'node:os';
import { describe, expect, test } from 'vitest';
import { READINESS_PATH } from '../../../src/contract/paths.ts';
import { startEmulator } from '../../../src/emulator/emulator.ts';
import { pathOf, probe, TODAY } from '../../support/emulator/probe.ts';

const TOKEN = 'token-0123456789abcdef';

/** Sends a request with any Host, and returns status, headers and body. */
function send(
  url: string,
  {
    method = 'GET',
    headers = {},
    body,
  }: { method?: string; headers?: Record<string, string>; body?: string } = {},
): Promise<{ status: number; headers: Record<string, unknown>; text: string }> {
  return new Promise((resolve, reject) => {
    const sent = request(url, { method, headers }, (answer) => {
      let text = '';
      answer.setEncoding('utf8').on('data', (part) => {
        text += part;
      });
      answer.on('end', () => resolve({ status: answer.statusCode ?? 0, headers: answer.headers, text }));
    });
    sent.on('error', reject);
    sent.end(body);
  });
}

/** Node sends no length with the body of other methods. */
const bodyOf = (method: string, body: string) => (method === 'POST' || method === 'PUT' ? body : '');

test.each(['0.0.0.0', '::', '192.0.2.1', 'example.com'])(
  'it does not listen on %s without a token',
  async (host) => {
    await expect(startEmulator({ today: TODAY, host })).rejects.toMatchObject({
      name: 'UsageError',
      reason: 'emulator-needs-token',
    });
  },
);

test.each(['short', 'with a blank in its middle', ''])('the token %j is refused', async (token) => {
  await expect(startEmulator({ today: TODAY, token })).rejects.toMatchObject({ name: 'UsageError' });
});

test('on another address of loopback its own URL may be used, and names of other machines may not', async () => {
  const { emulator } = await probe({ host: '127.0.0.2' });
  expect(emulator.url).toMatch(/^http:\/\/127\.0\.0\.2:/);
  expect((await send(`${emulator.url}/__admin/keys`)).status).toBe(200);
  expect((await send(emulator.url)).status).toBe(200);
  for (const host of ['127.0.0.3', 'emulator.example', '127.0.0.2.evil.example'])
    expect((await send(`${emulator.url}/__admin/keys`, { headers: { host } })).status, host).toBe(403);
});

test('it listens on all addresses with a token, and then other machines reach the API', async () => {
  const at = await probe({ host: '0.0.0.0', token: TOKEN });
  expect(at.emulator.url).toMatch(/^http:\/\/127\.0\.0\.1:\d+$/);
  expect((await at.get(pathOf('activity', '2026-02-03'))).status).toBe(200);
  const outer = Object.values(networkInterfaces())
    .flat()
    .find((address) => address?.family === 'IPv4' && !address.internal)?.address;
  if (outer === undefined) return;
  const { port } = new URL(at.emulator.url);
  const answer = await fetch(`http://${outer}:${port}/openapi.json`);
  expect(answer.status).toBe(200);
});

describe('with a token', () => {
  const ROUTES = [
    ['GET', '/'],
    ['POST', '/'],
    ['GET', '/__admin'],
    ['GET', '/__admin/keys'],
    ['GET', '/__admin/quirks'],
    ['GET', '/__admin/journal'],
    ['POST', '/__admin/reset'],
    ['PUT', '/__admin/today'],
    ['POST', '/__admin/requests/find'],
    ['DELETE', '/__admin/quirks'],
  ] as const;

  test.each(ROUTES)('%s %s needs it, whatever the host is', async (method, path) => {
    const { emulator } = await probe({ token: TOKEN });
    const url = emulator.url + path;
    const before = emulator.today();
    for (const authorization of [
      undefined,
      'Bearer ',
      `Bearer ${emulator.apiKey}`,
      `Bearer ${TOKEN}x`,
      TOKEN,
    ]) {
      const headers = { ...(authorization === undefined ? {} : { authorization }) };
      const answer = await send(url, {
        method,
        headers,
        body: bodyOf(method, 'action=today&today=2026-08-01'),
      });
      expect([answer.status, answer.headers['www-authenticate']]).toEqual([
        401,
        'Basic realm="Daywalk emulator", charset="UTF-8"',
      ]);
      expect(answer.text).not.toContain(emulator.apiKey);
    }
    expect(emulator.today()).toBe(before);
    const headers = { authorization: `Bearer ${TOKEN}`, host: 'emulator.example:8080' };
    const form = path === '/' ? 'action=today&today=2026-08-01' : '{"today":"2026-08-01"}';
    const passed = await send(url, { method, headers, body: bodyOf(method, form) });
    expect([200, 303, 400]).toContain(passed.status);
  });

  test('a browser may send it as a password, and a page of another origin may not', async () => {
    const { emulator } = await probe({ token: TOKEN });
    const authorization = `Basic ${Buffer.from(`anyone:${TOKEN}`).toString('base64')}`;
    const host = 'emulator.example';
    const get = (headers: Record<string, string>) =>
      send(`${emulator.url}/__admin/keys`, { headers: { authorization, host, ...headers } });
    expect((await get({})).text).toContain(emulator.apiKey);
    for (const origin of ['http://emulator.example', 'https://emulator.example'])
      expect((await get({ origin })).status).toBe(200);
    for (const origin of ['http://evil.example', 'null', 'http://emulator.example.evil.example'])
      expect((await get({ origin })).status, origin).toBe(403);
  });

  test('no key and no JWT can be computed without it, not even beside a given key', async () => {
    const credentialsOf = async (options: Parameters<typeof probe>[0]) => {
      const { emulator } = await probe(options);
      emulator.resetQuirks();
      const { keys } = emulator;
      return [keys.owner, keys.manager, keys.user, keys.member, keys.guest, emulator.quirks().sessionsJwt];
    };
    const open = await credentialsOf({});
    const own = await credentialsOf({ token: TOKEN });
    const all = [...open, ...own, ...(await credentialsOf({ token: `${TOKEN}x` }))];
    all.push(...(await credentialsOf({ token: TOKEN, seed: 2 })));
    expect(new Set(all).size).toBe(24);
    expect(await credentialsOf({ token: TOKEN })).toEqual(own);
    expect(await credentialsOf({ token: TOKEN, apiKey: 'given' })).toEqual(['given', ...own.slice(1)]);
    const at = await probe({ token: TOKEN, apiKey: 'given' });
    for (const key of open) expect((await at.get(READINESS_PATH, { key })).status, String(key)).toBe(401);
  });

  test('the API needs its own keys, and the token is none of them', async () => {
    const at = await probe({ token: TOKEN });
    expect((await at.get(pathOf('activity', '2026-02-03'))).status).toBe(200);
    expect((await at.get(pathOf('activity', '2026-02-03'), { key: TOKEN })).status).toBe(401);
    expect(JSON.stringify(at.emulator.journal())).not.toContain(TOKEN);
  });
});
