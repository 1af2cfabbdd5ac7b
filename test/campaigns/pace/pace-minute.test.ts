// @module-tag campaign/pace

import { setTimeout as delay } from 'node:timers/promises';
import { beforeEach, describe, expect, test } from 'vitest';
import { parseDay } from '../../../src/core/day.ts';
import { StoppedError } from '../../../src/core/errors.ts';
import type { Quirks } from '../../../src/emulator/quirks.ts';
import { createRig, type Rig } from '../../support/rig/rig.ts';

const WARM_UP_MS = 10_000;
const TODAY = parseDay('2026-12-31');

interface Measured {
  readonly acceptedPerMinute: number;
  readonly refusedShare: number;
}

/** Counts the answers of a run from its eleventh second on, then stops it. */
async function measure(
  rig: Rig,
  { concurrency, forMs }: { concurrency: number; forMs: number },
): Promise<Measured> {
  const control = new AbortController();
  const settings = { concurrency, rangeDays: 1, attempts: 20 };
  const ran = rig.run({ now: TODAY, settings, signal: control.signal });
  const counts = () => {
    const { byStatus } = rig.emulator.journal();
    return { accepted: byStatus['200'] ?? 0, refused: byStatus['429'] ?? 0, atMs: performance.now() };
  };
  await delay(WARM_UP_MS);
  const from = counts();
  await delay(forMs);
  const until = counts();
  control.abort(new StoppedError('SIGTERM'));
  const { report } = await ran;
  expect(report).toMatchObject({ exitCode: 143, unitsFailed: 0 });
  const accepted = until.accepted - from.accepted;
  const refused = until.refused - from.refused;
  return {
    acceptedPerMinute: (accepted / (until.atMs - from.atMs)) * 60_000,
    refusedShare: refused / Math.max(1, accepted + refused),
  };
}

/** A year with many pages, so that no run ends before it is stopped. */
const yearOf = (quirks: Partial<Quirks>, latencyMs = 0) =>
  createRig({ today: TODAY, users: 100, latencyMs, quirks: { usersLimitCap: 2, ...quirks } });

function printMeasured(what: string, allowed: number, { acceptedPerMinute, refusedShare }: Measured): void {
  const share = ((100 * acceptedPerMinute) / allowed).toFixed(1);
  const refused = (100 * refusedShare).toFixed(2);
  process.stdout.write(`pace: ${what}: ${share} % of the allowed rate, ${refused} % refused\n`);
}

describe('in real time, after ten seconds,', () => {
  beforeEach(({ skip }) =>
    skip(process.env['DAYWALK_CHAOS'] === undefined, '`npm run test:pace` takes the minutes for it'),
  );

  // Without a burst, what a pause takes longer than it must is lost, so the first refusals measure too low a rate, the lower the
  // slower the responses: nine tenths with those of 20 ms, and three quarters with those of 100, in the model of such services.
  // Only answers raise it then, by 3 % a minute: a faster rise would meet its refusals elsewhere.
  test.each([
    ['60 requests a minute', 0.9, { requestsPerMinute: 60 }, 120_000],
    ['60 requests a minute, one by one', 0.75, { requestsPerMinute: 60, burst: 1 }, 120_000],
    ['600 requests a minute', 0.9, { requestsPerMinute: 600, burst: 20 }, 60_000],
  ])('of %s, a run uses %d, and less than a fiftieth is refused', async (what, share, rateLimit, forMs) => {
    const rig = await yearOf({ rateLimit });
    const measured = await measure(rig, { concurrency: 8, forMs });
    printMeasured(what, rateLimit.requestsPerMinute, measured);
    expect(rig.emulator.journal().byStatus['429'], 'the limit was met').toBeGreaterThan(0);
    expect(measured.acceptedPerMinute).toBeGreaterThanOrEqual(rateLimit.requestsPerMinute * share);
    expect(measured.refusedShare).toBeLessThan(0.02);
  });

  test('a run with --concurrency 32 uses nine tenths of 8 allowed simultaneous requests', async () => {
    // The throughput of 8 requests in flight on this machine, without a limit of the service.
    const calm = await measure(await yearOf({}, 200), { concurrency: 8, forMs: 20_000 });
    const rig = await yearOf({ rateLimit: { inFlight: 8 } }, 200);
    const measured = await measure(rig, { concurrency: 32, forMs: 20_000 });
    printMeasured('8 in flight', calm.acceptedPerMinute, measured);
    expect(rig.emulator.journal().byStatus['429'], 'the limit was met').toBeGreaterThan(0);
    expect(measured.acceptedPerMinute).toBeGreaterThanOrEqual(calm.acceptedPerMinute * 0.9);
    expect(measured.refusedShare).toBeLessThan(0.02);
  });

  test('a run uses nine tenths of the remaining time if the service refuses everything for two of twenty seconds', async () => {
    const calm = await measure(await yearOf({}, 100), { concurrency: 8, forMs: 20_000 });
    const rig = await yearOf({}, 100);
    const control = new AbortController();
    const bursts = (async () => {
      while (!control.signal.aborted) {
        await delay(18_000, undefined, { signal: control.signal });
        rig.emulator.setRules([{ action: { type: 'status', status: 429, retryAfter: 1 } }]);
        await delay(2_000, undefined, { signal: control.signal });
        rig.emulator.setRules([]);
      }
    })().catch(() => undefined);
    const measured = await measure(rig, { concurrency: 8, forMs: 60_000 });
    control.abort();
    await bursts;
    printMeasured('bursts of 429', calm.acceptedPerMinute * 0.9, measured);
    expect(rig.emulator.journal().byStatus['429'], 'the bursts were met').toBeGreaterThan(0);
    expect(measured.acceptedPerMinute).toBeGreaterThanOrEqual(calm.acceptedPerMinute * 0.9 * 0.9);
    expect(measured.refusedShare).toBeLessThan(0.02);
  });
});
