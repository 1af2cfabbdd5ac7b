// @module-tag campaign/pace

import { setMaxListeners } from 'node:events';
import { describe, expect, it } from 'vitest';
import type { RateLimitQuirk } from '../../../src/emulator/quirks.ts';
import { openRateLimiter } from '../../../src/emulator/service.ts';
import { createPacer } from '../../../src/http/pace.ts';
import { pauseOf, Refusal } from '../../support/api/pacer-refusal.ts';
import { FakeClock } from '../../support/clock/fake-clock.ts';
import { testVariants } from '../../support/suite/variants.ts';

const signal = new AbortController().signal;
// As a run does: every request that waits for its turn listens.
setMaxListeners(0, signal);

interface Drive {
  readonly quirk: RateLimitQuirk | ((ms: number) => RateLimitQuirk | null);
  readonly concurrency?: number;
  readonly latencyMs?: number;
  readonly forMs?: number;
  /** When counting begins: until then the limit is being found. */
  readonly fromMs?: number;
  /** False if the refusals have no Retry-After. */
  readonly tellsWait?: boolean;
}

/** Sends requests through a pacer to the limiter of the emulator, with requests always waiting, and counts the results. */
async function drive({
  quirk,
  concurrency = 8,
  latencyMs = 50,
  forMs = 120_000,
  fromMs = 10_000,
  tellsWait = true,
}: Drive) {
  const clock = new FakeClock({ lateMs: () => 1 });
  const limiter = openRateLimiter();
  const pacer = createPacer({ concurrency, maxRequestsPerMinute: null, clock, pauseOf });
  const counts = { accepted: 0, refused: 0, acceptedLate: 0, refusedLate: 0 };
  let inFlight = 0;
  const send = async () => {
    inFlight += 1;
    const nowMs = clock.monotonicMs();
    const rules = typeof quirk === 'function' ? quirk(nowMs) : quirk;
    const wait = limiter.waitSeconds(rules, nowMs, inFlight);
    await clock.sleep(latencyMs);
    inFlight -= 1;
    const isLate = nowMs >= fromMs && nowMs < forMs;
    if (wait === null) {
      counts.accepted += 1;
      counts.acceptedLate += Number(isLate);
      return;
    }
    counts.refused += 1;
    counts.refusedLate += Number(isLate);
    throw new Refusal(tellsWait ? wait * 1000 : 0);
  };
  const worker = async () => {
    while (clock.monotonicMs() < forMs) {
      await pacer.run(send, signal).catch((error: unknown) => {
        if (!(error instanceof Refusal)) throw error;
        // As the transport waits before it repeats a request.
        return clock.sleep(error.pauseMs + 250);
      });
    }
  };
  const all = Promise.all(Array.from({ length: concurrency }, worker));
  await clock.advance(forMs + 400_000);
  await all;
  const refusedShare = counts.refusedLate / (counts.acceptedLate + counts.refusedLate);
  const perMinuteLate = (counts.acceptedLate / (forMs - fromMs)) * 60_000;
  return { ...counts, refusedShare, perMinuteLate };
}

/** Prints the measurements on request. */
function printMeasured(
  what: string,
  allowed: number,
  measured: { perMinuteLate: number; refusedShare: number },
): void {
  if (process.env['DAYWALK_CHAOS'] === undefined) return;
  const share = ((100 * measured.perMinuteLate) / allowed).toFixed(1);
  const refused = (100 * measured.refusedShare).toFixed(2);
  process.stdout.write(`pace, simulated: ${what}: ${share} % of the allowed rate, ${refused} % refused\n`);
}

describe('a service with a rate limit gets at least nine tenths of the allowed requests, and few more', () => {
  testVariants<[string, Drive & { allowed: number }]>([
    ['60, in a burst at once', { allowed: 60, quirk: { requestsPerMinute: 60 } }],
    ['60, one by one', { allowed: 60, quirk: { requestsPerMinute: 60, burst: 1 } }],
    ['60, ten at once', { allowed: 60, quirk: { requestsPerMinute: 60, burst: 10 } }],
    [
      '10, one by one',
      { allowed: 10, quirk: { requestsPerMinute: 10, burst: 1 }, fromMs: 60_000, forMs: 900_000 },
    ],
    ['600, a few at once', { allowed: 600, quirk: { requestsPerMinute: 600, burst: 10 } }],
    [
      '60, without a word how long to wait',
      { allowed: 60, tellsWait: false, quirk: { requestsPerMinute: 60, burst: 5 }, forMs: 240_000 },
    ],
    ['600, slowly answered', { allowed: 600, latencyMs: 400, quirk: { requestsPerMinute: 600, burst: 10 } }],
    ['60 of 64 at once', { allowed: 60, concurrency: 64, quirk: { requestsPerMinute: 60, burst: 5 } }],
  ])('%s', async (what, { allowed, ...how }) => {
    const measured = await drive(how);
    const { perMinuteLate, refusedShare, refused } = measured;
    printMeasured(`${what} a minute`, allowed, measured);
    expect(refused, 'the limit was met').toBeGreaterThan(0);
    expect(perMinuteLate).toBeGreaterThanOrEqual(allowed * 0.9);
    expect(refusedShare).toBeLessThan(0.02);
  });
});

describe('a service that refuses everything for a while from time to time', () => {
  it('gets the former rate soon after it answers again', async () => {
    const isDown = (ms: number) => ms % 20_000 >= 18_000;
    const quirk = (ms: number) => (isDown(ms) ? { inFlight: 0 } : null);
    const { perMinuteLate, refusedShare, refused } = await drive({ quirk, latencyMs: 100, forMs: 120_000 });
    expect(refused).toBeGreaterThan(0);
    expect(perMinuteLate).toBeGreaterThanOrEqual(((8 * 60_000) / 101) * 0.9 * 0.9);
    expect(refusedShare).toBeLessThan(0.02);
  });
});

describe('a service whose limit changes', () => {
  it('gets fewer requests when it allows fewer, and more when it allows more', {
    tags: 'ci/rare',
  }, async () => {
    const quirk = (ms: number) => ({ requestsPerMinute: ms < 60_000 ? 600 : 120, burst: 5 });
    const less = await drive({ quirk, fromMs: 80_000, forMs: 200_000 });
    expect(less.perMinuteLate).toBeGreaterThanOrEqual(120 * 0.9);
    expect(less.refusedShare).toBeLessThan(0.02);
    const back = (ms: number) => ({ requestsPerMinute: ms < 60_000 ? 120 : 600, burst: 5 });
    const more = await drive({ quirk: back, fromMs: 300_000, forMs: 400_000 });
    expect(more.perMinuteLate).toBeGreaterThanOrEqual(600 * 0.9);
    expect(more.refusedShare).toBeLessThan(0.02);
  });
});

describe('a service with a limit of simultaneous requests gets that many', () => {
  testVariants<[string, Drive & { allowed: number }]>([
    ['8 of 16', { allowed: 8, concurrency: 16, quirk: { inFlight: 8 } }],
    ['8 of 12', { allowed: 8, concurrency: 12, quirk: { inFlight: 8 } }],
    ['8 of 64', { allowed: 8, concurrency: 64, quirk: { inFlight: 8 } }],
    [
      '8 of 64, without a word how long to wait',
      { allowed: 8, tellsWait: false, concurrency: 64, quirk: { inFlight: 8 } },
    ],
    ['3 of 8', { allowed: 3, concurrency: 8, quirk: { inFlight: 3 } }],
    ['1 of 8', { allowed: 1, concurrency: 8, quirk: { inFlight: 1 } }],
  ])('%s', async (what, { allowed, ...how }) => {
    const measured = await drive({ ...how, latencyMs: 100, forMs: 60_000 });
    const { perMinuteLate, refusedShare, refused } = measured;
    printMeasured(`${what} in flight`, (allowed * 60_000) / 101, measured);
    expect(refused, 'the limit was met').toBeGreaterThan(0);
    // A timer that fires one millisecond late is part of each answer's time.
    expect(perMinuteLate).toBeGreaterThanOrEqual(((allowed * 60_000) / 101) * 0.9);
    expect(refusedShare).toBeLessThan(0.02);
  });
});
