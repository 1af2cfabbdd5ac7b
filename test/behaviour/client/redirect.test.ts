import { describe, expect, it } from 'vitest';
import { REDIRECTS_MAX } from '../../../src/http/limits.ts';
import {
  API_KEY,
  requestTo,
  testRequester,
  testTransport,
  thrownBy,
} from '../../support/api/test-transport.ts';
import { http, json, rawServer } from '../../support/network/raw-server.ts';

const FROM = '/api/organization/old-reports';
const TO = '/api/organization/new-reports';

describe('a redirect on the same origin', () => {
  it.each([301, 302, 303, 307, 308])('%i is followed with the credential and the query', async (status) => {
    const server = await rawServer((socket, { path }) => {
      socket.write(path.startsWith(TO) ? json({ ok: 1 }) : http(status, '', { location: TO }));
    });
    const { body } = await testRequester().send(requestTo(server.url, FROM, { limit: 5, startAfter: 'r 1' }));
    expect(body).toEqual({ ok: 1 });
    expect(server.requests.map(({ path }) => path)).toEqual([
      `${FROM}?limit=5&startAfter=r+1`,
      `${TO}?limit=5&startAfter=r+1`,
    ]);
    for (const { headers } of server.requests) expect(headers['authorization']).toBe(`Bearer ${API_KEY}`);
  });

  it.each([
    ['absolute', (url: string) => `${url}${TO}?limit=5`],
    ['with the query repeated', () => `${TO}?limit=5`],
    ['relative', () => 'new-reports'],
    ['with a fragment', () => `${TO}#top`],
  ])('is followed when its location is %s', async (_, locationOf) => {
    const server = await rawServer((socket, { path }) => {
      socket.write(path.startsWith(TO) ? json({}) : http(307, 'moved', { location: locationOf(server.url) }));
    });
    await testRequester().send(requestTo(server.url, FROM, { limit: 5 }));
    expect(server.requests.at(-1)?.path).toBe(`${TO}?limit=5`);
  });

  it('uses the query of the location if that has one', async () => {
    const server = await rawServer((socket, { path }) => {
      socket.write(path.startsWith(TO) ? json({}) : http(302, '', { location: `${TO}?limit=2&token=t` }));
    });
    await testRequester().send(requestTo(server.url, FROM, { limit: 5 }));
    expect(server.requests.at(-1)?.path).toBe(`${TO}?limit=2&token=t`);
  });

  it.each([
    ['308', 308, '', 1],
    ['308 that repeats the query', 308, '?limit=5', 1],
    ['301', 301, '', 1],
    ['302, for this time only', 302, '', 3],
    ['307, for this time only', 307, '', 3],
    ['308 to another query, for this time only', 308, '?limit=5&x=1', 3],
  ])('%s is remembered', async (_, status, query, asked) => {
    const server = await rawServer((socket, { path }) => {
      socket.write(path.startsWith(TO) ? json({}) : http(status, '', { location: TO + query }));
    });
    const { send } = testRequester();
    for (let n = 0; n < 3; n += 1) await send(requestTo(server.url, FROM, { limit: 5 }));
    expect(server.requests.filter(({ path }) => path.startsWith(FROM))).toHaveLength(asked);
    expect(server.requests.filter(({ path }) => path.startsWith(TO))).toHaveLength(3);
  });

  it('that is remembered applies to every query of that path and to no other path', async () => {
    const server = await rawServer((socket, { path }) => {
      socket.write(path.startsWith(FROM) ? http(308, '', { location: TO }) : json({}));
    });
    const { send } = testRequester();
    await send(requestTo(server.url, FROM, { startAfter: 'a' }));
    await send(requestTo(server.url, FROM, { startAfter: 'b' }));
    await send(requestTo(server.url, '/api/other'));
    expect(server.requests.map(({ path }) => path)).toEqual([
      `${FROM}?startAfter=a`,
      `${TO}?startAfter=a`,
      `${TO}?startAfter=b`,
      '/api/other',
    ]);
  });

  it.each([
    ['to itself', (path: string) => path],
    ['in a circle', (path: string) => (path === '/a' ? '/b' : '/a')],
    ['to ever new places', (path: string) => `${path}x`],
  ])('%s ends after a few hops, and is not retried', async (_, next) => {
    const server = await rawServer(
      (socket, { path }) => void socket.write(http(302, '', { location: next(path) })),
    );
    const transport = testTransport();
    const error = await thrownBy(
      transport.get(requestTo(server.url, '/a'), { signal: new AbortController().signal }),
    );
    expect(error).toMatchObject({
      name: 'RequestError',
      effect: 'unit',
      exitCode: 4,
      message: expect.stringContaining('redirected more than'),
    });
    expect(server.requests).toHaveLength(REDIRECTS_MAX + 1);
  });

  it.each([
    ['no location', {}],
    ['an empty location', { location: '' }],
    ['a location that is not a URL', { location: 'http://:x' }],
  ])('with %s leads nowhere', async (_, headers) => {
    const server = await rawServer((socket) => void socket.write(http(302, '', headers)));
    expect(await thrownBy(testRequester().send(requestTo(server.url)))).toMatchObject({
      name: 'RequestError',
      effect: 'unit',
      message: 'GET /api/thing was redirected to nowhere',
    });
  });

  it('counts as a request of its own', async () => {
    const server = await rawServer((socket, { path }) => {
      socket.write(path === '/a' ? http(302, '', { location: '/b' }) : json({}));
    });
    const transport = testTransport();
    const meter = { requests: 0, retries: 0 };
    await transport.get(requestTo(server.url, '/a'), { signal: new AbortController().signal, meter });
    expect(server.requests).toHaveLength(2);
    expect(meter).toEqual({ requests: 2, retries: 0 });
    expect(transport.totals).toEqual({ requests: 2, retries: 0 });
    expect(Object.fromEntries(transport.responses)).toEqual({ 200: 1, 302: 1 });
  });
});

describe('a redirect to another origin', () => {
  it.each([301, 302, 303, 307, 308])(
    '%i ends the run with exit code 4, and that server sees nothing',
    async (status) => {
      const other = await rawServer((socket) => void socket.write(json({})));
      const server = await rawServer(
        (socket) => void socket.write(http(status, '', { location: `${other.url}/api/thing` })),
      );
      const error = await thrownBy(testRequester().send(requestTo(server.url)));
      expect(error).toMatchObject({
        name: 'RunError',
        effect: 'run',
        exitCode: 4,
        message: expect.stringContaining(other.url),
        reason: 'moved-away',
      });
      expect(server.requests).toHaveLength(1);
      expect(other.connections).toBe(0);
    },
  );

  it('names that origin after it has passed the gate', async () => {
    const server = await rawServer(
      (socket) => void socket.write(http(302, '', { location: 'https://user-12345.example.org/x' })),
    );
    const passage = {
      json: (text: string) => text,
      any: (text: string) => text.replace('user-12345', 'erased'),
    };
    expect(await thrownBy(testRequester({ passage }).send(requestTo(server.url)))).toMatchObject({
      message: expect.stringContaining('another origin, https://erased.example.org; not followed'),
    });
  });

  it.each([
    ['another scheme', (url: string) => url.replace('http:', 'https:')],
    ['another name of the same machine', (url: string) => url.replace('127.0.0.1', 'localhost')],
    ['no scheme', () => '//example.invalid/x'],
    ['a scheme that is not HTTP', () => 'file:///etc/passwd'],
    ['the other slashes', () => '\\\\example.invalid\\x'],
  ])('includes one with %s', async (_, locationOf) => {
    const server = await rawServer(
      (socket) => void socket.write(http(302, '', { location: locationOf(server.url) })),
    );
    expect(await thrownBy(testRequester().send(requestTo(server.url)))).toMatchObject({
      name: 'RunError',
      exitCode: 4,
    });
    expect(server.requests).toHaveLength(1);
  });
});
