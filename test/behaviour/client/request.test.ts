import { randomBytes } from 'node:crypto';
import { gzipSync } from 'node:zlib';
import { describe, expect, it } from 'vitest';
import { RequestError } from '../../../src/http/errors.ts';
import { explain } from '../../../src/http/explain.ts';
import {
  API_KEY,
  requestTo,
  testRequester,
  testTransport,
  thrownBy,
} from '../../support/api/test-transport.ts';
import { http, json, type RawReply, type RawServer, rawServer } from '../../support/network/raw-server.ts';

const BODY = JSON.stringify({ data: [1, 'zwölf', '\u{1F600}'], meta: { org_id: 'org_1' } });

describe('a request', () => {
  it('requests the path and query in order, with the credential, as JSON', async () => {
    const server = await rawServer((socket) => void socket.write(json({ ok: true })));
    const { send } = testRequester();
    const target = requestTo(server.url, '/api/v1/thing', {
      startDate: '2026-01-14',
      limit: 5,
      cursor: undefined,
      q: 'a&b=c d+é',
    });
    expect((await send(target)).body).toEqual({ ok: true });
    expect(server.requests[0]).toMatchObject({
      method: 'GET',
      path: '/api/v1/thing?startDate=2026-01-14&limit=5&q=a%26b%3Dc+d%2B%C3%A9',
      headers: {
        authorization: `Bearer ${API_KEY}`,
        accept: 'application/json',
        // On a loopback host too: a tunnel or a proxy may stand there, with a slow line behind it.
        'accept-encoding': 'gzip',
        'user-agent': 'daywalk/test',
      },
    });
  });

  it('keeps the path prefix of the origin', async () => {
    const server = await rawServer((socket) => void socket.write(json({})));
    await testRequester().send(requestTo(`${server.url}/proxy/eu`, '/api/thing'));
    expect(server.requests[0]?.path).toBe('/proxy/eu/api/thing');
  });

  it('returns the status, the parsed body, its text, the request ID and the request', async () => {
    const server = await rawServer(
      (socket) => void socket.write(http(200, BODY, { 'x-request-id': 'req_7' })),
    );
    expect(await testRequester().send(requestTo(server.url))).toEqual({
      status: 200,
      body: JSON.parse(BODY),
      text: BODY,
      requestId: 'req_7',
      target: `GET ${server.requests[0]?.path}`,
      headers: expect.any(Function),
    });
  });

  it.each([
    'application/json',
    'application/json; charset=utf-8',
    'Application/JSON',
    'application/problem+json',
  ])('accepts %s as JSON', async (type) => {
    const server = await rawServer((socket) => void socket.write(http(200, BODY, { 'content-type': type })));
    expect((await testRequester().send(requestTo(server.url))).text).toBe(BODY);
  });

  it('decodes gzip in pieces of any size', async () => {
    const bytes = gzipSync(BODY);
    const server = await rawServer((socket) => {
      socket.setNoDelay(true);
      socket.write(http(200, '', { 'content-encoding': 'GZIP', 'content-length': bytes.length }));
      for (const byte of bytes) socket.write(Buffer.of(byte));
    });
    expect((await testRequester().send(requestTo(server.url))).text).toBe(BODY);
  });

  it('reads chunked bodies, and bodies that end with the connection', async () => {
    const server = await rawServer((socket, { index }) => {
      if (index === 1) {
        socket.write(http(200, '', { 'transfer-encoding': 'chunked', 'content-length': undefined }));
        for (const part of [BODY.slice(0, 5), BODY.slice(5)]) {
          socket.write(`${Buffer.byteLength(part).toString(16)}\r\n${part}\r\n`);
        }
        socket.write('0\r\n\r\n');
      } else {
        socket.end(
          Buffer.concat([
            http(200, '', { 'content-length': undefined, connection: 'close' }),
            Buffer.from(BODY),
          ]),
        );
      }
    });
    const { send } = testRequester();
    expect((await send(requestTo(server.url))).text).toBe(BODY);
    expect((await send(requestTo(server.url))).text).toBe(BODY);
    expect(server.requests).toHaveLength(2);
  });

  it('keeps its connection for the next request', async () => {
    const server = await rawServer((socket) => void socket.write(json({})));
    const { send } = testRequester({ connections: 1 });
    for (let n = 0; n < 5; n += 1) await send(requestTo(server.url));
    expect(server.requests).toHaveLength(5);
    expect(server.connections).toBe(1);
  });

  it('leaves no connection open after close', async () => {
    const server = await rawServer((socket) => void socket.write(json({})));
    const { send, close } = testRequester();
    await Promise.all([send(requestTo(server.url)), send(requestTo(server.url))]);
    expect(server.open).toBeGreaterThan(0);
    await close();
    await expect.poll(() => server.open).toBe(0);
  });
});

describe('a request without a usable answer may be retried when', () => {
  const cases: readonly [string, RawReply][] = [
    ['the connection is reset before the headers', (socket) => socket.resetAndDestroy()],
    ['the connection is closed before the headers', (socket) => socket.end()],
    [
      'the connection is reset inside the headers',
      (socket) => void socket.write('HTTP/1.1 200 OK\r\ncontent-', () => socket.resetAndDestroy()),
    ],
    [
      'the body is reset',
      (socket) =>
        void socket.write(http(200, '{"a', { 'content-length': 100 }), () => socket.resetAndDestroy()),
    ],
    ['the status line is malformed', (socket) => void socket.end('HTTP/9.9 okay then\r\n\r\n')],
    ['it speaks no HTTP', (socket) => void socket.end('SSH-2.0-OpenSSH_9.6\r\n')],
    [
      'the headers are too large',
      (socket) => void socket.write(http(200, '{}', { 'x-large': 'x'.repeat(200_000) })),
    ],
    [
      'a header is malformed',
      (socket) => void socket.end('HTTP/1.1 200 OK\r\nbad header\u0000: x\r\ncontent-length: 2\r\n\r\n{}'),
    ],
    [
      'two lengths contradict each other',
      (socket) => void socket.end('HTTP/1.1 200 OK\r\ncontent-length: 2\r\ncontent-length: 3\r\n\r\n{}'),
    ],
    [
      'it is a web page',
      (socket) => void socket.write(http(200, '<html>login</html>', { 'content-type': 'text/html' })),
    ],
    [
      'it is a page without a content type',
      (socket) => void socket.write(http(200, ' <html>', { 'content-type': undefined })),
    ],
    [
      'it says JSON in another word',
      (socket) => void socket.write(http(200, '{}', { 'content-type': 'application/jsonlines' })),
    ],
    ['it is empty', (socket) => void socket.write(http(200, '', { 'content-type': undefined }))],
    [
      'gzip is announced and not there',
      (socket) => void socket.write(http(200, BODY, { 'content-encoding': 'gzip' })),
    ],
    [
      'gzip ends too early',
      (socket) =>
        void socket.write(http(200, gzipSync(BODY).subarray(0, -9), { 'content-encoding': 'gzip' })),
    ],
    [
      'gzip is damaged',
      (socket) => {
        const bytes = gzipSync('x'.repeat(1000) + BODY);
        bytes.writeUInt8(bytes.readUInt8(bytes.length - 6) ^ 0xff, bytes.length - 6);
        socket.write(http(200, bytes, { 'content-encoding': 'gzip' }));
      },
    ],
  ];

  it('is none if it is JSON without a content type: the specification promises none', async () => {
    const server = await rawServer(
      (socket) => void socket.write(http(200, '{"a":1}', { 'content-type': undefined })),
    );
    expect(await testRequester().send(requestTo(server.url, '/api/thing'))).toMatchObject({ body: { a: 1 } });
  });

  it.each(cases)('%s', async (_, reply) => {
    const server = await rawServer(reply);
    const error = await thrownBy(testRequester().send(requestTo(server.url, '/api/thing', { day: 1 })));
    expect(server.requests).toHaveLength(1);
    expect(error).toBeInstanceOf(RequestError);
    expect(error).toMatchObject({
      effect: 'retry',
      exitCode: 4,
      target: 'GET /api/thing?day=1',
      message: expect.stringContaining('GET /api/thing?day=1'),
    });
  });

  it.each(['br', 'deflate', 'zstd', 'gzip, br'])(
    'is not retried when the body has the unrequested encoding %s',
    async (encoding) => {
      const server = await rawServer(
        (socket) => void socket.write(http(200, BODY, { 'content-encoding': encoding })),
      );
      expect(await thrownBy(testRequester().send(requestTo(server.url)))).toMatchObject({
        name: 'RequestError',
        effect: 'unit',
        exitCode: 4,
        message: `GET /api/thing: the body is encoded as "${encoding}"; only gzip was requested`,
        hint: expect.stringContaining('Accept-Encoding'),
      });
    },
  );

  it('does not quote what is no known encoding: it could be about a person', async () => {
    const server = await rawServer(
      (socket) => void socket.write(http(200, BODY, { 'content-encoding': 'ada@example.com' })),
    );
    expect(await thrownBy(testRequester().send(requestTo(server.url)))).toMatchObject({
      effect: 'unit',
      message:
        'GET /api/thing: the body is encoded as something that is no known encoding; only gzip was requested',
    });
  });

  it('does not keep the names in a certificate, which can be addresses', () => {
    const refused = Object.assign(new Error("not in the cert's altnames: email:ada@example.com"), {
      code: 'ERR_TLS_CERT_ALTNAME_INVALID',
    });
    const attempt = { name: 'GET /', timeoutMs: 1, expired: false, proxy: null, requestId: undefined };
    const explained = explain(refused, attempt);
    expect(explained).toMatchObject({ reason: 'certificate-untrusted' });
    expect((explained as Error).cause).toBeUndefined();
  });

  it.each(['identity', 'Identity', '', 'GZIP'])(
    'is answered when it is encoded as "%s"',
    async (encoding) => {
      const body = encoding === 'GZIP' ? gzipSync(BODY) : BODY;
      const server = await rawServer(
        (socket) => void socket.write(http(200, body, { 'content-encoding': encoding })),
      );
      expect((await testRequester().send(requestTo(server.url))).text).toBe(BODY);
    },
  );

  it('keeps the error status whatever the encoding of its body', async () => {
    const server = await rawServer(
      (socket) => void socket.write(http(500, BODY, { 'content-encoding': 'br' })),
    );
    expect(await thrownBy(testRequester().send(requestTo(server.url)))).toMatchObject({ status: 500 });
  });

  it('reports 100 Continue, and is retried as a temporary failure', async () => {
    const server = await rawServer((socket, { index }) => {
      socket.write(index < 3 ? 'HTTP/1.1 100 Continue\r\n\r\n' : '');
      socket.write(http(200, BODY));
    });
    const error = await thrownBy(testRequester().send(requestTo(server.url)));
    expect(error).toMatchObject({
      effect: 'retry',
      exitCode: 4,
      message: 'GET /api/thing was answered with 100 Continue',
      hint: expect.stringContaining('proxy'),
    });
    const transport = testTransport();
    const { signal } = new AbortController();
    expect((await transport.get(requestTo(server.url), { signal })).text).toBe(BODY);
    expect(transport.totals).toEqual({ requests: 2, retries: 1 });
  });

  it('names the content type it got, and what may be in between', async () => {
    const server = await rawServer(
      (socket) => void socket.write(http(200, '<html>', { 'content-type': 'text/html' })),
    );
    expect(await thrownBy(testRequester().send(requestTo(server.url)))).toMatchObject({
      message: expect.stringContaining('text/html'),
      hint: expect.stringContaining('proxy'),
    });
  });

  it.each([
    ['with a length', undefined],
    ['without a length, chunked', 'chunked'],
  ])('the body is cut at any byte, %s', async (_, encoding) => {
    const chunked = `${Buffer.byteLength(BODY).toString(16)}\r\n${BODY}\r\n0\r\n\r\n`;
    const whole = Buffer.from(encoding ? chunked : BODY);
    const headers = encoding
      ? { 'transfer-encoding': encoding, 'content-length': undefined }
      : { 'content-length': whole.length };
    const cuts = [0, 1, 2, 7, 12, Math.floor(whole.length / 2), whole.length - 3, whole.length - 1];
    const server = await rawServer((socket, { index }) => {
      socket.end(Buffer.concat([http(200, '', headers), whole.subarray(0, cuts[index - 1])]));
    });
    const { send } = testRequester();
    for (const cut of cuts) {
      const error = await thrownBy(send(requestTo(server.url)));
      expect(error, `cut at ${cut}`).toMatchObject({ name: 'RequestError', effect: 'retry' });
    }
    expect(server.requests).toHaveLength(cuts.length);
  });

  it('a body that ends with the connection is cut at any byte: its text is not JSON', async () => {
    const whole = Buffer.from(BODY);
    const cuts = [0, 1, 20, whole.length - 1];
    const server = await rawServer((socket, { index }) => {
      const head = http(200, '', { 'content-length': undefined, connection: 'close' });
      socket.end(Buffer.concat([head, whole.subarray(0, cuts[index - 1])]));
    });
    const { send } = testRequester();
    for (const cut of cuts) {
      expect(await thrownBy(send(requestTo(server.url))), `cut at ${cut}`).toMatchObject({
        attemptsMax: 2,
        effect: 'retry',
      });
    }
  });
});

describe('a malformed body', () => {
  it.each([
    ['text that is not JSON', Buffer.from('{"data": [}')],
    ['a number that JSON does not have', Buffer.from('{"a": NaN}')],
    ['two documents', Buffer.from('{}{}')],
    ['a byte order mark', Buffer.from('\uFEFF{}')],
    ['bytes that are not UTF-8', Buffer.from([0x22, 0xff, 0xfe, 0x22])],
    ['a surrogate encoded as UTF-8', Buffer.from([0x22, 0xed, 0xa0, 0x80, 0x22])],
    ['Latin-1', Buffer.from('{"a":"zwölf"}', 'latin1')],
    ['UTF-16', Buffer.from('\uFEFF{}', 'utf16le')],
  ])('is refused when it is %s, and retried once', async (_, body) => {
    const server = await rawServer((socket) => void socket.write(http(200, body)));
    const error = await thrownBy(testRequester().send(requestTo(server.url)));
    expect(error).toMatchObject({ name: 'RequestError', effect: 'retry', attemptsMax: 2 });
  });
});

/** The connection of the first request is closed, so data that still arrives on it is ignored. */
async function expectGivenUp(server: RawServer): Promise<void> {
  await expect.poll(() => server.connections - server.open).toBeGreaterThan(0);
}

describe('a time-out', () => {
  const timeoutMs = 200;

  /** Longer than a busy machine needs for the head of an answer. */
  const headMs = 1_500;
  /** Less than a body drips. */
  const tookMsMax = 8_000;

  async function timed(reply: RawReply, limitMs = timeoutMs) {
    const server = await rawServer(reply);
    const started = performance.now();
    const error = await thrownBy(testRequester({ timeoutMs: limitMs }).send(requestTo(server.url)));
    return { error, tookMs: performance.now() - started, server };
  }

  function drip(head: Buffer, body: Buffer = Buffer.alloc(1000, ' ')): RawReply {
    return (socket) => {
      socket.write(head);
      let at = 0;
      const timer = setInterval(() => socket.write(body.subarray(at, ++at)), 20);
      socket.on('close', () => clearInterval(timer));
    };
  }

  it.each<[string, RawReply]>([
    ['no byte of an answer comes', () => undefined],
    ['the headers never end', drip(Buffer.from('HTTP/1.1 200 OK\r\nx-slow: '))],
    ['the body drips, a byte at a time', drip(http(200, '{"a":', { 'content-length': 10_000 }))],
    [
      'a compressed body drips',
      drip(
        http(200, '', { 'content-length': 10_000, 'content-encoding': 'gzip' }),
        gzipSync(randomBytes(500)),
      ),
    ],
    ['the body stops half way', (socket) => void socket.write(http(200, '{', { 'content-length': 100 }))],
    ['the body of a redirect drips', drip(http(302, '', { location: '/other', 'content-length': 10_000 }))],
  ])('ends the attempt when %s', async (_, reply) => {
    const { error, tookMs, server } = await timed(reply);
    expect(error).toMatchObject({
      name: 'RequestError',
      effect: 'retry',
      message: `GET /api/thing did not answer within ${timeoutMs} ms`,
      reason: 'timed-out',
    });
    expect(tookMs).toBeGreaterThanOrEqual(timeoutMs - 5);
    expect(tookMs).toBeLessThan(tookMsMax);
    await expectGivenUp(server);
  });

  it('still reports the content type when a web page drips', async () => {
    const page = http(200, '<html>', { 'content-length': 10_000, 'content-type': 'text/html' });
    const { error, tookMs } = await timed(drip(page), headMs);
    expect(error).toMatchObject({ name: 'RequestError', message: expect.stringContaining('text/html') });
    expect(tookMs).toBeLessThan(tookMsMax);
  });

  it('still reports the status of an error when only its body drips', async () => {
    const { error } = await timed(drip(http(500, '{"detail":"', { 'content-length': 10_000 })), headMs);
    expect(error).toMatchObject({ name: 'ServerError', status: 500 });
  });
});

describe('an abort', () => {
  it.each<[string, RawReply]>([
    ['before the headers', () => undefined],
    ['inside the body', (socket) => void socket.write(http(200, '{', { 'content-length': 100 }))],
    ['inside the body of an error', (socket) => void socket.write(http(500, '{', { 'content-length': 100 }))],
  ])('%s ends the request at once with its reason', async (_, reply) => {
    const control = new AbortController();
    const reason = new Error('stopped by SIGTERM');
    const server = await rawServer((socket, request) => {
      reply(socket, request);
      setTimeout(() => control.abort(reason), 30);
    });
    const started = performance.now();
    const requester = testRequester({ timeoutMs: 60_000 });
    expect(await thrownBy(requester.send(requestTo(server.url), control.signal))).toBe(reason);
    expect(performance.now() - started).toBeLessThan(30_000);
    await expectGivenUp(server);
  });

  it('before the request sends nothing', async () => {
    const server = await rawServer((socket) => void socket.write(json({})));
    const reason = new Error('stopped');
    expect(await thrownBy(testRequester().send(requestTo(server.url), AbortSignal.abort(reason)))).toBe(
      reason,
    );
    expect(server.requests).toHaveLength(0);
  });
});
