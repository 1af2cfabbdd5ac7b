import { setMaxListeners } from 'node:events';
import { describe, expect, test } from 'vitest';
import { Borne } from '../../../../src/api/transport/borne.ts';
import { type FlightLimit, flightLimit } from '../../../../src/api/transport/flight-limit.ts';
import { createPacer } from '../../../../src/api/transport/pacer.ts';
import { pauseOf, Refusal } from '../../../support/api/pacer-refusal.ts';
import { FakeClock } from '../../../support/clock/fake-clock.ts';

const signal = new AbortController().signal;
// Many wait for their turn.
setMaxListeners(0, signal);
const LATENCY_MS = 200;
const PAUSE_MS = 1000;

/** What a run of requests against a service that bears so many at once comes to. */
async function paced({
  bears,
  concurrency,
  seconds,
  refusesAfterMs = 1,
}: {
  bears: number;
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
    // The way there.
    await clock.sleep(1);
    inFlight += 1;
    try {
      if (inFlight > bears) {
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
    { bears: 8, concurrency: 32, refusesAfterMs: 1 },
    { bears: 8, concurrency: 32, refusesAfterMs: LATENCY_MS },
    { bears: 3, concurrency: 8, refusesAfterMs: 1 },
    { bears: 3, concurrency: 8, refusesAfterMs: LATENCY_MS },
    { bears: 20, concurrency: 64, refusesAfterMs: 1 },
    { bears: 20, concurrency: 64, refusesAfterMs: LATENCY_MS },
    { bears: 1, concurrency: 16, refusesAfterMs: 1 },
  ])(
    'finds the $bears of $concurrency simultaneous requests that a service allows within four seconds, also with refusals after $refusesAfterMs ms',
    async (service) => {
      const { answered, refused, levels, since } = await paced({ ...service, seconds: 24 });
      const share = since(4000)(answered) / ((service.bears * 20_000) / (LATENCY_MS + 1));
      expect(share).toBeGreaterThan(0.95);
      expect(since(4000)(refused) / since(4000)(answered)).toBeLessThan(0.02);
      expect(levels.at(-1)).toBe(service.bears);
    },
  );

  test('stays where nothing is refused', async () => {
    const { levels, refused } = await paced({ bears: 32, concurrency: 32, seconds: 5 });
    expect(new Set(levels)).toEqual(new Set([32]));
    expect(refused).toEqual([]);
  });
});

describe('an answer that comes long after a refusal', () => {
  /** A limit of 8 that has fallen to 5 while another request stays in flight, which began before. */
  function fallen() {
    const flight = flightLimit(8, new FakeClock());
    const slow = { began: flight.begin() };
    const [refused, ...others] = Array.from({ length: 6 }, () => ({ began: flight.begin() }));
    for (const other of others) flight.accepted({ ...other, inFlight: 7 });
    flight.refused(refused ?? slow);
    expect(flight.now).toBe(5);
    return { flight, slow };
  }

  /** Answers of requests that are sent one after the other, as others stay in flight. */
  function answer(flight: FlightLimit, count: number): void {
    for (let n = 0; n < count; n += 1) flight.accepted({ began: flight.begin(), inFlight: flight.now });
  }

  test('tells that one more was borne', () => {
    const { flight, slow } = fallen();
    flight.acceptedLate(slow);
    expect(flight.now).toBe(6);
  });

  test('does not take back what was borne since', () => {
    const { flight, slow } = fallen();
    answer(flight, 5 * 4 + 6 * 4);
    expect(flight.now).toBe(7);
    flight.acceptedLate(slow);
    expect(flight.now).toBe(7);
  });

  test('does not take back what was borne at the refusal, which is forgotten by then', () => {
    const flight = flightLimit(8, new FakeClock());
    const slow = { began: flight.begin() };
    const [refused, ...others] = Array.from({ length: 8 }, () => ({ began: flight.begin() }));
    for (const other of others) flight.accepted({ ...other, inFlight: 8 });
    flight.refused(refused ?? slow);
    expect(flight.now).toBe(7);
    answer(flight, 7 * 4 - 1);
    flight.acceptedLate(slow);
    expect(flight.now).toBe(7);
  });
});

describe('what was borne', () => {
  test('is the most answered requests that were in flight together', () => {
    const borne = new Borne(8);
    const [a, b, c] = [borne.tick(), borne.tick(), borne.tick()];
    borne.answered(a);
    const d = borne.tick();
    borne.answered(b);
    borne.answered(d);
    borne.answered(c);
    expect(borne.together({ from: 0, to: borne.tick() })).toBe(3);
  });

  test('does not count one after the other, nor what was over before', () => {
    const borne = new Borne(8);
    for (let n = 0; n < 5; n += 1) borne.answered(borne.tick());
    const from = borne.tick();
    expect(borne.together({ from, to: borne.tick() })).toBe(0);
    for (let n = 0; n < 5; n += 1) borne.answered(borne.tick());
    expect(borne.together({ from, to: borne.tick() })).toBe(1);
  });

  test('counts what was in flight at a refusal and is answered later', () => {
    const borne = new Borne(8);
    const others = [borne.tick(), borne.tick()];
    const refusal = { from: borne.tick(), to: borne.tick() };
    expect(borne.together(refusal)).toBe(0);
    for (const other of others) borne.answered(other);
    expect(borne.together(refusal)).toBe(2);
  });

  test('remembers no more than it needs', () => {
    const borne = new Borne(1);
    const from = borne.tick();
    borne.answered(from);
    for (let n = 0; n < 4; n += 1) borne.answered(borne.tick());
    expect(borne.together({ from: from - 1, to: from + 1 })).toBe(0);
  });
});
