import { gunzipSync } from 'node:zlib';
import { describe, expect, test } from 'vitest';
import { READINESS_PATH } from '../../../src/contract/paths.ts';
import type { Action } from '../../../src/emulator/faults/action.ts';
import { pathOf, probe } from '../../support/emulator/probe.ts';
import { rawGet } from '../../support/emulator/raw-get.ts';
import { testVariants } from '../../support/suite/variants.ts';

const DAY = '2026-02-03';
const PATH = pathOf('users', DAY);

async function withFault(action: Action | readonly Action[]) {
  const at = await probe({ users: 60, rules: [{ id: 'fault', action }] });
  return { ...at, counts: () => at.emulator.journal().rules[0] };
}

describe('status', () => {
  test('answers with the error body of the service', async () => {
    const at = await withFault({ type: 'status', status: 502, detail: 'upstream {{path}}' });
    const answer = await at.get(PATH);
    expect(answer.status).toBe(502);
    expect(answer.json).toEqual({
      title: 'Bad Gateway',
      detail: 'upstream /api/v1/analytics/users',
      status: 502,
      requestId: answer.headers.get('x-request-id'),
    });
    expect(at.counts()).toEqual({ id: 'fault', matches: 1, firings: 1, missed: 0 });
    expect(at.emulator.journal().byStatus).toEqual({ 502: 1 });
  });

  testVariants([
    [7, '7'],
    ['1000000000', '1000000000'],
    ['soon', 'soon'],
    [{ dateInSeconds: 90 }, 'Mon, 01 Jun 2026 12:01:30 GMT'],
    [undefined, null],
  ] as const)('sends Retry-After %j in the form %s', async (retryAfter, header) => {
    const at = await withFault({
      type: 'status',
      status: 429,
      ...(retryAfter === undefined ? {} : { retryAfter }),
    });
    const answer = await at.get(PATH);
    expect([answer.status, answer.headers.get('retry-after')]).toEqual([429, header]);
  });

  test('echoes the key of the request, and the journal still does not contain it', async () => {
    const at = await withFault({ type: 'status', status: 500, body: { detail: ['key {{apiKey}}'] } });
    const answer = await at.get(`${PATH}&key=${'canary-key-1'}`, { key: 'canary-key-1' });
    expect(answer.json).toEqual({ detail: ['key canary-key-1'] });
    expect(JSON.stringify(at.emulator.journal())).not.toContain('canary-key-1');
    expect(at.emulator.journal().recent[0]?.query).toContain('key=[key]');
  });
});

describe('body', () => {
  test('an HTML page with status 200, as a captive portal sends it', async () => {
    const answer = await (await withFault({ type: 'body', html: true })).get(PATH);
    expect([answer.status, answer.headers.get('content-type'), answer.json]).toEqual([
      200,
      'text/html; charset=utf-8',
      null,
    ]);
    expect(answer.text).toContain('<html>');
  });

  test('any text with any status and content type', async () => {
    const action: Action = { type: 'body', text: '[1e400,{{url}}]', status: 203, contentType: 'text/plain' };
    const answer = await (await withFault(action)).get('/x?y=1', { key: null });
    expect([answer.status, answer.headers.get('content-type'), answer.text]).toEqual([
      203,
      'text/plain',
      '[1e400,/x?y=1]',
    ]);
  });

  test('bytes', async () => {
    const at = await withFault({ type: 'body', base64: '/v8A' });
    expect([...(await rawGet(at.emulator, PATH, 1_500)).body]).toEqual([0xfe, 0xff, 0]);
  });
});

test('headers are set on and removed from the normal answer', async () => {
  const at = await withFault({
    type: 'headers',
    set: { 'Content-Type': 'text/csv', 'x-more': '{{query.limit}}' },
  });
  const answer = await at.get(`${PATH}&limit=3`);
  expect([answer.headers.get('content-type'), answer.headers.get('x-more')]).toEqual(['text/csv', '3']);
  expect(answer.json.data).toHaveLength(3);
  at.emulator.setRules([{ action: { type: 'headers', set: { 'content-type': null } } }]);
  expect((await at.get(PATH)).headers.get('content-type')).toBeNull();
});

test('redirect points anywhere', async () => {
  const at = await withFault({ type: 'redirect', location: 'http://127.0.0.1:9{{path}}', status: 307 });
  const answer = await at.get(PATH);
  expect([answer.status, answer.headers.get('location')]).toEqual([
    307,
    'http://127.0.0.1:9/api/v1/analytics/users',
  ]);
});

describe('spoil', () => {
  test('invalid JSON and truncated JSON have the right length and do not parse', async () => {
    for (const how of ['invalid-json', 'truncated'] as const) {
      const at = await withFault({ type: 'spoil', how });
      const answer = await at.get(PATH);
      expect([how, answer.status, answer.json]).toEqual([how, 200, null]);
    }
  });

  test('invalid UTF-8 fails a strict decoder and nothing else', async () => {
    const at = await withFault({ type: 'spoil', how: 'invalid-utf8' });
    const { body } = await rawGet(at.emulator, PATH, 1_500);
    expect(() => new TextDecoder('utf-8', { fatal: true }).decode(body)).toThrow();
    expect(JSON.parse(body.toString()).data.length).toBeGreaterThan(0);
  });

  test('a byte order mark comes first', async () => {
    const at = await withFault({ type: 'spoil', how: 'bom' });
    const { body } = await rawGet(at.emulator, PATH, 1_500);
    expect([...body.subarray(0, 4)]).toEqual([0xef, 0xbb, 0xbf, 0x7b]);
  });
});

test('a gzip bomb is small on the wire and decompresses to the requested size', {
  tags: 'ci/rare',
}, async () => {
  const at = await withFault({ type: 'gzip-bomb', bytes: 20_000_001 });
  const { head, body } = await rawGet(at.emulator, PATH, 1_500);
  expect(head).toContain('content-encoding: gzip');
  expect(body.length).toBeLessThan(40_000);
  expect(gunzipSync(body).length).toBe(20_000_001);
});

describe('cursor', () => {
  const users = async (mode: 'repeat' | 'cycle' | 'missing' | 'null' | 'empty' | 'endless', extra = '') => {
    const at = await withFault({ type: 'cursor', mode });
    return (await at.get(`${PATH}&limit=5${extra}`)).json;
  };

  test('repeat returns the cursor of the request', async () => {
    const first = await users('repeat');
    const { next_cursor } = first.meta;
    expect((await users('repeat', `&cursor=${next_cursor}`)).meta).toMatchObject({
      has_more: true,
      next_cursor,
    });
  });

  test('cycle leads back to the first page', async () => {
    const { meta, data } = await users('cycle');
    expect((await users('cycle', `&cursor=${meta.next_cursor}`)).data).toEqual(data);
  });

  test('missing, null and empty announce more pages without a cursor', async () => {
    expect((await users('missing')).meta).not.toHaveProperty('next_cursor');
    expect((await users('missing')).meta.has_more).toBe(true);
    expect((await users('null')).meta).toMatchObject({ has_more: true, next_cursor: null });
    expect((await users('empty')).meta).toMatchObject({ has_more: true, next_cursor: '' });
  });

  test('endless always returns another cursor', async () => {
    const seen = new Set<string>();
    for (let page = 0, cursor = ''; page < 20; page++) {
      const { meta } = await users('endless', cursor === '' ? '' : `&cursor=${cursor}`);
      expect(meta.has_more).toBe(true);
      seen.add(meta.next_cursor);
      cursor = meta.next_cursor;
    }
    expect(seen.size).toBe(20);
  });

  test('repeat on the readiness list serves the first page again', async () => {
    const at = await withFault({ type: 'cursor', mode: 'repeat' });
    const first = (await at.get(`${READINESS_PATH}?limit=3`)).json;
    const second = (await at.get(`${READINESS_PATH}?limit=3&startAfter=${first.reports[2].reportId}`)).json;
    expect(second).toEqual(first);
    expect(at.counts()?.missed).toBe(0);
  });

  test('without paging the rule counts as missed', async () => {
    const at = await withFault({ type: 'cursor', mode: 'repeat' });
    expect((await at.get(pathOf('tokens', DAY))).status).toBe(200);
    expect(at.counts()).toMatchObject({ firings: 1, missed: 1 });
  });
});

test('answer-as answers a different query: a row of another day, or the same page again', async () => {
  const at = await withFault({
    type: 'answer-as',
    query: { startDate: '2026-02-04', endDate: '2026-02-04', limit: null },
  });
  const answer = await at.get(`${PATH}&limit=2`);
  const reference = await probe({ users: 60 });
  expect(answer.json.data.length).toBeGreaterThan(2);
  expect(answer.json.data).toEqual(await reference.rows('users', '2026-02-04'));
  at.emulator.setRules([{ action: { type: 'answer-as', path: pathOf('tools', DAY).split('?')[0] ?? '' } }]);
  expect((await at.get(PATH)).json.data[0]).toHaveProperty('by_tool');
});

test('revise changes the data during a walk', async () => {
  const at = await probe({
    rules: [
      {
        id: 'gone',
        match: { stream: 'readiness', query: { startAfter: null } },
        action: { type: 'delay', ms: 0 },
      },
      {
        id: 'deleted',
        match: { stream: 'readiness', page: 2 },
        action: { type: 'revise', revision: { kind: 'delete-report', reportId: '{{query.startAfter}}' } },
      },
    ],
  });
  const first = (await at.get(`${READINESS_PATH}?limit=3`)).json.reports;
  const next = `${READINESS_PATH}?limit=3&startAfter=${first[2].reportId}`;
  expect((await at.get(next)).status).toBe(400);
  expect((await at.get(next)).status).toBe(400);
  const again = (await at.get(`${READINESS_PATH}?limit=3`)).json.reports;
  expect(again.slice(0, 2)).toEqual(first.slice(0, 2));
  expect(again[2].reportId).not.toBe(first[2].reportId);
  const [, deleted] = at.emulator.journal().rules;
  expect(deleted).toMatchObject({ firings: 1, missed: 0 });
});

test('characters that a header cannot hold are percent-encoded', async () => {
  const at = await withFault({ type: 'redirect', location: '/next?from={{query.x}}' });
  const answer = await at.get('/y?x=a%0d%0aset-cookie:%20b%E2%82%AC');
  expect([answer.status, answer.headers.get('location')]).toEqual([
    302,
    '/next?from=a%0D%0Aset-cookie: b%E2%82%AC',
  ]);
  expect(answer.headers.get('set-cookie')).toBeNull();
});
