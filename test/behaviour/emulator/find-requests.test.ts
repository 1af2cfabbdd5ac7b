import { describe, expect, test } from 'vitest';
import { READINESS_PATH, SESSIONS_PATH } from '../../../src/contract/paths.ts';
import { type Json, type Probe, pathOf, probe } from '../../support/emulator/probe.ts';

const TAGGED = { computerId: 'computer-1', sessionSettings: { tags: [{ name: 'a' }, { name: 'b' }] } };

async function ask(at: Probe, what: 'count' | 'find', criteria?: unknown): Promise<Json> {
  const answer = await fetch(`${at.emulator.url}/__admin/requests/${what}`, {
    method: 'POST',
    ...(criteria === undefined ? {} : { body: JSON.stringify(criteria) }),
  });
  const json: Json = await answer.json();
  return { status: answer.status, ...json };
}

/** An emulator that was asked for some things. */
async function asked(): Promise<Probe> {
  const at = await probe({ users: 20, reports: 3 });
  await at.get(pathOf('users', '2026-02-03', 'limit=5'));
  await at.get(pathOf('users', '2026-02-04', 'limit=5'));
  await at.get(pathOf('tokens', '2026-02-03', 'group_by=model'));
  await at.get(`${READINESS_PATH}?limit=1`);
  for (const body of [TAGGED, { computerId: 'computer-2', cwd: '/srv' }]) {
    await fetch(at.emulator.url + SESSIONS_PATH, {
      method: 'POST',
      headers: { authorization: `Bearer ${at.emulator.apiKey}`, 'content-type': 'application/json' },
      body: JSON.stringify(body),
    });
  }
  return at;
}

describe('POST /__admin/requests/count', () => {
  test.each([
    [undefined, 6],
    [{}, 6],
    [{ method: 'ANY' }, 6],
    [{ method: 'POST' }, 2],
    [{ method: 'DELETE' }, 0],
    [{ path: '/api/v1/analytics/users' }, 2],
    [{ path: '/api/v1/analytics/*' }, 3],
    [{ path: '/api/*' }, 0],
    [{ path: '/api/**' }, 6],
    [{ path: '/api/v1.analytics/users' }, 0],
    [{ query: { startDate: '2026-02-03' } }, 2],
    [{ query: { startDate: '2026-02-03', group_by: null } }, 1],
    [{ path: '/api/v1/analytics/users', query: { limit: '5', endDate: '2026-02-04' } }, 1],
    [{ body: 'computer-' }, 2],
    [{ body: { computerId: 'computer-1' } }, 1],
    [{ body: { computerId: 'computer-3' } }, 0],
    [{ body: { sessionSettings: { tags: [{ name: 'a' }, {}] } } }, 1],
    [{ body: { sessionSettings: { tags: [{ name: 'a' }] } } }, 0],
    [{ body: { cwd: '/srv', computerId: 'computer-2' }, method: 'POST' }, 1],
  ])('%j: %d', async (criteria, count) => {
    expect(await ask(await asked(), 'count', criteria)).toEqual({
      status: 200,
      count,
      requestJournalDisabled: false,
    });
  });

  test('a criterion that does not exist is refused with its place and what is known', async () => {
    expect(await ask(await asked(), 'count', { urlPath: '/x' })).toMatchObject({
      status: 400,
      detail: 'criteria.urlPath: there is no field of this name',
      hint: expect.stringContaining('method, path, query, body'),
    });
  });
});

test('requests are counted up to the size of the journal, and no longer once it has dropped some', async () => {
  const at = await probe({ journalEntriesMax: 3 });
  for (let i = 0; i < 3; i++) await at.get(`/nowhere?i=${i}`);
  expect(await ask(at, 'count')).toMatchObject({ status: 200, count: 3 });
  await at.get('/nowhere?i=3');
  expect(await ask(at, 'count', { query: { i: '3' } })).toEqual({
    title: 'Bad Request',
    status: 400,
    detail: 'the journal has only the last 3 of 4 requests',
    hint: expect.stringMatching(/DELETE \/__admin\/journal.* larger journal/),
  });
  expect((await ask(at, 'find')).requests).toHaveLength(3);
  await fetch(`${at.emulator.url}/__admin/journal`, { method: 'DELETE' });
  expect(await ask(at, 'count')).toMatchObject({ status: 200, count: 0 });
});

test('POST /__admin/requests/find shows the requests in the form of WireMock, the oldest first', async () => {
  const at = await asked();
  const { requests } = await ask(at, 'find', { path: '/api/v1/analytics/*' });
  expect(requests.map(({ url }: Json) => url)).toEqual([
    pathOf('users', '2026-02-03', 'limit=5'),
    pathOf('users', '2026-02-04', 'limit=5'),
    pathOf('tokens', '2026-02-03', 'group_by=model'),
  ]);
  expect(requests[0]).toEqual({
    url: pathOf('users', '2026-02-03', 'limit=5'),
    absoluteUrl: at.emulator.url + pathOf('users', '2026-02-03', 'limit=5'),
    method: 'GET',
    headers: expect.objectContaining({ authorization: '[key]' }),
    body: '',
    bodyAsBase64: '',
    browserProxyRequest: false,
    loggedDate: Date.parse('2026-06-01T12:00:00Z'),
    loggedDateString: '2026-06-01T12:00:00.000Z',
    queryParams: {
      startDate: { key: 'startDate', values: ['2026-02-03'] },
      endDate: { key: 'endDate', values: ['2026-02-03'] },
      limit: { key: 'limit', values: ['5'] },
    },
  });
  const created = await ask(at, 'find', { method: 'POST' });
  expect(created.requests.map(({ body }: Json) => JSON.parse(body))).toContainEqual(TAGGED);
  expect(Buffer.from(created.requests[0].bodyAsBase64, 'base64').toString()).toBe(created.requests[0].body);
});
