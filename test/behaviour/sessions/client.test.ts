import { describe, expect, test } from 'vitest';
import type { SessionWarning } from '../../../src/api/session-request.ts';
import {
  ApiError,
  BadRequestError,
  CredentialError,
  OverloadError,
  UnknownOutcomeError,
} from '../../../src/http/errors.ts';
import { thrownBy } from '../../support/api/test-transport.ts';
import { http, json, rawServer } from '../../support/network/raw-server.ts';
import { clientOf, EVERY_SETTING, emulated } from '../../support/sessions/emulated-service.ts';

const REQUEST = { computerId: 'computer-1' };
const SESSION = {
  sessionId: 's1',
  status: 'pending',
  messageCount: 0,
  createdAt: 1770724800000,
  updatedAt: 1770724800001,
};

/** A server that answers every request with these bytes. */
const answering = (bytes: Buffer) => rawServer((socket) => void socket.write(bytes));

describe('a session', () => {
  test.each(['idle', 'pending', 'running'])('with status %s is returned as answered', async (status) => {
    const full = {
      ...SESSION,
      status,
      title: 'Nightly',
      completedAt: 1770724800002,
      computerId: 'computer-1',
      sessionSettings: EVERY_SETTING,
    };
    const server = await answering(json(full, {}, 201));
    expect(await clientOf(server).createSession(REQUEST)).toEqual(full);
  });

  test('may omit all optional fields, or have them as null', async () => {
    const nulls = { ...SESSION, title: null, completedAt: null, computerId: null, sessionSettings: null };
    for (const body of [SESSION, nulls]) {
      const server = await answering(json(body, {}, 201));
      expect(await clientOf(server).createSession(REQUEST)).toEqual(body);
    }
  });

  test('may have a status that is not known yet', async () => {
    const body = { ...SESSION, status: 'queued' };
    const server = await answering(json(body, {}, 201));
    expect(await clientOf(server).createSession(REQUEST)).toEqual(body);
  });

  test('keeps unknown fields at every depth', async () => {
    const body = {
      ...SESSION,
      region: { name: 'north' },
      sessionSettings: {
        model: 'm',
        reasoningEffort: 'ultra',
        tags: [{ name: 'a', colour: 'red' }],
        newSetting: [1],
      },
    };
    const server = await answering(json(body, {}, 201));
    expect(await clientOf(server).createSession(REQUEST)).toEqual(body);
  });

  test.each([
    ['sessionId', undefined, 'sessionId: is required'],
    ['sessionId', '', 'sessionId: must not be empty'],
    ['status', undefined, 'status: is required'],
    ['status', 5, 'status: must be a text'],
    ['messageCount', undefined, 'messageCount: is required'],
    ['messageCount', 1.5, 'messageCount: must be a whole number'],
    ['createdAt', '2026-02-10', 'createdAt: must be a whole number'],
    ['updatedAt', null, 'updatedAt: must be a whole number'],
    ['completedAt', 'never', 'completedAt: must be a whole number'],
    ['title', 5, 'title: must be a text'],
    ['computerId', {}, 'computerId: must be a text'],
    ['sessionSettings', [], 'sessionSettings: must be an object'],
    ['sessionSettings', { runInWorktree: 'yes' }, 'sessionSettings.runInWorktree: must be true or false'],
  ])('with %s %j was created, and the error says so', async (field, value, problem) => {
    const server = await answering(json({ ...SESSION, [field]: value }, {}, 201));
    const error = await thrownBy(clientOf(server).createSession(REQUEST));
    expect(error).toBeInstanceOf(UnknownOutcomeError);
    expect(error).toMatchObject({
      outcome: 'created',
      status: 201,
      message: expect.stringMatching(/created a session.*check before trying again/),
    });
    expect(String(error)).toContain(problem);
    const sessionId = field === 'sessionId' ? undefined : 's1';
    expect(error).toMatchObject({ sessionId, body: expect.any(Object) });
    if (field !== 'sessionId') expect(String(error)).toContain('created a session s1');
    expect(server.requests).toHaveLength(1);
  });
});

const DEEP = `${'['.repeat(100_000)}${']'.repeat(100_000)}`;

describe('an answer that describes no session', () => {
  test.each([
    ['200 with a session', json(SESSION), 'unknown'],
    ['202 with a session', json(SESSION, {}, 202), 'unknown'],
    ['204', http(204, '', { 'content-length': undefined }), 'unknown'],
    ['201 with a page', http(201, '<html>', { 'content-type': 'text/html' }), 'created'],
    ['201 without a type, and no session', http(201, '{}', { 'content-type': undefined }), 'created'],
    ['201 without a type, with a page', http(201, '<html>', { 'content-type': undefined }), 'created'],
    ['201 with text that is not JSON', http(201, '{"sessionId":'), 'created'],
    ['201 with bytes that are not UTF-8', http(201, Buffer.from([0x22, 0xff, 0x22])), 'created'],
    ['201 with a list', json([SESSION], {}, 201), 'created'],
    [
      '201 that nests deeper than any stack',
      http(201, `{"a":${DEEP},${JSON.stringify(SESSION).slice(1)}`),
      'created',
    ],
    [
      '201 that breaks off',
      Buffer.from(http(201, '{"sessionId":"s1"}', { 'content-length': 5000 })),
      'created',
    ],
    ['307 to another path', http(307, '', { location: '/api/v1/sessions' }), 'unknown'],
    ['302 to a login page', http(302, '', { location: 'https://login.example.com/' }), 'unknown'],
  ])('%s: the error reports the possible outcome, after one request', async (_, bytes, outcome) => {
    const server = await rawServer((socket) => void socket.end(bytes));
    const error = await thrownBy(clientOf(server).createSession(REQUEST));
    expect(error).toBeInstanceOf(UnknownOutcomeError);
    expect(error).toMatchObject({
      outcome,
      exitCode: 4,
      hint: expect.stringContaining('trying again may create'),
    });
    const what = outcome === 'created' ? /created/ : /a session may have been created/;
    expect(String(error)).toMatch(what);
    expect(String(error)).toContain('check before trying again');
    expect(server.requests).toHaveLength(1);
  });
});

describe('a refusal', () => {
  const problem = { title: 'T', detail: 'why', status: 0, metadata: { field: 'x', limits: [1, 2] } };

  test.each([
    [400, BadRequestError, 4],
    [401, CredentialError, 3],
    [403, CredentialError, 3],
    [404, ApiError, 4],
    [413, ApiError, 4],
    [415, ApiError, 4],
    [422, ApiError, 4],
    [429, OverloadError, 4],
  ])(
    '%i is a specific error with the metadata, and not an unknown outcome',
    async (status, kind, exitCode) => {
      const server = await answering(json({ ...problem, status }, {}, status));
      const error = await thrownBy(clientOf(server, { attempts: 1 }).createSession(REQUEST));
      expect(error).toBeInstanceOf(kind);
      expect(error).toMatchObject({
        status,
        title: 'T',
        detail: 'why',
        metadata: problem.metadata,
        exitCode,
      });
      expect(String(error)).toContain(`POST /api/v0/sessions answered ${status}: why`);
      expect(server.requests).toHaveLength(1);
    },
  );

  test.each([408, 425, 500, 502, 503, 504])('%i is an unknown outcome with the metadata', async (status) => {
    const server = await answering(json({ ...problem, status }, { 'retry-after': '0' }, status));
    const error = await thrownBy(clientOf(server).createSession(REQUEST));
    expect(error).toBeInstanceOf(UnknownOutcomeError);
    expect(error).toMatchObject({
      status,
      title: 'T',
      detail: 'why',
      metadata: problem.metadata,
      exitCode: 4,
    });
    expect(String(error)).toContain(`answered ${status}: why`);
    expect(String(error)).toContain('a session may have been created: check before trying again');
    expect(server.requests).toHaveLength(1);
  });

  test('403 says that the endpoint is not open to every organization', async () => {
    const server = await answering(json({ ...problem, status: 403 }, {}, 403));
    const error = await thrownBy(clientOf(server).createSession(REQUEST));
    expect(error).toMatchObject({ hint: expect.stringContaining('selected organizations') });
  });
});

describe('the credential', () => {
  test.each([
    ['an API key', 'ak_0123456789'],
    ['a JWT', `eyJhbGciOiJSUzI1NiJ9.${'eyJzdWIiOiJ1c2VyXzEifQ'.repeat(60)}.c2lnbmF0dXJl-_`],
  ])('may be %s, sent as a bearer', async (_, apiKey) => {
    const server = await answering(json(SESSION, {}, 201));
    await clientOf({ url: server.url, apiKey }).createSession(REQUEST);
    expect(server.requests).toMatchObject([
      {
        method: 'POST',
        path: '/api/v0/sessions',
        headers: { authorization: `Bearer ${apiKey}`, 'content-type': 'application/json' },
      },
    ]);
  });

  test('does not appear in an answer or an error', async () => {
    const echo = { title: 'Unauthorized', detail: 'bad key key-0123456789', status: 401 };
    const error = await thrownBy(clientOf(await answering(json(echo, {}, 401))).createSession(REQUEST));
    expect(JSON.stringify(error) + String(error)).not.toContain('key-0123456789');
  });
});

describe('a warning', () => {
  /** The warnings about settings that the service accepts. */
  async function warnings(sessionSettings: object, knownIdentifiers?: object): Promise<SessionWarning[]> {
    const emulator = await emulated();
    const received: SessionWarning[] = [];
    const client = clientOf(emulator, {
      onWarning: (warning) => void received.push(warning),
      ...(knownIdentifiers && { knownIdentifiers }),
    });
    const session = await client.createSession({ ...REQUEST, sessionSettings });
    expect(session.sessionSettings).toEqual(sessionSettings);
    return received;
  }

  test.each([
    ['normal', 'interactionMode "auto" with autonomyLevel "off"'],
    ['auto-low', 'interactionMode "auto" with autonomyLevel "low"'],
    ['auto-medium', 'interactionMode "auto" with autonomyLevel "medium"'],
    ['auto-high', 'interactionMode "auto" with autonomyLevel "high"'],
    ['spec', 'interactionMode "spec"'],
  ])(
    'suggests a replacement for the deprecated autonomyMode %s, which is sent',
    async (autonomyMode, instead) => {
      const received = await warnings({ autonomyMode });
      expect(received).toEqual([
        { path: 'sessionSettings.autonomyMode', message: expect.stringContaining(instead) },
      ]);
      expect(received[0]?.message).toContain('deprecated in favour of interactionMode plus autonomyLevel');
    },
  );

  test('is absent if nothing is deprecated and no identifiers are known', async () => {
    const { autonomyMode: _, ...settings } = EVERY_SETTING;
    expect(await warnings(settings)).toEqual([]);
  });

  test('names unknown identifiers, which are sent', async () => {
    const settings = { providerLock: 'p9', apiProviderLock: 'a9', compactionModel: 'm9' };
    const known = { providers: ['service'], apiProviders: [], compactionModels: ['m1'] };
    expect((await warnings(settings, known)).map(({ path }) => path)).toEqual([
      'sessionSettings.providerLock',
      'sessionSettings.apiProviderLock',
      'sessionSettings.compactionModel',
    ]);
    expect(await warnings({ providerLock: 'service', compactionModel: 'm1' }, known)).toEqual([]);
    for (const compactionModel of ['current-model', 'custom:mine'])
      expect(await warnings({ compactionModel }, known)).toEqual([]);
  });
});
