import { expect, test } from 'vitest';
import { READINESS_PATH } from '../../../src/contract/paths.ts';
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
    status: 404,
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
  await expect(fetch(at.emulator.url, { signal: AbortSignal.timeout(500) })).rejects.toThrow();
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
