import { request as httpRequest } from 'node:http';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { ANALYTICS_PATHS, READINESS_PATH } from '../../../src/contract/paths.ts';
import { parseDay } from '../../../src/core/day.ts';
import { DAILY_STREAMS } from '../../../src/core/stream.ts';
import { type Emulator, startEmulator } from '../../../src/emulator/emulator.ts';
import { type Answer, type Probe, pathOf, probe, probeOf, TODAY } from '../../support/emulator/probe.ts';

let emulator: Emulator;
let at: Probe;
beforeAll(async () => {
  emulator = await startEmulator({ today: TODAY });
  at = probeOf(emulator);
});
afterAll(() => emulator.close());

function expectProblem(answer: Answer, status: number, title: string, detail: RegExp): void {
  expect(answer.status).toBe(status);
  expect(answer.headers.get('content-type')).toMatch(/^application\/json/);
  expect(Object.keys(answer.json)).toEqual(['title', 'detail', 'status', 'requestId']);
  expect(answer.json).toMatchObject({ title, status, requestId: answer.headers.get('x-request-id') });
  expect(answer.json.detail).toMatch(detail);
  expect(answer.json.requestId).toMatch(/^req_[0-9A-Z]{24}$/);
}

const BAD_RANGES: readonly [string, string, RegExp][] = [
  ['no dates', '', /startDate is required/],
  ['no endDate', 'startDate=2026-02-01', /endDate is required/],
  ['an empty date', 'startDate=&endDate=2026-02-01', /startDate is required/],
  ['another format', 'startDate=02/01/2026&endDate=2026-02-01', /Invalid date format for startDate/],
  ['an instant', 'startDate=2026-02-01T00:00:00Z&endDate=2026-02-02', /Invalid date format for startDate/],
  [
    'a day that does not exist',
    'startDate=2026-02-28&endDate=2026-02-29',
    /endDate "2026-02-29": not a calendar day/,
  ],
  ['a reversed range', 'startDate=2026-02-02&endDate=2026-02-01', /startDate 2026-02-02 is after endDate/],
  ["today's date", 'startDate=2026-06-01&endDate=2026-06-01', /^Cannot query today's date \(2026-06-01\)/],
  ["a range until today's date", 'startDate=2026-05-30&endDate=2026-06-01', /^Cannot query today's date/],
  ['a future date', 'startDate=2026-05-30&endDate=2026-06-02', /future date 2026-06-02/],
  [
    'two start dates',
    'startDate=2026-02-01&startDate=2026-02-01&endDate=2026-02-01',
    /startDate is given 2 times/,
  ],
];

describe.each(DAILY_STREAMS)('%s', (stream) => {
  test.each(BAD_RANGES)('refuses %s with 400', async (_, query, detail) => {
    expectProblem(await at.get(`${ANALYTICS_PATHS[stream]}?${query}`), 400, 'Bad Request', detail);
  });

  test('answers a range of any length, and the newest day', async () => {
    expect((await at.get(pathOf(stream, '2026-01-14..2026-05-31'))).status).toBe(200);
    expect((await at.get(pathOf(stream, '1990-01-01..2026-01-20'))).status).toBe(200);
    expect((await at.get(pathOf(stream, '2026-05-31'))).json.data.length).toBeGreaterThan(0);
  });

  test('answers by role: owner and manager 200, member and guest 403, others 401', async () => {
    const path = pathOf(stream, '2026-02-03');
    expect((await at.get(path, { key: emulator.keys.owner })).status).toBe(200);
    expect((await at.get(path, { key: emulator.keys.manager })).status).toBe(200);
    for (const role of ['member', 'guest'] as const) {
      const answer = await at.get(path, { key: emulator.keys[role] });
      expectProblem(answer, 403, 'Forbidden', new RegExp(`Manager or Owner role.*a ${role}$`));
    }
    expectProblem(await at.get(path, { key: null }), 401, 'Unauthorized', /Missing API key/);
    expectProblem(await at.get(path, { key: 'wrong' }), 401, 'Unauthorized', /Invalid API key/);
    const basic = await at.get(path, { key: null, headers: { authorization: `Basic ${emulator.apiKey}` } });
    expectProblem(basic, 401, 'Unauthorized', /Missing API key/);
    expect(basic.headers.get('www-authenticate')).toBe('Bearer');
  });
});

test.each(['0', '101', '-1', 'ten', '1.5', '', '1e2', '99999999999999999999'])(
  'the users limit %j is refused',
  async (limit) => {
    const answer = await at.get(pathOf('users', '2026-02-03', `limit=${limit}`));
    expectProblem(answer, 400, 'Bad Request', /limit.*must be a whole number from 1 to 100/);
  },
);

test('the users limit is 20 unless given', async () => {
  expect(await at.rows('users', '2026-03-10')).toHaveLength(20);
  expect(await at.rows('users', '2026-03-10', 'limit=1')).toHaveLength(1);
});

test.each(['0', '-3', 'all', '1.5', ''])('the readiness limit %j is refused', async (limit) => {
  const answer = await at.get(`${READINESS_PATH}?limit=${limit}`);
  expectProblem(answer, 400, 'Bad Request', /limit.*must be a positive integer/);
});

test.each(['1', '007', '1000000000000000', '9007199254740993', '9'.repeat(400)])(
  'the readiness limit %s is a positive integer, and the cap of the service decides',
  async (limit) => {
    const answer = await at.get(`${READINESS_PATH}?limit=${limit}`);
    expect(answer.status).toBe(200);
    expect(answer.json.reports).toHaveLength(Math.min(Number(limit), 100));
  },
);

test('an unknown startAfter is refused', async () => {
  const answer = await at.get(`${READINESS_PATH}?startAfter=7d1f2b54-0000-4000-8000-000000000000`);
  expectProblem(answer, 400, 'Bad Request', /no such report/);
});

test('readiness needs a key and no role', async () => {
  for (const key of Object.values(emulator.keys))
    expect((await at.get(READINESS_PATH, { key })).status).toBe(200);
  expectProblem(await at.get(READINESS_PATH, { key: null }), 401, 'Unauthorized', /Missing API key/);
});

test.each(['/api', '/api/v1/analytics', '/api/v1/analytics/users/', '/api/v2/analytics/users'])(
  '%s is not found',
  async (path) => {
    expectProblem(await at.get(path), 404, 'Not Found', /There is nothing at/);
  },
);

test.each(['POST', 'PUT', 'DELETE', 'PATCH'])('%s is answered 405 with Allow', async (method) => {
  for (const path of [pathOf('users', '2026-02-03'), READINESS_PATH]) {
    const response = await fetch(emulator.url + path, {
      method,
      headers: { authorization: `Bearer ${emulator.apiKey}` },
      body: '{"ignored":true}',
    });
    expect([response.status, response.headers.get('allow')]).toEqual([405, 'GET, OPTIONS']);
    expect(await response.json()).toMatchObject({ title: 'Method Not Allowed', status: 405 });
  }
});

test('a query may have encoded names and values, and unknown parameters', async () => {
  const plain = await at.get(pathOf('users', '2026-02-03', 'limit=5'));
  const odd = await at.get(
    `${ANALYTICS_PATHS.users}?start%44ate=2026%2D02-03&endDate=2026-02-03&limit=5&foo=bar&&`,
  );
  expect(odd.text).toBe(plain.text);
});

test('the Date header shows the emulated day, with the time of day of the injected clock', async () => {
  expect((await at.get('/nowhere')).headers.get('date')).toBe('Mon, 01 Jun 2026 12:00:00 GMT');
  const clock = {
    now: () => new Date('2031-07-09T03:04:05.678Z'),
    monotonicMs: () => 0,
    sleep: () => Promise.resolve(),
  };
  const timed = await probe({ clock });
  expect((await timed.get('/nowhere')).headers.get('date')).toBe('Mon, 01 Jun 2026 03:04:05 GMT');
  timed.emulator.setToday(parseDay('2026-06-30'));
  expect((await timed.get('/nowhere')).headers.get('date')).toBe('Tue, 30 Jun 2026 03:04:05 GMT');
});

test('a HEAD request is refused without a body', async () => {
  const { status, body } = await new Promise<{ status: number; body: string }>((resolve, reject) => {
    const request = httpRequest(emulator.url + READINESS_PATH, { method: 'HEAD' }, (response) => {
      let body = '';
      response.on('data', (chunk) => {
        body += chunk;
      });
      response.on('end', () => resolve({ status: response.statusCode ?? 0, body }));
    });
    request.on('error', reject);
    request.end();
  });
  expect([status, body]).toEqual([405, '']);
});
