import { expect, test } from 'vitest';
import { READINESS_PATH, SESSIONS_PATH } from '../../../src/contract/paths.ts';
import { pathOf, probe } from '../../support/emulator/probe.ts';

test('totals are exact by path, stream, days, status and role', async () => {
  const at = await probe({ users: 20, reports: 3 });
  await at.get(pathOf('users', '2026-02-03'));
  await at.get(pathOf('users', '2026-02-03'));
  await at.get(pathOf('tokens', '2026-02-01..2026-02-07'));
  await at.get(READINESS_PATH, { key: at.emulator.keys.guest });
  await at.get('/nowhere', { key: null });
  expect(at.emulator.journal()).toMatchObject({
    requests: 5,
    inFlight: 0,
    inFlightMax: 1,
    byPath: {
      '/api/v1/analytics/users': 2,
      '/api/v1/analytics/tokens': 1,
      [READINESS_PATH]: 1,
      '/nowhere': 1,
    },
    byStream: { users: 2, tokens: 1, readiness: 1 },
    byDay: { 'users 2026-02-03': 2, 'tokens 2026-02-01..2026-02-07': 1, readiness: 1 },
    byStatus: { 200: 4, 404: 1 },
    byRole: { owner: 3, guest: 1, none: 1 },
  });
});

test('the last requests are listed in order, up to a limit', async () => {
  const at = await probe({ users: 5, journalEntriesMax: 4 });
  for (let i = 0; i < 13; i++) await at.get(`/nowhere?i=${i}`);
  const { recent, requests } = at.emulator.journal();
  expect(requests).toBe(13);
  expect(recent.map(({ query }) => query)).toEqual(['i=9', 'i=10', 'i=11', 'i=12']);
  expect(recent[3]).toEqual({
    method: 'GET',
    path: '/nowhere',
    query: 'i=12',
    arrivedAt: '2026-06-01T12:00:00.000Z',
    headers: expect.objectContaining({ authorization: '[key]', host: new URL(at.emulator.url).host }),
    body: null,
    status: 404,
    answer: {
      headers: { 'content-type': 'application/json; charset=utf-8' },
      body: { text: expect.stringMatching(/^{"title":"Not Found"/), bytes: expect.any(Number) },
    },
    ms: expect.any(Number),
    role: 'owner',
    rule: null,
  });
});

test('the journal contains no key, wherever a client puts it', async () => {
  const at = await probe({ apiKey: 'canary-owner-key' });
  await at.get(`${pathOf('users', '2026-02-03')}&apiKey=canary-owner-key`);
  await at.get('/canary-owner-key/x');
  await at.get('/x', { key: 'canary-wrong-key', headers: { 'x-api-key': 'canary-owner-key' } });
  const text = JSON.stringify(at.emulator.journal());
  expect(text).not.toContain('canary');
  expect(text).toContain('[key]');
  expect(at.emulator.apiKey).toBe('canary-owner-key');
});

test('it has the headers and bodies of requests, up to a limit, and no key in them', async () => {
  const at = await probe({ apiKey: 'canary"owner/key', token: 'canary-token-0123456789' });
  const jwt = at.emulator.quirks().sessionsJwt ?? '';
  const body = { computerId: 'computer-1', cwd: `/canary"owner/key/${jwt}/canary-token-0123456789` };
  const create = (json: unknown) =>
    fetch(at.emulator.url + SESSIONS_PATH, {
      method: 'POST',
      headers: {
        authorization: `Bearer ${at.emulator.apiKey}`,
        cookie: 'unknown-secret',
        'content-type': 'application/json',
        'x-trace': encodeURIComponent(at.emulator.apiKey),
      },
      body: JSON.stringify(json),
    });
  expect((await create(body)).status).toBe(201);
  expect((await create({ computerId: 'x'.repeat(100_000) })).status).toBe(400);
  const [first, second] = at.emulator.journal().recent;
  expect(first).toMatchObject({
    method: 'POST',
    headers: { authorization: '[key]', cookie: '[key]', 'x-trace': '[key]' },
    body: { text: '{"computerId":"computer-1","cwd":"/[key]/[key]/[key]"}' },
    status: 201,
    answer: { body: { text: expect.stringMatching(/^{"sessionId":"session_/) } },
  });
  expect(second?.body).toMatchObject({ bytes: 100_000 + '{"computerId":""}'.length });
  expect(second?.body?.text).toHaveLength(16 * 1024);
  const text = JSON.stringify(at.emulator.journal());
  for (const secret of ['canary', jwt, 'unknown-secret']) expect(text).not.toContain(secret);
});

test('totals show no key, whoever sent the request', async () => {
  const at = await probe({ apiKey: 'canary-owner-key', token: 'canary-token-0123456789' });
  const { keys } = at.emulator;
  const secrets = ['canary-owner-key', 'canary-token-0123456789', keys.guest];
  for (const secret of secrets) {
    await at.get(`/x/${secret}`, { key: keys.manager });
    await at.get(pathOf('users', secret), { key: null });
  }
  const { byPath, byDay } = at.emulator.journal();
  expect(byPath).toMatchObject({ '/x/[key]': 3 });
  expect(byDay).toEqual({ 'users [key]': 3 });
});

test('a key across the end of what is kept of a body is hidden whole', async () => {
  const secret = 'canary/owner/key';
  const at = await probe({ apiKey: secret });
  const create = (body: string) =>
    fetch(at.emulator.url + SESSIONS_PATH, {
      method: 'POST',
      headers: { authorization: `Bearer ${at.emulator.keys.guest}`, 'content-type': 'application/json' },
      body,
    });
  const detail = (text: string, size: number) => ({
    type: 'status' as const,
    status: 500,
    detail: 'x'.repeat(size) + text,
  });
  for (const spelled of [secret, encodeURIComponent(secret)]) {
    for (let kept = 1; kept < spelled.length; kept += 3) {
      await create('x'.repeat(16 * 1024 - kept) + spelled + 'y'.repeat(9));
      at.emulator.setRules([
        { action: detail(spelled, 2 * 1024 - '{"title":"Internal Server Error","detail":"'.length - kept) },
      ]);
      await at.get('/x', { key: at.emulator.keys.guest });
      at.emulator.setRules([]);
    }
  }
  const { recent } = at.emulator.journal();
  const texts = recent.map(({ body, answer }) => body?.text ?? answer?.body.text ?? '');
  expect(texts.length).toBeGreaterThan(20);
  for (const text of texts) expect(text).toMatch(/x\[key\]$/);
});

test('bodies take a bounded part of the memory, however many requests are kept', async () => {
  const at = await probe({ journalEntriesMax: 100_000 });
  await at.get(pathOf('users', '2026-02-03', 'limit=100'));
  const [entry] = at.emulator.journal().recent;
  expect(entry?.answer?.body.bytes).toBeGreaterThan(10_000);
  expect(entry?.answer?.body.text.length).toBeLessThan((64 * 1024 * 1024) / (2 * 100_000));
});

test('the highest number of simultaneous requests is counted, and all of them end', async () => {
  const at = await probe({ users: 5, latencyMs: 60 });
  const together = Promise.all(Array.from({ length: 7 }, (_, i) => at.get(`/nowhere?i=${i}`)));
  await together;
  expect(at.emulator.journal()).toMatchObject({ requests: 7, inFlight: 0, inFlightMax: 7 });
  at.emulator.resetJournal();
  expect(at.emulator.journal()).toMatchObject({ requests: 0, inFlightMax: 0, byStatus: {}, recent: [] });
  await at.get('/nowhere');
  expect(at.emulator.journal()).toMatchObject({ requests: 1, inFlightMax: 1 });
});

test('a client that disconnects is counted without a status', async () => {
  const at = await probe({ latencyMs: 5_000 });
  await expect(fetch(`${at.emulator.url}/nowhere`, { signal: AbortSignal.timeout(500) })).rejects.toThrow();
  for (let i = 0; i < 100 && at.emulator.journal().inFlight > 0; i++)
    await new Promise((go) => setTimeout(go, 5));
  expect(at.emulator.journal()).toMatchObject({ requests: 1, inFlight: 0, byStatus: { none: 1 } });
});

test('equal requests have equal request ids, different requests different ones', async () => {
  const at = await probe();
  const id = async (path: string) => (await at.get(path)).headers.get('x-request-id');
  expect(await id('/a?x=1')).toBe(await id('/a?x=1'));
  const ids = await Promise.all(Array.from({ length: 200 }, (_, i) => id(`/a?x=${i}`)));
  expect(new Set(ids).size).toBe(200);
});
