import { Agent, MockAgent } from 'undici';
import { describe, expect, expectTypeOf, it, onTestFinished } from 'vitest';
import {
  type Call,
  type Client,
  type ClientOptions,
  createClient,
  DaywalkError,
  type RequestDispatcher,
  type RequestStart,
  type ResponseInfo,
  type ResponseStart,
  type Retry,
  type Rows,
  type Session,
  type TokensByModelRow,
  type TokensRow,
  UnknownOutcomeError,
  UsageError,
  type UserRow,
  type WithResponse,
} from '../../../src/index.ts';
import { API_KEY, thrownBy } from '../../support/api/test-transport.ts';
import { http, json, type RawReply, rawServer } from '../../support/network/raw-server.ts';

const RANGE = { startDate: '2026-02-01', endDate: '2026-02-02' };
const META = { org_id: 'org_1', start_date: '2026-02-01', end_date: '2026-02-02' };
const ID = { 'x-request-id': 'r-7' };
const SESSION = { sessionId: 's-1', status: 'pending', messageCount: 0, createdAt: 1, updatedAt: 1 };

async function client(reply: RawReply, options: Partial<ClientOptions> = {}) {
  const server = await rawServer(reply);
  const api = createClient({ apiKey: API_KEY, baseUrl: server.url, ...options });
  onTestFinished(() => api.close());
  return { api, server };
}

const answers = (bytes: Buffer): RawReply => {
  return (socket) => void socket.write(bytes);
};

async function collect<Item>(items: AsyncIterable<Item>): Promise<Item[]> {
  const list: Item[] = [];
  for await (const item of items) list.push(item);
  return list;
}

/** Answers two pages of a walk, each with a request ID of its own. */
const twoPages: RawReply = (socket, { path }) => {
  const isSecond = path.includes('cursor=b');
  const meta = { ...META, has_more: !isSecond, next_cursor: isSecond ? undefined : 'b' };
  const data = [{ user_id: isSecond ? 'u-2' : 'u-1', date: '2026-02-01' }];
  socket.write(json({ data, meta }, { 'x-request-id': isSecond ? 'r-2' : 'r-1' }));
};

describe('the response of a call', () => {
  it('comes with the result, without a further request', async () => {
    const { api, server } = await client(
      answers(json({ data: [], meta: META }, { ...ID, 'x-limit': '7', 'set-cookie': `k=${API_KEY}` })),
    );
    const call = api.tokens(RANGE);
    const { result, response } = await call.withResponse();
    expect(result).toEqual({ data: [], meta: META, rejected: [] });
    expect(response).toMatchObject({ status: 200, requestId: 'r-7', headers: { 'x-limit': '7' } });
    expect(response.headers['set-cookie']).toBe('k=[redacted]');
    expect(await call).toBe(result);
    expect(server.requests).toHaveLength(1);
  });

  it('comes with each page of a walk', async () => {
    const { api } = await client(twoPages);
    const pages = await collect(api.users(RANGE).withResponse());
    expect(pages.map(({ result, response }) => [result.data[0]?.user_id, response.requestId])).toEqual([
      ['u-1', 'r-1'],
      ['u-2', 'r-2'],
    ]);
  });

  it('comes with each page of readiness reports', async () => {
    const report = { reportId: 'a', createdAt: 1, repoUrl: 'r', apps: {}, report: {} };
    const { api } = await client((socket, { path }) => {
      const reports = path.includes('startAfter') ? [] : [report];
      socket.write(json({ reports }, ID));
    });
    const pages = await collect(api.readinessReports().withResponse());
    expect(pages).toMatchObject([
      { result: { reports: [{ reportId: 'a' }] }, response: { requestId: 'r-7' } },
    ]);
  });

  it('comes with a created session', async () => {
    const { api } = await client(answers(json(SESSION, ID, 201)));
    expect(await api.createSession({ computerId: 'c' }).withResponse()).toMatchObject({
      result: { sessionId: 's-1' },
      response: { status: 201, requestId: 'r-7' },
    });
  });

  it('is rejected like the call, and leaves no rejection unhandled', async () => {
    const unhandled: unknown[] = [];
    const listener = (reason: unknown) => void unhandled.push(reason);
    process.on('unhandledRejection', listener);
    onTestFinished(() => void process.off('unhandledRejection', listener));
    const { api } = await client(answers(json({}, ID, 400)));
    const error = await thrownBy(api.tokens(RANGE).withResponse());
    expect(error).toMatchObject({ name: 'BadRequestError', requestId: 'r-7' });
    await new Promise((resolve) => setTimeout(resolve, 20));
    expect(unhandled).toEqual([]);
  });
});

describe('the request ID, method and path', () => {
  const rows = (data: unknown, meta: object = META) => json({ data, meta }, ID);
  const cut = (bytes: Buffer): RawReply => {
    return (socket) => void socket.end(bytes.subarray(0, bytes.length - 2));
  };
  const tokens = (api: Client) => api.tokens(RANGE);
  const users = (api: Client) => collect(api.users(RANGE));
  const create = (api: Client) => api.createSession({ computerId: 'c' });

  it.each<[string, RawReply, (api: Client) => Promise<unknown>, string]>([
    ['a refusal', answers(json({}, ID, 400)), tokens, 'BadRequestError'],
    ['a refused key', answers(json({}, ID, 401)), tokens, 'CredentialError'],
    [
      'a wait beyond its limit',
      answers(json({}, { ...ID, 'retry-after': '9000' }, 429)),
      tokens,
      'LongWaitError',
    ],
    ['a failure of the service', answers(json({}, ID, 500)), tokens, 'ServerError'],
    [
      'a page of HTML',
      answers(http(200, '<p>', { ...ID, 'content-type': 'text/html' })),
      tokens,
      'RequestError',
    ],
    [
      'a page of HTML without a type',
      answers(http(200, '<p>', { ...ID, 'content-type': undefined })),
      tokens,
      'RequestError',
    ],
    ['a body that is not JSON', answers(http(200, '{', ID)), tokens, 'RequestError'],
    [
      'a body that is not UTF-8',
      answers(http(200, Buffer.from([0x22, 0xff, 0x22]), ID)),
      tokens,
      'RequestError',
    ],
    [
      'a body in an unknown encoding',
      answers(http(200, 'x', { ...ID, 'content-encoding': 'br' })),
      tokens,
      'RequestError',
    ],
    ['a broken body', answers(http(200, 'x', { ...ID, 'content-encoding': 'gzip' })), tokens, 'RequestError'],
    ['a body that is cut', cut(rows([])), tokens, 'RequestError'],
    [
      'a body that never ends',
      (socket) => void socket.write(rows([]).subarray(0, -2)),
      (api) => api.tokens(RANGE, { timeoutMs: 1_500 }),
      'RequestError',
    ],
    ['a part of an answer', answers(json({ data: [], meta: META }, ID, 206)), tokens, 'UnitError'],
    ['an answer without rows', answers(json({ meta: META }, ID)), tokens, 'UnitError'],
    [
      'an answer about another range',
      answers(rows([], { ...META, end_date: '2026-02-03' })),
      tokens,
      'UnitError',
    ],
    ['rejected parts', answers(rows([{}])), tokens, 'PartialAnswerError'],
    [
      'a redirect to another origin',
      answers(http(302, '', { ...ID, location: 'http://127.0.0.1:9/' })),
      tokens,
      'RunError',
    ],
    ['a redirect to nowhere', answers(http(302, '', ID)), tokens, 'RequestError'],
    ['too many redirects', answers(http(302, '', { ...ID, location: '/again' })), tokens, 'RequestError'],
    [
      'pages without an end',
      answers(rows([], { ...META, has_more: true, next_cursor: 'c' })),
      users,
      'UnitError',
    ],
    ['pages without a flag', answers(rows([])), users, 'UnitError'],
    ['rejected users', answers(rows([{}], { ...META, has_more: false })), users, 'PartialAnswerError'],
    [
      'rejected reports',
      answers(json({ reports: [{ reportId: 'a' }] }, ID)),
      (api) => collect(api.readinessReports()),
      'PartialAnswerError',
    ],
    ['a session that may have been created', answers(json({}, ID, 500)), create, 'UnknownOutcomeError'],
    [
      'a session that is not described',
      answers(json({ sessionId: 's-1' }, ID, 201)),
      create,
      'UnknownOutcomeError',
    ],
    ['a session whose description is cut', cut(json(SESSION, ID, 201)), create, 'UnknownOutcomeError'],
    ['a session whose description is not JSON', answers(http(201, '{', ID)), create, 'UnknownOutcomeError'],
    ['a refused session', answers(json({}, ID, 403)), create, 'CredentialError'],
  ])('are on the error about %s', async (_, reply, call, name) => {
    const { api, server } = await client(reply, { attempts: 1 });
    const error = await thrownBy(call(api));
    expect(error).toBeInstanceOf(DaywalkError);
    expect(error).toMatchObject({ name, requestId: 'r-7' });
    const { method, path } = error as DaywalkError;
    expect(server.requests.map((request) => `${request.method} ${request.path}`)).toContain(
      `${method} ${path}`,
    );
  });

  it('of the body wins over that of a header, and has no key in it', async () => {
    const { api } = await client(answers(json({ requestId: `b-${API_KEY}` }, ID, 400)));
    expect(await thrownBy(api.tokens(RANGE))).toMatchObject({ requestId: 'b-[redacted]' });
    const other = await client(answers(http(200, '{', { 'x-request-id': API_KEY })), { attempts: 1 });
    expect(await thrownBy(other.api.tokens(RANGE))).toMatchObject({ requestId: '[redacted]' });
  });

  it('is undefined if no response came', async () => {
    const { api } = await client((socket) => socket.destroy(), { attempts: 1 });
    const error = await thrownBy(api.tokens(RANGE));
    expect(error).toMatchObject({ name: 'RequestError' });
    expect(error).toHaveProperty('requestId', undefined);
  });
});

describe('the callbacks', () => {
  it('are called for each attempt, redirect and response', async () => {
    const events: unknown[] = [];
    const { api, server } = await client(
      (socket, { index }) => {
        if (index === 1) socket.write(json({}, { ...ID, 'x-echo': API_KEY }, 500));
        else if (index === 2) socket.write(http(307, '', { location: '/there' }));
        else socket.write(json({ data: [], meta: META }));
      },
      {
        onRequest: (event) => events.push(['request', event]),
        onResponse: (event) => events.push(['response', event]),
        onRetry: (event) => events.push(['retry', event]),
      },
    );
    await api.tokens(RANGE);
    const query = '?startDate=2026-02-01&endDate=2026-02-02';
    const target = `GET /api/v1/analytics/tokens${query}`;
    const [first, second] = [1, 2].map((attempt) => ({
      target,
      attempt,
      url: `${server.url}/api/v1/analytics/tokens${query}`,
    }));
    const redirected = { ...second, url: `${server.url}/there${query}` };
    expect(events).toMatchObject([
      ['request', first],
      ['response', { ...first, status: 500, requestId: 'r-7', headers: { 'x-echo': '[redacted]' } }],
      ['retry', { target, attempt: 1 }],
      ['request', second],
      ['response', { ...second, status: 307, headers: { location: '/there' } }],
      ['request', redirected],
      ['response', { ...redirected, status: 200, requestId: undefined }],
    ]);
    expect(JSON.stringify(events)).not.toContain(API_KEY);
  });

  it('measure the time until the response', async () => {
    const durations: number[] = [];
    const { api } = await client(
      (socket) => void setTimeout(() => socket.write(json({ data: [], meta: META })), 60),
      { onResponse: ({ durationMs }) => durations.push(durationMs) },
    );
    await api.tokens(RANGE);
    expect(durations).toHaveLength(1);
    expect(durations[0]).toBeGreaterThan(50);
  });

  it('are called for the creation of a session', async () => {
    const events: unknown[] = [];
    const { api, server } = await client(answers(json(SESSION, ID, 201)), {
      onRequest: ({ url }) => events.push(url),
      onResponse: ({ status, requestId }) => events.push([status, requestId]),
    });
    await api.createSession({ computerId: 'c' });
    expect(events).toEqual([`${server.url}/api/v0/sessions`, [201, 'r-7']]);
  });

  it('change no call if they throw: the error is an uncaught exception', async () => {
    const uncaught: unknown[] = [];
    const others = process.listeners('uncaughtException');
    process.removeAllListeners('uncaughtException');
    process.on('uncaughtException', (error) => void uncaught.push(error));
    onTestFinished(() => {
      process.removeAllListeners('uncaughtException');
      for (const listener of others) process.on('uncaughtException', listener);
    });
    const throwing = (message: string) => () => {
      throw new Error(message);
    };
    const { api } = await client(
      (socket, { index }) => void socket.write(index === 1 ? json({}, {}, 429) : json(SESSION, {}, 201)),
      { onRequest: throwing('request'), onResponse: throwing('response'), onRetry: throwing('retry') },
    );
    expect(await api.createSession({ computerId: 'c' })).toMatchObject({ sessionId: 's-1' });
    expect(uncaught.map((error) => String(error))).toEqual([
      'Error: request',
      'Error: response',
      'Error: retry',
      'Error: request',
      'Error: response',
    ]);
  });
});

describe('the time limit of a call', () => {
  it('may be longer than that of the client', async () => {
    const { api } = await client(
      (socket) => void setTimeout(() => socket.write(json({ data: [], meta: META })), 1_500),
      { requestTimeoutMs: 100, attempts: 1 },
    );
    expect(await api.tokens(RANGE, { timeoutMs: 20_000 })).toMatchObject({ data: [] });
  });
});

describe('the user agent', () => {
  it('has the suffix of the caller', async () => {
    const { api, server } = await client(answers(json({ data: [], meta: META })), {
      userAgentSuffix: 'my-app/2.1 (nightly)',
    });
    await api.tokens(RANGE);
    expect(server.requests[0]?.headers['user-agent']).toMatch(
      /^daywalk\/\d+\.\d+\.\d+ my-app\/2\.1 \(nightly\)$/,
    );
  });

  it.each(['', ' ', 'a ', 'a\nb', 'größe'])('refuses the suffix %j', (userAgentSuffix) => {
    const options = { apiKey: API_KEY, baseUrl: 'https://api.example.com', userAgentSuffix };
    expect(() => createClient(options)).toThrow(UsageError);
  });
});

describe('a dispatcher', () => {
  it('sends the requests, also of sessions, and stays open', async () => {
    const agent = new Agent();
    onTestFinished(() => agent.close());
    const reply: RawReply = (socket, { method }) =>
      void socket.write(method === 'POST' ? json(SESSION, {}, 201) : json({ data: [], meta: META }));
    const { api, server } = await client(reply, { dispatcher: agent });
    await api.tokens(RANGE);
    await api.close();
    const other = createClient({ apiKey: API_KEY, baseUrl: server.url, dispatcher: agent });
    expect(await other.createSession({ computerId: 'c' })).toMatchObject({ sessionId: 's-1' });
    await other.close();
    expect(server.requests.map(({ headers }) => headers['authorization'])).toEqual([
      `Bearer ${API_KEY}`,
      `Bearer ${API_KEY}`,
    ]);
    expect(agent.closed).toBe(false);
  });

  it('may answer by itself, so that tests need no server', async () => {
    const agent = new MockAgent();
    agent.disableNetConnect();
    const headers = { 'content-type': 'application/json', ...ID };
    agent
      .get('https://api.example.com')
      .intercept({ path: /^\/api\/v1\/analytics\/activity/ })
      .reply(200, { data: [{ date: '2026-02-01' }], meta: META }, { headers });
    const api = createClient({ apiKey: API_KEY, baseUrl: 'https://api.example.com', dispatcher: agent });
    const { result, response } = await api.activity(RANGE).withResponse();
    expect(result.data).toEqual([{ date: '2026-02-01' }]);
    expect(response.requestId).toBe('r-7');
    await api.close();
    await agent.close();
  });

  it('obeys the time limit and the signal of a call', async () => {
    const agent = new Agent();
    onTestFinished(() => agent.close());
    const { api } = await client(() => undefined, { dispatcher: agent, attempts: 1 });
    expect(await thrownBy(api.tokens(RANGE, { timeoutMs: 50 }))).toMatchObject({ reason: 'timed-out' });
    const signal = AbortSignal.timeout(50);
    expect(await thrownBy(api.tokens(RANGE, { signal }))).toBe(signal.reason);
  });

  it('leaves a session unknown if the connection breaks after the request', async () => {
    const agent = new Agent();
    onTestFinished(() => agent.close());
    const { api, server } = await client((socket) => socket.destroy(), { dispatcher: agent });
    expect(await thrownBy(api.createSession({ computerId: 'c' }))).toBeInstanceOf(UnknownOutcomeError);
    expect(server.requests).toHaveLength(1);
  });

  it('is refused together with a proxy, and if it is none', () => {
    const options = { apiKey: API_KEY, baseUrl: 'https://api.example.com' };
    const proxy = { url: 'http://127.0.0.1:9' };
    expect(() => createClient({ ...options, proxy, dispatcher: new Agent() })).toThrow(UsageError);
    const none = {} as RequestDispatcher;
    expect(() => createClient({ ...options, dispatcher: none })).toThrow(UsageError);
  });
});

describe('the types', () => {
  it('of calls, walks and callbacks are what they give', () => {
    const api = createClient({ apiKey: API_KEY, baseUrl: 'https://api.example.com' });
    const grouped = () => api.tokens({ ...RANGE, groupBy: 'model' });
    expectTypeOf<Awaited<Call<number>>>().toEqualTypeOf<number>();
    expectTypeOf(() => api.tokens(RANGE)).returns.toEqualTypeOf<Call<Rows<TokensRow>>>();
    expectTypeOf(() => grouped().withResponse()).returns.resolves.toEqualTypeOf<
      WithResponse<Rows<TokensByModelRow>>
    >();
    expectTypeOf(() => api.createSession({ computerId: 'c' })).returns.toEqualTypeOf<Call<Session>>();
    expectTypeOf(() => api.users(RANGE)).returns.toExtend<AsyncIterable<UserRow>>();
    expectTypeOf(() => api.users(RANGE).pages()).returns.toEqualTypeOf<AsyncIterable<Rows<UserRow>>>();
    expectTypeOf(() => api.users(RANGE).withResponse()).returns.toEqualTypeOf<
      AsyncIterable<WithResponse<Rows<UserRow>>>
    >();
    expectTypeOf<ResponseInfo['headers']>().toEqualTypeOf<Readonly<Record<string, string>>>();
    expectTypeOf<Agent>().toExtend<RequestDispatcher>();
    expectTypeOf<MockAgent>().toExtend<RequestDispatcher>();
    expectTypeOf<{ dispatch: () => string }>().not.toExtend<RequestDispatcher>();
    expectTypeOf<ClientOptions['onRequest']>().toEqualTypeOf<((request: RequestStart) => void) | undefined>();
    expectTypeOf<ClientOptions['onResponse']>().toEqualTypeOf<
      ((response: ResponseStart) => void) | undefined
    >();
    expectTypeOf<ClientOptions['onRetry']>().toEqualTypeOf<((retry: Retry) => void) | undefined>();
    expectTypeOf<Session['status']>().toExtend<string>();
    expectTypeOf<DaywalkError['requestId']>().toEqualTypeOf<string | undefined>();
    // @ts-expect-error: sessions have no parts to accept
    expectTypeOf(() => api.createSession({ computerId: 'c' }, { allowPartial: true })).toBeFunction();
  });
});
