import fc from 'fast-check';
import { describe, expect, expectTypeOf, it } from 'vitest';
import { PartialAnswerError } from '../../../src/api/answer-rules.ts';
import { type Client, type ClientOptions, createClient } from '../../../src/api/client.ts';
import type { Rows } from '../../../src/api/client-reads.ts';
import type { TokensByModelRow, TokensRow, UserRow } from '../../../src/contract/shapes.ts';
import { UsageError } from '../../../src/core/errors.ts';
import { BadRequestError, CredentialError, LongWaitError, ServerError } from '../../../src/http/errors.ts';
import { API_KEY, thrownBy } from '../../support/api/test-transport.ts';
import { json, type RawReply, rawServer } from '../../support/network/raw-server.ts';

const RANGE = { startDate: '2026-02-01', endDate: '2026-02-02' };
const META = { org_id: 'org_1', start_date: '2026-02-01', end_date: '2026-02-02' };

/** Creates a client of a server with the given answers. */
async function client(reply: RawReply, options: Partial<ClientOptions> = {}) {
  const server = await rawServer(reply);
  const api = createClient({ apiKey: API_KEY, baseUrl: server.url, ...options });
  return { api, server };
}

function rowsReply(...rows: unknown[]): RawReply {
  return (socket) => void socket.write(json({ data: rows, meta: META }));
}

async function collect<Item>(items: AsyncIterable<Item>): Promise<Item[]> {
  const list: Item[] = [];
  for await (const item of items) list.push(item);
  return list;
}

describe('the client', () => {
  it.each<[string, (api: Client) => Promise<unknown>, string]>([
    [
      'tokens',
      (api) => api.tokens(RANGE),
      '/api/v1/analytics/tokens?startDate=2026-02-01&endDate=2026-02-02',
    ],
    [
      'tokens by model',
      (api) => api.tokens({ ...RANGE, groupBy: 'model' }),
      '/api/v1/analytics/tokens?startDate=2026-02-01&endDate=2026-02-02&group_by=model',
    ],
    ['tools', (api) => api.tools(RANGE), '/api/v1/analytics/tools?startDate=2026-02-01&endDate=2026-02-02'],
    [
      'tools by name',
      (api) => api.tools({ ...RANGE, groupBy: 'tool_name' }),
      '/api/v1/analytics/tools?startDate=2026-02-01&endDate=2026-02-02&group_by=tool_name',
    ],
    [
      'activity',
      (api) => api.activity(RANGE),
      '/api/v1/analytics/activity?startDate=2026-02-01&endDate=2026-02-02',
    ],
    [
      'activity by client',
      (api) => api.activity({ ...RANGE, groupBy: 'client' }),
      '/api/v1/analytics/activity?startDate=2026-02-01&endDate=2026-02-02&group_by=client',
    ],
    [
      'productivity',
      (api) => api.productivity(RANGE),
      '/api/v1/analytics/productivity?startDate=2026-02-01&endDate=2026-02-02',
    ],
    [
      'users',
      (api) => collect(api.users(RANGE)),
      '/api/v1/analytics/users?startDate=2026-02-01&endDate=2026-02-02&limit=100',
    ],
    [
      'users from a cursor',
      (api) => collect(api.users({ ...RANGE, limit: 7, cursor: 'u 1' })),
      '/api/v1/analytics/users?startDate=2026-02-01&endDate=2026-02-02&limit=7&cursor=u+1',
    ],
  ])('requests %s at its path, with its parameters and the key', async (_, call, path) => {
    const paged = { data: [], meta: { ...META, has_more: false } };
    const { api, server } = await client((socket) => void socket.write(json(paged)));
    await call(api);
    expect(server.requests.map((request) => request.path)).toEqual([path]);
    expect(server.requests[0]?.headers['authorization']).toBe(`Bearer ${API_KEY}`);
    await api.close();
  });

  it('requests the readiness reports from the application host', async () => {
    const { api: main, server: mainServer } = await client(
      (socket) => void socket.write(json({ reports: [] })),
    );
    const { api, server } = await client((socket) => void socket.write(json({ reports: [] })), {
      baseUrl: mainServer.url,
    });
    await collect(api.readinessReports());
    expect(mainServer.requests.map(({ path }) => path)).toEqual([
      '/api/organization/maturity-level-reports?limit=100',
    ]);
    expect(server.requests).toHaveLength(0);

    const split = createClient({ apiKey: API_KEY, baseUrl: mainServer.url, appUrl: `${server.url}/app` });
    await collect(split.readinessReports({ repoId: 'a b', limit: 3, startAfter: 'r-1' }));
    expect(server.requests.map(({ path }) => path)).toEqual([
      '/app/api/organization/maturity-level-reports?repoId=a+b&limit=3&startAfter=r-1',
    ]);
    await Promise.all([main.close(), api.close(), split.close()]);
  });

  it('returns the rows with the metadata of the answer', async () => {
    const row = { date: '2026-02-01', sessions: 3, new_metric: 1 };
    const { api } = await client(rowsReply(row));
    expect(await api.activity(RANGE)).toEqual({ data: [row], meta: META, rejected: [] });
    await api.close();
  });

  it('throws for an answer with a rejected part, with the other parts, unless it may be partial', async () => {
    const { api } = await client(
      rowsReply({ date: '2026-02-01', by_tool: [{ tool: 'Read' }, {}] }, { tool_calls: 1 }),
    );
    const data = [{ date: '2026-02-01', by_tool: [{ tool: 'Read' }] }];
    const rejected = [
      { record: {}, path: 'data[0].by_tool[1]', kind: 'wrong-type', reason: 'tool must be a text' },
      { record: { tool_calls: 1 }, path: 'data[1]' },
    ];
    const error = await thrownBy(api.tools(RANGE));
    expect(error).toBeInstanceOf(PartialAnswerError);
    expect(error).toMatchObject({ data, rejected, exitCode: 4, cursor: undefined });
    expect(String(error)).toContain('data[0].by_tool[1] tool must be a text, and 1 more');
    expect(String(error)).toContain('GET tools 2026-02-01 to 2026-02-02: ');
    expect(await api.tools(RANGE, { allowPartial: true })).toMatchObject({ data, rejected });
    await api.close();
  });

  it('throws for rows of days that were not asked for', async () => {
    const { api } = await client(rowsReply({ date: '2026-02-01' }, { date: '2026-02-03' }));
    expect(await thrownBy(api.productivity(RANGE))).toMatchObject({
      name: 'PartialAnswerError',
      data: [{ date: '2026-02-01' }],
      rejected: [{ path: 'data[1]', kind: 'foreign' }],
    });
    await api.close();
  });

  it('throws for values that cannot be true and for rows that contradict each other, as a run does', async () => {
    const wrong = { date: '2026-02-01', messages: 3, user_messages: 4 };
    const { api } = await client(rowsReply(wrong, { date: '2026-02-02', messages: 4, user_messages: 4 }));
    const error = await thrownBy(api.activity(RANGE));
    expect(error).toMatchObject({
      name: 'PartialAnswerError',
      data: [{ date: '2026-02-02' }],
      rejected: [{ record: wrong, path: 'data[0]', kind: 'impossible' }],
    });
    expect(String(error)).toContain('data[0] user_messages is 4, which is more than messages (3)');
    await api.close();
    const twice = await client(
      rowsReply({ date: '2026-02-01', files_created: 1 }, { date: '2026-02-01', files_created: 2 }),
    );
    expect(await twice.api.productivity(RANGE, { allowPartial: true })).toMatchObject({
      data: [],
      rejected: [
        { path: 'data[0]', kind: 'contradiction' },
        { path: 'data[1]', kind: 'contradiction' },
      ],
    });
    await twice.api.close();
  });

  it.each([
    ['first', { start_date: '2026-01-31' }],
    ['last', { end_date: '2026-02-03' }],
  ])('throws for an answer about another %s day, also if it may be partial', async (_, other) => {
    const { api } = await client(
      (socket) => void socket.write(json({ data: [], meta: { ...META, has_more: false, ...other } })),
    );
    for (const call of [api.activity(RANGE, { allowPartial: true }), collect(api.users(RANGE))])
      expect(await thrownBy(call)).toMatchObject({ name: 'UnitError', reason: 'other-range' });
    await api.close();
  });

  it('takes options for one call: retries, headers, a time limit and a signal', async () => {
    const { api, server } = await client((socket, { index }) => {
      if (index < 3) socket.write(json({}, { 'x-request-id': `r-${index}` }, 500));
    });
    expect(await thrownBy(api.tokens(RANGE, { retries: 1, headers: { 'x-trace': 't' } }))).toMatchObject({
      name: 'ServerError',
      requestId: 'r-2',
    });
    expect(server.requests.map(({ headers }) => headers['x-trace'])).toEqual(['t', 't']);
    expect(await thrownBy(api.tokens(RANGE, { retries: 0, timeoutMs: 30 }))).toMatchObject({
      name: 'RequestError',
      message: expect.stringContaining('30 ms'),
    });
    const control = new AbortController();
    const call = thrownBy(api.tokens(RANGE, { signal: control.signal }));
    control.abort(new Error('enough'));
    expect(await call).toMatchObject({ message: 'enough' });
    await api.close();
  });

  it('gives the status and the request ID of a refusal that asks for a wait beyond its limit', async () => {
    const { api } = await client(
      (socket) => void socket.write(json({}, { 'retry-after': '9000', 'x-request-id': 'r-1' }, 429)),
    );
    const error = await thrownBy(api.tokens(RANGE));
    expect(error).toBeInstanceOf(LongWaitError);
    expect(error).toMatchObject({ status: 429, requestId: 'r-1', retryAfterMs: 9_000_000 });
    expect(String(Reflect.get(error as object, 'hint'))).not.toMatch(/\brun\b/);
    await api.close();
  });

  it('closes with `await using`', async () => {
    const server = await rawServer(rowsReply());
    const closed = await (async () => {
      await using api = createClient({ apiKey: API_KEY, baseUrl: server.url });
      await api.tokens(RANGE);
      return api;
    })();
    expect(await thrownBy(closed.tokens(RANGE))).toMatchObject({ message: 'the client was closed' });
  });

  it('rejects with the error class of the refusal', async () => {
    const statuses = [400, 401, 403, 500];
    const { api } = await client(
      (socket, { index }) => void socket.write(json({}, {}, statuses[index - 1])),
      { attempts: 1 },
    );
    for (const type of [BadRequestError, CredentialError, CredentialError, ServerError]) {
      expect(await thrownBy(api.tokens(RANGE))).toBeInstanceOf(type);
    }
    await api.close();
  });

  it('retries a failure and reports the retry', async () => {
    const retries: unknown[] = [];
    const { api, server } = await client(
      (socket, { index }) =>
        void socket.write(index === 1 ? json({}, {}, 500) : json({ data: [], meta: META })),
      { onRetry: (retry) => retries.push(retry) },
    );
    expect(await api.tokens(RANGE)).toMatchObject({ data: [] });
    expect(server.requests).toHaveLength(2);
    expect(retries).toMatchObject([{ attempt: 1, target: expect.stringContaining('/tokens') }]);
    await api.close();
  });
});

describe('an invalid argument', () => {
  it.each<[string, (api: Client) => Promise<unknown>]>([
    ['an invalid day', (api) => api.tokens({ ...RANGE, startDate: '2026-02-30' })],
    ['a day of another form', (api) => api.tools({ ...RANGE, endDate: '2026-2-1' })],
    ['a reversed range', (api) => api.activity({ startDate: '2026-02-02', endDate: '2026-02-01' })],
    ['an unknown group', (api) => api.tokens({ ...RANGE, groupBy: 'user' as 'model' })],
    ['the group of another endpoint', (api) => api.activity({ ...RANGE, groupBy: 'model' as 'client' })],
    ['no argument', (api) => Reflect.apply(api.tokens, undefined, [])],
    ['no argument for users', (api) => collect(Reflect.apply(api.users, undefined, []))],
    ['a number of retries below 0', (api) => api.tokens(RANGE, { retries: -1 })],
    ['no time for an attempt', (api) => api.tokens(RANGE, { timeoutMs: 0 })],
    ['more time than a timer keeps', (api) => api.tokens(RANGE, { timeoutMs: 2 ** 31 })],
    ['a header with a line break', (api) => api.tokens(RANGE, { headers: { 'x-trace': 'a\nb' } })],
    ['a header without a name', (api) => api.tokens(RANGE, { headers: { '': 'a' } })],
    ...['Authorization', 'Expect', 'keep-alive', 'upgrade', 'Proxy-Authorization'].map(
      (name): [string, (api: Client) => Promise<unknown>] => [
        `the header ${name}`,
        (api) => api.tokens(RANGE, { headers: { [name]: 'x' } }),
      ],
    ),
    ['a limit of 0', (api) => collect(api.users({ ...RANGE, limit: 0 }))],
    ['a limit over 100', (api) => collect(api.users({ ...RANGE, limit: 101 }))],
    ['a limit that is not a whole number', (api) => collect(api.users({ ...RANGE, limit: 1.5 }))],
    [
      'a range of users that is reversed',
      (api) => collect(api.users({ startDate: '2026-02-02', endDate: '2026-02-01' })),
    ],
    ['a limit of reports that is not positive', (api) => collect(api.readinessReports({ limit: -1 }))],
  ])('is refused before anything is sent: %s', async (_, call) => {
    const { api, server } = await client(rowsReply());
    const error = await thrownBy(call(api));
    expect(error).toBeInstanceOf(UsageError);
    expect(error).toMatchObject({ hint: expect.stringMatching(/\S/) });
    expect(server.connections).toBe(0);
    await api.close();
  });

  it.each<[string, Partial<ClientOptions>]>([
    ['no key', { apiKey: ' ' }],
    ['a key that is undefined', { apiKey: undefined as unknown as string }],
    ['a key with a line break', { apiKey: 'a\nb' }],
    ['a key that no header can carry', { apiKey: 'schlüssel' }],
    ['http to another machine', { baseUrl: 'http://api.example.com' }],
    ['a URL with credentials', { appUrl: 'https://u:p@example.com' }],
    ['a concurrency of 0', { concurrency: 0 }],
    ['a fraction of an attempt', { attempts: 1.5 }],
    ['no time', { requestTimeoutMs: 0 }],
    ['more time than a timer keeps', { requestTimeoutMs: 2 ** 31 }],
    ['a budget of nothing', { maxRequestsPerMinute: 0 }],
    ['an invalid number', { requestTimeoutMs: Number.NaN }],
  ])('is refused when the client is created: %s', (_, options) => {
    expect(() => createClient({ apiKey: API_KEY, baseUrl: 'https://api.example.com', ...options })).toThrow(
      UsageError,
    );
  });

  it('does not show the key in the error', () => {
    expect(() => createClient({ apiKey: 'se cret', baseUrl: 'https://api.example.com' })).toThrow(
      expect.not.stringContaining('cret'),
    );
  });

  it('includes a key with a trailing line break, as files have it', async () => {
    const { api, server } = await client(rowsReply(), { apiKey: `${API_KEY}\n` });
    await api.tokens(RANGE);
    expect(server.requests[0]?.headers['authorization']).toBe(`Bearer ${API_KEY}`);
    await api.close();
  });
});

describe('the pages of users', () => {
  /** Serves users in pages of the given sizes, by cursor. */
  function paged(users: readonly string[], sizes: readonly number[]): RawReply {
    return (socket, { path, index }) => {
      const cursor = new URL(path, 'http://x').searchParams.get('cursor');
      const from = cursor === null ? 0 : users.indexOf(cursor) + 1;
      const end = from + (sizes[(index - 1) % sizes.length] ?? 1);
      const data = users.slice(from, end).map((user_id) => ({ user_id, date: '2026-02-01' }));
      const hasMore = end < users.length;
      socket.write(
        json({ data, meta: { ...META, has_more: hasMore, next_cursor: hasMore ? users[end - 1] : null } }),
      );
    };
  }

  it('concatenate to the same list for any page size', async () => {
    const ids = fc.uniqueArray(
      fc.string({ unit: 'grapheme', minLength: 1, maxLength: 5 }).filter((id) => id.isWellFormed()),
      { maxLength: 20 },
    );
    await fc.assert(
      fc.asyncProperty(
        ids,
        fc.array(fc.integer({ min: 1, max: 7 }), { minLength: 1, maxLength: 4 }),
        async (users, sizes) => {
          const { api, server } = await client(paged(users, sizes));
          const walk = api.users(RANGE);
          const rows: UserRow[] = await collect(walk);
          expect(rows.map((row) => row.user_id)).toEqual(users);
          const pages: Rows<UserRow>[] = await collect(walk.pages());
          expect(pages.flatMap(({ data }) => data.map((row) => row.user_id))).toEqual(users);
          await api.close();
          await server.close();
        },
      ),
      { numRuns: 25 },
    );
  });

  it('are requested one at a time, on demand', async () => {
    const { api, server } = await client(paged(['a', 'b', 'c'], [1]));
    const pages = api.users(RANGE).pages()[Symbol.asyncIterator]();
    expect(server.requests).toHaveLength(0);
    await pages.next();
    expect(server.requests).toHaveLength(1);
    await pages.return?.();
    await new Promise((resolve) => setTimeout(resolve, 20));
    expect(server.requests).toHaveLength(1);
    await api.close();
  });

  it('continue after an empty page', async () => {
    const { api } = await client((socket, { index }) => {
      const data = index === 2 ? [] : [{ user_id: `u-${index}`, date: '2026-02-01' }];
      const paging = index < 3 ? { has_more: true, next_cursor: `c-${index}` } : { has_more: false };
      socket.write(json({ data, meta: { ...META, ...paging } }));
    });
    const pages = await collect(api.users(RANGE).pages());
    expect(pages.map(({ data }) => data.map((row) => row.user_id))).toEqual([['u-1'], [], ['u-3']]);
    await api.close();
  });

  it('are requested again by every loop', async () => {
    const { api, server } = await client(paged(['a', 'b'], [1]));
    const walk = api.users(RANGE);
    for (const requests of [2, 4]) {
      expect((await collect(walk)).map((row) => row.user_id)).toEqual(['a', 'b']);
      expect(server.requests).toHaveLength(requests);
    }
    await api.close();
  });

  it.each([
    ['users', (api: Client) => collect(api.users(RANGE)), 'user_id'],
    ['reports', (api: Client) => collect(api.readinessReports()), 'reportId'],
  ])('give %s once when pages overlap, and reject them if they differ', async (_, walk, id) => {
    let changed = 1;
    const { api } = await client((socket, { path }) => {
      const query = new URL(path, 'http://x').searchParams;
      const after = query.get('cursor') ?? query.get('startAfter');
      const ids = after === null ? ['a', 'b'] : after === 'b' ? ['b', 'c'] : [];
      const number = after === null ? 1 : changed;
      const data = ids.map((user_id) => ({ user_id, date: '2026-02-01', sessions: number }));
      const reports = ids.map((reportId) => ({
        reportId,
        createdAt: number,
        repoUrl: 'r',
        apps: {},
        report: {},
      }));
      const meta = { ...META, has_more: after === null, next_cursor: after === null ? 'b' : undefined };
      socket.write(json({ data, reports, meta }));
    });
    expect((await walk(api)).map((item) => Reflect.get(item, id))).toEqual(['a', 'b', 'c']);
    changed = 2;
    expect(await thrownBy(walk(api))).toMatchObject({
      name: 'PartialAnswerError',
      cursor: 'b',
      data: [{ [id]: 'c' }],
      rejected: [{ kind: 'contradiction', record: { [id]: 'b' } }],
    });
    await api.close();
  });

  it('end when a page is about another organization', async () => {
    const { api } = await client((socket, { path }) => {
      const isSecond = path.includes('cursor=b');
      const meta = { ...META, org_id: isSecond ? 'org_2' : 'org_1', has_more: !isSecond };
      const data = [{ user_id: isSecond ? 'b' : 'a', date: '2026-02-01' }];
      socket.write(json({ data, meta: isSecond ? meta : { ...meta, next_cursor: 'b' } }));
    });
    const seen: string[] = [];
    const walk = async () => {
      for await (const { user_id } of api.users(RANGE, { allowPartial: true })) seen.push(user_id);
    };
    expect(await thrownBy(walk())).toMatchObject({ name: 'UnitError', reason: 'other-organization' });
    expect(seen).toEqual(['a']);
    await api.close();
  });

  it('end at a page with a rejected part, and resume from it', async () => {
    let isWhole = false;
    const { api } = await client((socket, { path }) => {
      const cursor = new URL(path, 'http://x').searchParams.get('cursor');
      const row = { user_id: cursor ?? 'a', date: '2026-02-01' };
      const data = cursor === 'b' && !isWhole ? [row, { date: '2026-02-01' }] : [row];
      const next = { null: 'b', b: 'c' }[String(cursor)];
      socket.write(json({ data, meta: { ...META, has_more: next !== undefined, next_cursor: next } }));
    });
    const seen: string[] = [];
    const walk = async (cursor?: string) => {
      for await (const { user_id } of api.users({ ...RANGE, cursor })) seen.push(user_id);
    };
    const error = await thrownBy(walk());
    expect(error).toMatchObject({ name: 'PartialAnswerError', cursor: 'b', rejected: [{ path: 'data[1]' }] });
    isWhole = true;
    await walk((error as PartialAnswerError).cursor);
    expect(seen).toEqual(['a', 'b', 'c']);
    await api.close();
  });

  it('resume at a last page that names its own cursor, and end there', async () => {
    const { api, server } = await client((socket, { path }) => {
      const cursor = new URL(path, 'http://x').searchParams.get('cursor');
      const data = [{ user_id: cursor ?? 'a', date: '2026-02-01' }];
      const meta = { ...META, has_more: cursor === null, next_cursor: 'b' };
      socket.write(json({ data, meta }));
    });
    expect(await collect(api.users(RANGE))).toHaveLength(2);
    expect(await collect(api.users({ ...RANGE, cursor: 'b' }))).toMatchObject([{ user_id: 'b' }]);
    expect(server.requests).toHaveLength(3);
    await api.close();
  });

  it.each([
    ['repeat a cursor', { has_more: true, next_cursor: 'c' }, 2],
    ['have more but no cursor', { has_more: true }, 1],
  ])('end with an error when they %s', async (_, meta, requests) => {
    const { api, server } = await client(
      (socket) => void socket.write(json({ data: [], meta: { ...META, ...meta } })),
    );
    expect(await thrownBy(collect(api.users(RANGE)))).toMatchObject({ name: 'UnitError', exitCode: 4 });
    expect(server.requests).toHaveLength(requests);
    await api.close();
  });
});

describe('the pages of readiness reports', () => {
  const report = (reportId: string) => ({ reportId, createdAt: 1, repoUrl: 'r', apps: {}, report: {} });

  it('end with an empty page, not with a short one, and report malformed records', async () => {
    const { api, server } = await client((socket, { path }) => {
      const after = new URL(path, 'http://x').searchParams.get('startAfter');
      const pages: Record<string, unknown[]> = {
        none: [report('a'), { reportId: 'b' }],
        b: [report('c')],
        c: [],
      };
      socket.write(json({ reports: pages[after ?? 'none'] }));
    });
    const partial = await thrownBy(collect(api.readinessReports({ limit: 2 })));
    expect(partial).toMatchObject({
      name: 'PartialAnswerError',
      cursor: undefined,
      data: [{ reportId: 'a' }],
    });
    const before = server.requests.length;
    const pages = await collect(api.readinessReports({ limit: 2 }, { allowPartial: true }).pages());
    expect(pages.map(({ reports }) => reports.map(({ reportId }) => reportId))).toEqual([['a'], ['c']]);
    expect(pages[0]?.rejected).toMatchObject([{ path: 'reports[1]', record: { reportId: 'b' } }]);
    expect(
      server.requests
        .slice(before)
        .map(({ path }) => new URL(path, 'http://x').searchParams.get('startAfter')),
    ).toEqual([null, 'b', 'c']);
    await api.close();
  });
});

describe('the limit of readiness reports', () => {
  const REPORT = { reportId: 'a', createdAt: 1, repoUrl: 'r', apps: {}, report: {} };
  const maximum20: RawReply = (socket, { path }) => {
    const query = new URL(path, 'http://x').searchParams;
    if (Number(query.get('limit')) > 20) socket.write(json({ detail: 'limit' }, {}, 400));
    else socket.write(json({ reports: query.has('startAfter') ? [] : [REPORT] }));
  };
  const limitsOf = (server: { requests: readonly { path: string }[] }) =>
    server.requests.map(({ path }) => new URL(path, 'http://x').searchParams.get('limit'));

  it('is lowered if the service refuses the largest one', async () => {
    const { api, server } = await client(maximum20);
    await collect(api.readinessReports());
    expect(limitsOf(server)).toEqual(['100', '50', '20', '20']);
    await api.close();
  });

  it('stays as requested', async () => {
    const { api, server } = await client(maximum20);
    expect(await thrownBy(collect(api.readinessReports({ limit: 50 })))).toMatchObject({ status: 400 });
    expect(limitsOf(server)).toEqual(['50']);
    await api.close();
  });
});

describe('an abort signal', () => {
  it('of the client ends calls that have a signal of their own, and that of a call ends no other', async () => {
    const [all, one] = [new AbortController(), new AbortController()];
    const { api } = await client(() => undefined, { signal: all.signal });
    const [first, second] = [one, new AbortController()].map(({ signal }) =>
      thrownBy(api.tokens(RANGE, { signal })),
    );
    one.abort(new Error('one'));
    expect(await first).toMatchObject({ message: 'one' });
    all.abort(new Error('all'));
    expect(await second).toMatchObject({ message: 'all' });
    await api.close();
  });

  it('ends every call of the client', async () => {
    const control = new AbortController();
    const { api, server } = await client(() => undefined, { signal: control.signal });
    const calls = [thrownBy(api.tokens(RANGE)), thrownBy(collect(api.users(RANGE)))];
    await expect.poll(() => server.requests.length).toBe(2);
    const reason = new Error('enough');
    control.abort(reason);
    expect(await Promise.all(calls)).toEqual([reason, reason]);
    await api.close();
  });
});

describe('closing the client', () => {
  it('leaves no connection open', async () => {
    const { api, server } = await client(rowsReply());
    await Promise.all([api.tokens(RANGE), api.tools(RANGE), api.productivity(RANGE)]);
    await api.close();
    await expect.poll(() => server.open).toBe(0);
  });

  it('ends calls in progress, and refuses later ones', async () => {
    const { api, server } = await client(() => undefined);
    const call = thrownBy(api.tokens(RANGE));
    await expect.poll(() => server.requests.length).toBe(1);
    await api.close();
    expect(await call).toMatchObject({ name: 'UsageError', message: 'the client was closed' });
    expect(await thrownBy(api.tokens(RANGE))).toMatchObject({ name: 'UsageError' });
    expect(server.requests).toHaveLength(1);
  });
});

describe('the types', () => {
  it('tell plain rows from grouped ones, and refuse what they cannot tell', () => {
    const api = createClient({ apiKey: API_KEY, baseUrl: 'https://api.example.com', appUrl: undefined });
    const maybe = { ...RANGE, groupBy: undefined as 'model' | undefined };
    expectTypeOf(() => api.tokens(RANGE)).returns.resolves.toEqualTypeOf<Rows<TokensRow>>();
    expectTypeOf(() => api.tokens({ ...RANGE, groupBy: 'model' })).returns.resolves.toEqualTypeOf<
      Rows<TokensByModelRow>
    >();
    expectTypeOf(() => api.tokens(maybe)).returns.resolves.toEqualTypeOf<
      Rows<TokensRow> | Rows<TokensByModelRow>
    >();
    const wide = { ...RANGE, groupBy: 'model' };
    // @ts-expect-error: the type of `groupBy` is a text, which may be anything
    expectTypeOf(() => api.tokens(wide)).returns.resolves.toBeUnknown();
  });
});
