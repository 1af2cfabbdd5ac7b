import { expect, test } from 'vitest';
import { type Probe, pathOf, probe } from '../../support/emulator/probe.ts';

const PATH = pathOf('activity', '2026-02-03');

/** A clock that a test moves. */
function handClock() {
  let ms = 0;
  return {
    advance(by: number) {
      ms += by;
    },
    now: () => new Date('2026-06-01T06:00:00Z'),
    monotonicMs: () => ms,
    sleep: () => Promise.resolve(),
  };
}

async function statuses(at: Probe, requests: number): Promise<number[]> {
  const seen: number[] = [];
  for (let i = 0; i < requests; i++) seen.push((await at.get(PATH)).status);
  return seen;
}

test('a rate with a burst: excess requests get 429 until the bucket has refilled', async () => {
  const clock = handClock();
  const at = await probe({ clock, quirks: { rateLimit: { requestsPerMinute: 60, burst: 3 } } });
  expect(await statuses(at, 5)).toEqual([200, 200, 200, 429, 429]);
  const refused = await at.get(PATH);
  expect(refused.headers.get('retry-after')).toBe('1');
  expect(refused.json).toMatchObject({ title: 'Too Many Requests', status: 429 });
  clock.advance(1_000);
  expect(await statuses(at, 2)).toEqual([200, 429]);
  clock.advance(600_000);
  expect(await statuses(at, 4)).toEqual([200, 200, 200, 429]);
});

test('without a burst, all requests of one minute may arrive at once', async () => {
  const at = await probe({ clock: handClock(), quirks: { rateLimit: { requestsPerMinute: 10 } } });
  expect(await statuses(at, 11)).toEqual([...Array.from({ length: 10 }, () => 200), 429]);
});

test.each([
  ['seconds', '6'],
  ['date', 'Mon, 01 Jun 2026 06:00:06 GMT'],
  ['garbage', 'in a little while'],
  ['absent', null],
] as const)('Retry-After as %s', async (retryAfter, header) => {
  const quirks = { rateLimit: { requestsPerMinute: 10, burst: 1, retryAfter } };
  const at = await probe({ clock: handClock(), quirks });
  await at.get(PATH);
  const refused = await at.get(PATH);
  expect([refused.status, refused.headers.get('retry-after')]).toEqual([429, header]);
});

test('too many simultaneous requests get 429; the same requests in sequence do not', async () => {
  const at = await probe({ quirks: { rateLimit: { inFlight: 2 } } });
  expect(await statuses(at, 4)).toEqual([200, 200, 200, 200]);
  at.emulator.setLatency(80);
  const together = await Promise.all(Array.from({ length: 5 }, () => at.get(PATH)));
  expect(together.map(({ status }) => status).sort()).toEqual([200, 200, 429, 429, 429]);
  expect(at.emulator.journal().inFlightMax).toBe(5);
});

test('requests without a valid key do not count towards the rate', async () => {
  const at = await probe({ clock: handClock(), quirks: { rateLimit: { requestsPerMinute: 1 } } });
  for (let i = 0; i < 3; i++) expect((await at.get(PATH, { key: 'wrong' })).status).toBe(401);
  expect(await statuses(at, 2)).toEqual([200, 429]);
});
