import { describe, expect, it } from 'vitest';
import { hintOf } from '../../../src/cli/remedies.ts';
import { adviceOf } from '../../../src/core/errors.ts';
import {
  API_KEY,
  requestTo,
  testRequester,
  testTransport,
  thrownBy,
} from '../../support/api/test-transport.ts';
import { http, json, rawServer } from '../../support/network/raw-server.ts';

const PROBLEM = { title: 'The Title', detail: 'the detail', status: 400, requestId: 'req_1' };

async function answered(bytes: Buffer): Promise<unknown> {
  const server = await rawServer((socket) => void socket.write(bytes));
  return thrownBy(testRequester().send(requestTo(server.url, '/api/thing', { day: 1 })));
}

describe('an error status', () => {
  it.each([
    [400, 'BadRequestError', 'unit', 4],
    [401, 'CredentialError', 'run', 3],
    [403, 'CredentialError', 'run', 3],
    [404, 'ApiError', 'unit', 4],
    [405, 'ApiError', 'unit', 4],
    [408, 'ServerError', 'retry', 4],
    [409, 'ApiError', 'unit', 4],
    [410, 'ApiError', 'unit', 4],
    [422, 'ApiError', 'unit', 4],
    [425, 'ServerError', 'retry', 4],
    [429, 'OverloadError', 'retry', 4],
    [500, 'ServerError', 'retry', 4],
    [501, 'ServerError', 'retry', 4],
    [502, 'ServerError', 'retry', 4],
    [503, 'OverloadError', 'retry', 4],
    [504, 'ServerError', 'retry', 4],
    [599, 'ServerError', 'retry', 4],
  ])('%i is a %s with effect %s and exit code %i', async (status, name, effect, exitCode) => {
    const error = await answered(json({ ...PROBLEM, status }, {}, status));
    expect(error).toMatchObject({
      name,
      effect,
      exitCode,
      status,
      target: 'GET /api/thing?day=1',
      title: 'The Title',
      detail: 'the detail',
      requestId: 'req_1',
      message: `GET /api/thing?day=1 answered ${status}: the detail (requestId req_1)`,
    });
  });

  it.each([
    [401, 'DAYWALK_API_KEY'],
    [403, 'Manager or Owner'],
    [403, 'enabled for the organization'],
    [404, 'DAYWALK_BASE_URL'],
  ])('%i names the remedy: %s', async (status, remedy) => {
    expect(hintOf(adviceOf(await answered(json(PROBLEM, {}, status))))).toContain(remedy);
  });

  it('carries metadata, where there is any', async () => {
    const metadata = { limit: 100, nested: { a: [1] } };
    expect(await answered(json({ ...PROBLEM, metadata }, {}, 400))).toMatchObject({ metadata });
  });

  it('takes the request ID from the header if the body has none', async () => {
    expect(await answered(json({ title: 'x' }, { 'x-request-id': 'req_9' }, 500))).toMatchObject({
      requestId: 'req_9',
      message: expect.stringContaining('(requestId req_9)'),
    });
  });

  it('carries the clock of the server', async () => {
    const error = await answered(json(PROBLEM, { date: 'Sun, 01 Mar 2026 00:00:05 GMT' }, 400));
    expect(error).toMatchObject({ serverDate: new Date('2026-03-01T00:00:05Z') });
  });

  it.each([
    ['a web page', '<html>Bad Gateway</html>', 'text/html'],
    ['nothing', '', 'application/json'],
    ['broken JSON', '{"detail":', 'application/json'],
    ['another shape', '["x"]', 'application/json'],
    ['a text', '"x"', 'application/json'],
    ['null', 'null', 'application/json'],
    ['bytes that are not UTF-8', '\xff', 'application/json'],
  ])('is kept when the body is %s', async (_, body, type) => {
    const error = await answered(http(502, Buffer.from(body, 'latin1'), { 'content-type': type }));
    expect(error).toMatchObject({ name: 'ServerError', status: 502, title: undefined, detail: undefined });
    expect(error).toMatchObject({ message: 'GET /api/thing?day=1 answered 502' });
  });

  it.each([
    ['a status that is a text', { ...PROBLEM, status: '400' }],
    ['metadata that is null', { ...PROBLEM, metadata: null }],
    ['metadata that is a text', { ...PROBLEM, metadata: 'x' }],
    ['fields that nobody knows', { ...PROBLEM, type: 'about:blank', errors: [] }],
  ])('keeps the readable part of a body with %s', async (_, problem) => {
    expect(await answered(json(problem, {}, 400))).toMatchObject({
      detail: 'the detail',
      requestId: 'req_1',
    });
  });

  it('quotes only a part of an endless detail', async () => {
    const error = await answered(json({ detail: 'x'.repeat(20_000) }, {}, 500));
    expect(error instanceof Error && error.message.length).toBeLessThan(500);
  });
});

describe('a 2xx status without a full answer', () => {
  it.each([201, 202, 203, 204, 206, 207, 226, 299])(
    '%i fails the unit of a read and is not retried',
    async (status) => {
      const body =
        status === 204 ? http(204, '', { 'content-length': undefined }) : json({ data: [] }, {}, status);
      const server = await rawServer((socket) => void socket.write(body));
      const transport = testTransport();
      const { signal } = new AbortController();
      expect(await thrownBy(transport.get(requestTo(server.url), { signal }))).toMatchObject({
        name: 'UnitError',
        effect: 'unit',
        exitCode: 4,
        reason: 'partial-status',
        message: `GET /api/thing answered ${status}, which is not a full answer`,
      });
      expect(server.requests).toHaveLength(1);
    },
  );
});

describe('the key', () => {
  it('does not appear from an error body', async () => {
    const error = await answered(
      json(
        {
          title: API_KEY,
          detail: `bad key ${API_KEY}!`,
          requestId: API_KEY,
          metadata: { [API_KEY]: API_KEY },
        },
        {},
        401,
      ),
    );
    expect(error).toMatchObject({ detail: 'bad key [redacted]!' });
    expect(everythingIn(error)).not.toContain(API_KEY);
  });

  it('does not appear from a valid body, its text or its headers', async () => {
    const server = await rawServer(
      (socket) => void socket.write(json({ [API_KEY]: [`x${API_KEY}`] }, { 'x-request-id': API_KEY })),
    );
    const answer = await testRequester().send(requestTo(server.url));
    expect(answer.body).toEqual({ '[redacted]': ['x[redacted]'] });
    expect(JSON.stringify(answer)).not.toContain(API_KEY);
  });

  it.each([
    ['a body that is not JSON', http(200, `oops ${API_KEY}`)],
    ['a content type', http(200, '{}', { 'content-type': `text/html; ${API_KEY}` })],
    ['the request id of an error', http(500, '{}', { 'x-request-id': API_KEY })],
    ['bytes that are not HTTP', Buffer.from(`HTTP/1.1 ${API_KEY} ${API_KEY}\r\n\r\n${API_KEY}`)],
    ['a redirect to nowhere', http(302, '', { location: `http://${API_KEY}:x:y` })],
  ])('does not appear from %s', async (_, bytes) => {
    const error = await answered(bytes);
    expect(everythingIn(error)).not.toContain(API_KEY);
  });
});

/** All text that an error could print, its causes too. */
function everythingIn(error: unknown): string {
  if (!(error instanceof Error)) return String(error);
  const own = Object.entries(error).map(([name, value]) => `${name}: ${JSON.stringify(value)}`);
  return [error.stack, error.message, ...own, everythingIn(error.cause)].join('\n');
}
