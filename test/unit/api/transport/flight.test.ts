import { setMaxListeners } from 'node:events';
import { describe, expect, test } from 'vitest';
import { createPacer } from '../../../../src/http/pace.ts';
import {
  burstEnded,
  type Flight,
  flightAnswered,
  flightOverloaded,
  flightRefused,
  mayBeTooMany,
  openFlight,
} from '../../../../src/http/rate.ts';
import { pauseOf, Refusal } from '../../../support/api/pacer-refusal.ts';
import { FakeClock } from '../../../support/clock/fake-clock.ts';

const signal = new AbortController().signal;
// Many wait for their turn.
setMaxListeners(0, signal);
const LATENCY_MS = 200;
const PAUSE_MS = 1000;

/** Runs requests against a service that allows `allowed` simultaneous requests, and returns their results. */
async function paced({
  allowed,
  concurrency,
  seconds,
  refusesAfterMs = 1,
}: {
  allowed: number;
  concurrency: number;
  seconds: number;
  refusesAfterMs?: number;
}) {
  const clock = new FakeClock();
  const pacer = createPacer({ concurrency, maxRequestsPerMinute: null, clock, pauseOf });
  let inFlight = 0;
  const answered: number[] = [];
  const refused: number[] = [];
  const levels: number[] = [];
  const send = async () => {
    // The time until the request arrives.
    await clock.sleep(1);
    inFlight += 1;
    try {
      if (inFlight > allowed) {
        await clock.sleep(refusesAfterMs);
        throw new Refusal(PAUSE_MS);
      }
      await clock.sleep(LATENCY_MS);
    } finally {
      inFlight -= 1;
    }
  };
  const workers = Array.from({ length: concurrency }, async () => {
    while (clock.monotonicMs() < seconds * 1000) {
      await pacer.run(send, signal).then(
        () => answered.push(clock.monotonicMs()),
        () => refused.push(clock.monotonicMs()),
      );
      levels.push(pacer.concurrency);
    }
  });
  await clock.advance(seconds * 1000 + 10_000);
  await Promise.all(workers);
  const since = (ms: number) => (instants: readonly number[]) => instants.filter((at) => at >= ms).length;
  return { answered, refused, levels, since };
}

describe('the limit of requests in flight', () => {
  test.each([
    { allowed: 8, concurrency: 32, refusesAfterMs: 1 },
    { allowed: 8, concurrency: 32, refusesAfterMs: LATENCY_MS },
    { allowed: 3, concurrency: 8, refusesAfterMs: 1 },
    { allowed: 3, concurrency: 8, refusesAfterMs: LATENCY_MS },
    { allowed: 20, concurrency: 64, refusesAfterMs: 1 },
    { allowed: 20, concurrency: 64, refusesAfterMs: LATENCY_MS },
    { allowed: 1, concurrency: 16, refusesAfterMs: 1 },
  ])(
    'finds within four seconds that a service allows $allowed of $concurrency simultaneous requests and refuses after $refusesAfterMs ms',
    async (service) => {
      const { answered, refused, levels, since } = await paced({ ...service, seconds: 24 });
      const share = since(4000)(answered) / ((service.allowed * 20_000) / (LATENCY_MS + 1));
      expect(share).toBeGreaterThan(0.95);
      expect(since(4000)(refused) / since(4000)(answered)).toBeLessThan(0.02);
      expect(levels.at(-1)).toBe(service.allowed);
    },
  );

  test('does not change if nothing is refused', async () => {
    const { levels, refused } = await paced({ allowed: 32, concurrency: 32, seconds: 5 });
    expect(new Set(levels)).toEqual(new Set([32]));
    expect(refused).toEqual([]);
  });
});

describe('the states of the limit', () => {
  const refusal = { epoch: 0, inFlight: 8, atMs: 0 };

  /** The limit after this many answers at full concurrency. */
  function answer(flight: Flight, count: number, atMs = 0): Flight {
    let next = flight;
    for (let n = 0; n < count; n += 1) next = flightAnswered(next, { inFlight: next.limit, atMs });
    return next;
  }

  /** A limit of 8 of which 3 were refused. */
  function afterBurst(): Flight {
    let flight = flightRefused(openFlight(8), refusal);
    for (const isRefused of [true, true]) flight = burstEnded(flight, { epoch: 0, isRefused });
    for (let n = 0; n < 5; n += 1) flight = burstEnded(flight, { epoch: 0, isRefused: false });
    return flight;
  }

  test('unproven → proven after two rounds of responses; later refusals do not lower it', () => {
    const open = openFlight(8);
    expect(open).toMatchObject({ state: 'unproven', limit: 8 });
    expect(mayBeTooMany(open)).toBe(true);
    expect(answer(open, 15).state).toBe('unproven');
    const proven = answer(open, 16);
    expect(proven).toMatchObject({ state: 'proven', limit: 8 });
    expect(mayBeTooMany(proven)).toBe(false);
  });

  test('stays unproven while fewer requests are in flight than it allows', () => {
    let flight = openFlight(8);
    for (let n = 0; n < 100; n += 1) flight = flightAnswered(flight, { inFlight: 7, atMs: 0 });
    expect(flight).toMatchObject({ state: 'unproven', limit: 8 });
  });

  test('unproven → counting after a refusal, with half of the limit → unproven at the number of successful requests', () => {
    expect(flightRefused(openFlight(8), refusal)).toMatchObject({ state: 'counting', limit: 4 });
    expect(afterBurst()).toMatchObject({ state: 'unproven', limit: 5 });
  });

  test('falls to half if the whole burst was refused, and never below one', () => {
    let flight = flightRefused(openFlight(2), { ...refusal, inFlight: 2 });
    flight = burstEnded(flight, { epoch: 0, isRefused: true });
    expect(flight.limit).toBe(1);
    expect(mayBeTooMany(flight)).toBe(false);
  });

  test('a request that was sent after the refusal is not part of its burst', () => {
    const counting = flightRefused(openFlight(8), refusal);
    expect(burstEnded(counting, { epoch: 1, isRefused: true })).toBe(counting);
  });

  test('counting ends after four rounds of responses, even if the rest of the burst is slow', () => {
    expect(answer(flightRefused(openFlight(8), refusal), 16)).toMatchObject({ state: 'unproven', limit: 7 });
  });

  test('proven → trying one more → proven', () => {
    const trying = answer(afterBurst(), 5 * 4);
    expect(trying).toMatchObject({ state: 'trying', limit: 6, proven: 5 });
    expect(answer(trying, 6 * 2)).toMatchObject({ state: 'proven', limit: 6, proven: 6 });
  });

  test('trying → held after a refusal → trying after a pause that grows each time', () => {
    const held = flightRefused(answer(afterBurst(), 5 * 4), { ...refusal, atMs: 1000 });
    expect(held).toMatchObject({ state: 'held', limit: 5, heldUntilMs: 31_000 });
    expect(mayBeTooMany(held)).toBe(false);
    expect(answer(held, 500, 30_999)).toMatchObject({ state: 'held', limit: 5 });
    const trying = answer(held, 5 * 4, 31_000);
    expect(trying).toMatchObject({ state: 'trying', limit: 6 });
    expect(flightRefused(trying, { ...refusal, atMs: 40_000 }).heldUntilMs).toBe(100_000);
  });

  test('any state → half of the limit after an overload', () => {
    expect(flightOverloaded(answer(openFlight(8), 16))).toMatchObject({
      state: 'proven',
      limit: 4,
      proven: 4,
    });
    expect(flightOverloaded(openFlight(1)).limit).toBe(1);
  });
});
