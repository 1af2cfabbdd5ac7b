import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { createPacer } from '../../../../src/http/pace.ts';
import { pauseOf, Refusal } from '../../../support/api/pacer-refusal.ts';
import { thrownBy } from '../../../support/api/test-transport.ts';
import { FakeClock } from '../../../support/clock/fake-clock.ts';

const WINDOW_MS = 60_000;
const signal = new AbortController().signal;

function pacerOf(options: {
  concurrency: number;
  maxRequestsPerMinute?: number | null;
  maxRequests?: number;
  clock: FakeClock;
}) {
  return createPacer({ maxRequestsPerMinute: null, pauseOf, ...options });
}

describe('a pacer', () => {
  it('never starts more requests per minute than the budget, however late timers fire', async () => {
    await fc.assert(
      fc.asyncProperty(
        fc.integer({ min: 1, max: 7 }),
        fc.integer({ min: 1, max: 5 }),
        fc.array(fc.nat({ max: 40_000 }), { minLength: 1, maxLength: 30 }),
        fc.array(fc.nat({ max: 900 }), { minLength: 1 }),
        async (perMinute, concurrency, arrivals, lateness) => {
          let late = 0;
          const clock = new FakeClock({ lateMs: () => lateness[late++ % lateness.length] ?? 0 });
          const pacer = pacerOf({ concurrency, maxRequestsPerMinute: perMinute, clock });
          const begun: number[] = [];
          const all = arrivals.map(async (at) => {
            await clock.sleep(at);
            await pacer.run(async () => void begun.push(clock.monotonicMs()), signal);
          });
          await clock.advance((arrivals.length / perMinute + 3) * 2 * WINDOW_MS);
          await Promise.all(all);
          expect(begun).toHaveLength(arrivals.length);
          for (const start of begun) {
            const within = begun.filter((instant) => instant >= start && instant < start + WINDOW_MS);
            expect(within.length).toBeLessThanOrEqual(perMinute);
          }
        },
      ),
      { numRuns: 40 },
    );
  });

  it('uses the whole budget: no request waits while some is left', async () => {
    const clock = new FakeClock();
    const pacer = pacerOf({ concurrency: 4, maxRequestsPerMinute: 3, clock });
    const begun: number[] = [];
    const all = Array.from({ length: 8 }, () =>
      pacer.run(async () => void begun.push(clock.monotonicMs()), signal),
    );
    await clock.advance(3 * WINDOW_MS);
    await Promise.all(all);
    expect(begun).toEqual([0, 0, 0, WINDOW_MS, WINDOW_MS, WINDOW_MS, 2 * WINDOW_MS, 2 * WINDOW_MS]);
  });

  it('keeps at least one request and at most the concurrency in flight, whatever the service responds', async () => {
    const answers = fc.array(fc.constantFrom('ok', 'refused', 'failed'), { minLength: 1, maxLength: 120 });
    await fc.assert(
      fc.asyncProperty(fc.integer({ min: 1, max: 9 }), answers, async (concurrency, outcomes) => {
        const clock = new FakeClock();
        const pacer = pacerOf({ concurrency, clock });
        let inFlight = 0;
        let most = 0;
        const levels = new Set<number>();
        const all = outcomes.map((outcome) =>
          pacer
            .run(async () => {
              inFlight += 1;
              most = Math.max(most, inFlight);
              await clock.sleep(10);
              inFlight -= 1;
              if (outcome === 'refused') throw new Refusal(0);
              if (outcome === 'failed') throw new Error('cut');
            }, signal)
            .catch(() => undefined)
            .finally(() => levels.add(pacer.concurrency)),
        );
        await clock.advance(outcomes.length * 10_000);
        await Promise.all(all);
        expect(most).toBeLessThanOrEqual(concurrency);
        expect(Math.min(...levels)).toBeGreaterThanOrEqual(1);
        expect(Math.max(...levels)).toBeLessThanOrEqual(concurrency);
      }),
      { numRuns: 60 },
    );
  });

  it('halves once for a burst of refusals, and again if a later request is refused', async () => {
    const clock = new FakeClock({ auto: true });
    const pacer = pacerOf({ concurrency: 16, clock });
    const burst = (size: number) =>
      Promise.all(
        Array.from({ length: size }, () => thrownBy(pacer.run(() => Promise.reject(new Refusal(0)), signal))),
      );
    const levels: number[] = [];
    for (let n = 0; n < 6; n += 1) {
      await burst(pacer.concurrency);
      levels.push(pacer.concurrency);
    }
    expect(levels).toEqual([8, 4, 2, 1, 1, 1]);
  });

  it('halves after an overload, even at a proven concurrency, and recovers', async () => {
    const clock = new FakeClock({ auto: true });
    const overload = { pauseMs: 0, cause: 'overload' } as const;
    const pacer = createPacer({
      concurrency: 8,
      maxRequestsPerMinute: null,
      clock,
      pauseOf: (error) => (error instanceof Refusal ? overload : undefined),
    });
    const burst = (fail: boolean) =>
      Promise.allSettled(
        Array.from({ length: pacer.concurrency }, () =>
          pacer.run(async () => {
            await clock.sleep(1);
            if (fail) throw new Refusal(0);
          }, signal),
        ),
      );
    const levels: number[] = [];
    for (const fail of [false, true, true, ...Array.from({ length: 40 }, () => false)]) {
      await burst(fail);
      levels.push(pacer.concurrency);
    }
    expect(levels.slice(0, 3)).toEqual([8, 4, 2]);
    expect(levels.at(-1)).toBe(8);
  });

  it('sends exactly as many requests as allowed, even if many wait', async () => {
    const clock = new FakeClock({ auto: true });
    const pacer = pacerOf({ concurrency: 4, maxRequestsPerMinute: 3, maxRequests: 7, clock });
    let begun = 0;
    const all = await Promise.allSettled(
      Array.from({ length: 20 }, () =>
        pacer.run(async () => {
          begun += 1;
        }, signal),
      ),
    );
    expect(begun).toBe(7);
    expect(all.filter(({ status }) => status === 'fulfilled')).toHaveLength(7);
    expect(await thrownBy(pacer.turn(signal))).toMatchObject({ name: 'RequestsSpentError', exitCode: 4 });
  });

  it('does not slow down after failures that are not refusals', async () => {
    const pacer = pacerOf({ concurrency: 8, clock: new FakeClock() });
    for (let n = 0; n < 20; n += 1) await thrownBy(pacer.run(() => Promise.reject(new Error('cut')), signal));
    expect(pacer.concurrency).toBe(8);
  });

  it('returns to the full concurrency after enough successful responses', async () => {
    const pacer = pacerOf({ concurrency: 5, clock: new FakeClock() });
    await thrownBy(pacer.run(() => Promise.reject(new Refusal(0)), signal));
    expect(pacer.concurrency).toBe(2);
    const answers: number[] = [];
    for (let n = 1; n <= 60; n += 1) {
      await pacer.run(async () => undefined, signal);
      if (pacer.concurrency !== (answers.length === 0 ? 2 : 2 + answers.length)) answers.push(n);
    }
    // Four rounds at two in flight, four more at three, and at four.
    expect(answers).toEqual([8, 20, 36]);
    expect(pacer.concurrency).toBe(5);
  });

  it('delays all requests until the longest pause is over', async () => {
    const clock = new FakeClock();
    const pacer = pacerOf({ concurrency: 4, clock });
    const refuse = (pauseMs: number) =>
      thrownBy(pacer.run(() => Promise.reject(new Refusal(pauseMs)), signal));
    await Promise.all([refuse(5000), refuse(20_000), refuse(1000)]);
    const begun: number[] = [];
    const all = Array.from({ length: 3 }, () =>
      pacer.run(async () => void begun.push(clock.monotonicMs()), signal),
    );
    const hop = pacer.turn(signal).then(() => begun.push(clock.monotonicMs()));
    await clock.advance(19_999);
    expect(begun).toEqual([]);
    await clock.advance(1);
    await Promise.all([...all, hop]);
    expect(begun).toEqual([20_000, 20_000, 20_000, 20_000]);
  });

  it('starts no request after an abort', async () => {
    const clock = new FakeClock();
    const pacer = pacerOf({ concurrency: 1, maxRequestsPerMinute: 1, clock });
    const control = new AbortController();
    const reason = new Error('stopped');
    const begun: number[] = [];
    const send = async () => void begun.push(clock.monotonicMs());
    const all = Array.from({ length: 5 }, () =>
      pacer.run(send, control.signal).catch((error: unknown) => error),
    );
    await clock.advance(10);
    control.abort(reason);
    expect(await Promise.all(all)).toEqual([undefined, reason, reason, reason, reason]);
    expect(begun).toEqual([0]);
    expect(clock.sleeping).toBe(0);
  });
});
