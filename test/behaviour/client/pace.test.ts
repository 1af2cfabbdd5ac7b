import type { Socket } from 'node:net';
import { describe, expect, it } from 'vitest';
import { requestTo, testTransport, thrownBy } from '../../support/api/test-transport.ts';
import { FakeClock } from '../../support/clock/fake-clock.ts';
import { json, rawServer } from '../../support/network/raw-server.ts';

const OK = json({ ok: true });
const BUSY = json({}, {}, 429);

/** A server that answers when the test says so, and a transport whose clock the test moves. */
async function held(
  concurrency: number,
  maxRequestsPerMinute: number | null = null,
  requestTimeoutMs = 5000,
) {
  const waiting: Socket[] = [];
  const server = await rawServer((socket) => void waiting.push(socket));
  const clock = new FakeClock();
  const control = new AbortController();
  const transport = testTransport({
    concurrency,
    clock,
    maxRequestsPerMinute,
    requestTimeoutMs,
    attempts: 50,
  });
  return {
    clock,
    control,
    ask: (count: number) =>
      Array.from({ length: count }, () => {
        const asked = transport.get(requestTo(server.url), { signal: control.signal });
        // Those that a test leaves unanswered are rejected when it closes the transport.
        asked.catch(() => undefined);
        return asked;
      }),
    answer: (count: number, bytes: Buffer) => {
      for (const socket of waiting.splice(0, count)) socket.write(bytes);
    },
    /** Waits until this many requests are waiting for their answer. */
    expectInFlight: async (count: number) => {
      await expect.poll(() => waiting.length, { interval: 4 }).toBe(count);
      await new Promise((resolve) => setTimeout(resolve, 15));
      expect(waiting.length).toBe(count);
    },
  };
}

describe('requests in flight', () => {
  it('halve when the service refuses them, once for all in progress, and never fall below one', async () => {
    const { ask, answer, expectInFlight, clock } = await held(8);
    ask(60);
    await expectInFlight(8);
    for (const next of [4, 2, 1, 1]) {
      answer(8, BUSY);
      // Where even one is too many, the next one comes after a pause.
      await clock.advance(250);
      await expectInFlight(next);
    }
  });

  it('halve once also when nothing else is waiting', async () => {
    const { ask, answer, expectInFlight, clock } = await held(8);
    ask(8);
    await expectInFlight(8);
    answer(8, BUSY);
    await expectInFlight(0);
    await clock.advance(1000);
    await expectInFlight(4);
  });

  it('grow back one by one while the service answers, up to the limit', { tags: 'ci/rare' }, async () => {
    const { ask, answer, expectInFlight } = await held(4);
    ask(100);
    await expectInFlight(4);
    answer(4, BUSY);
    await expectInFlight(2);
    const step = async (count: number) => {
      answer(1, OK);
      await expectInFlight(count);
    };
    // Four rounds of answers at each level.
    for (let n = 0; n < 7; n += 1) await step(2);
    answer(1, OK);
    await expectInFlight(3);
    for (let n = 0; n < 11; n += 1) await step(3);
    answer(1, OK);
    await expectInFlight(4);
    for (let n = 0; n < 20; n += 1) await step(4);
  });
});

describe('a pause that the service requests', () => {
  it('delays every request, including those already waiting', async () => {
    const { ask, answer, expectInFlight, clock } = await held(2);
    ask(10);
    await expectInFlight(2);
    answer(1, json({}, { 'retry-after': '60' }, 429));
    await expectInFlight(1);
    answer(1, OK);
    await expectInFlight(0);
    await clock.advance(59_999);
    await expectInFlight(0);
    await clock.advance(1);
    await expectInFlight(1);
  });

  it('delays a request that the budget kept waiting', async () => {
    const { ask, answer, expectInFlight, clock } = await held(4, 2);
    ask(4);
    await expectInFlight(2);
    await clock.advance(30_000);
    answer(1, json({}, { 'retry-after': '100' }, 429));
    await expectInFlight(1);
    answer(1, OK);
    // The minute of the budget is over, the pause is not.
    await clock.advance(60_000);
    await expectInFlight(0);
    await clock.advance(40_000);
    await expectInFlight(2);
  });

  it('ends at once when the run is stopped', async () => {
    const { ask, answer, expectInFlight, control } = await held(2);
    const asked = ask(6).map(thrownBy);
    await expectInFlight(2);
    answer(1, json({}, { 'retry-after': '600' }, 503));
    await expectInFlight(1);
    const reason = new Error('stopped');
    const started = performance.now();
    control.abort(reason);
    expect(await Promise.all(asked)).toEqual(Array.from({ length: 6 }, () => reason));
    expect(performance.now() - started).toBeLessThan(30_000);
  });
});

describe('the budget of requests per minute', () => {
  it('also counts retries and redirects', async () => {
    const { ask, answer, expectInFlight, clock } = await held(4, 3);
    const asked = ask(2);
    await expectInFlight(2);
    answer(1, json({}, {}, 500));
    answer(1, json({}, { location: '/moved' }, 302));
    await clock.advance(1000);
    await expectInFlight(1);
    await clock.advance(58_999);
    await expectInFlight(1);
    await clock.advance(1);
    await expectInFlight(2);
    answer(2, OK);
    await Promise.all(asked);
  });

  it('waits between a redirect and its target without using up the time-out of the request', {
    tags: 'ci/rare',
  }, async () => {
    const { ask, answer, expectInFlight, clock } = await held(1, 1, 2_000);
    const [asked] = ask(1);
    await expectInFlight(1);
    answer(1, json({}, { location: '/moved' }, 302));
    await new Promise((resolve) => setTimeout(resolve, 2_500));
    await expectInFlight(0);
    await clock.advance(60_000);
    await expectInFlight(1);
    answer(1, OK);
    expect((await asked)?.body).toEqual({ ok: true });
  });

  it('ends its wait at once when the run is stopped', async () => {
    const { ask, expectInFlight, control } = await held(4, 1);
    const asked = ask(3).map(thrownBy);
    await expectInFlight(1);
    const reason = new Error('stopped');
    control.abort(reason);
    expect(await Promise.all(asked)).toEqual([reason, reason, reason]);
  });
});
