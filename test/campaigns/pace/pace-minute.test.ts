// @module-tag campaign/pace

import { setTimeout as delay } from 'node:timers/promises';
import { expect, test } from 'vitest';
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

/** A limit of the service, and what a run makes of it. */
interface Paced extends Measured {
  readonly what: string;
  /** Requests per minute that could be used. */
  readonly allowed: number;
  /** The share of them that must be. */
  readonly share: number;
  /** Refusals: without any, the limit was never met. */
  readonly refusals: number;
}

async function underRate(
  what: string,
  share: number,
  rateLimit: { requestsPerMinute: number; burst?: number },
  forMs: number,
): Promise<Paced> {
  const rig = await yearOf({ rateLimit });
  const measured = await measure(rig, { concurrency: 8, forMs });
  return { what, share, allowed: rateLimit.requestsPerMinute, refusals: refusalsOf(rig), ...measured };
}

async function withEightInFlight(): Promise<Paced> {
  // The throughput of 8 requests in flight on this machine, without a limit of the service.
  const calm = await measure(await yearOf({}, 200), { concurrency: 8, forMs: 20_000 });
  const rig = await yearOf({ rateLimit: { inFlight: 8 } }, 200);
  const measured = await measure(rig, { concurrency: 32, forMs: 20_000 });
  const allowed = calm.acceptedPerMinute;
  return { what: '8 in flight, of 32', share: 0.9, allowed, refusals: refusalsOf(rig), ...measured };
}

async function betweenOutages(): Promise<Paced> {
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
  const allowed = calm.acceptedPerMinute * 0.9;
  const what = 'nothing for two of twenty seconds';
  return { what, share: 0.9, allowed, refusals: refusalsOf(rig), ...measured };
}

const refusalsOf = ({ emulator }: Rig) => emulator.journal().byStatus['429'] ?? 0;

test('in real time, after ten seconds, a run uses most of what a service allows, and little is refused', async ({
  skip,
}) => {
  skip(process.env['DAYWALK_CHAOS'] === undefined, '`npm run test:pace` takes the minutes for it');
  // The first three mostly wait, so they are measured at the same time. One refusal is nearly a hundredth of them, and a busy machine adds
  // some: what holds in virtual time is closer, see simulated-services.test.ts.
  const all = [
    ...(await Promise.all([
      underRate('60 requests a minute', 0.85, { requestsPerMinute: 60 }, 120_000),
      underRate('60 requests a minute, one by one', 0.7, { requestsPerMinute: 60, burst: 1 }, 120_000),
      underRate('600 requests a minute', 0.85, { requestsPerMinute: 600, burst: 20 }, 60_000),
    ])),
    await withEightInFlight(),
    await betweenOutages(),
  ];
  for (const { what, allowed, share, refusals, acceptedPerMinute, refusedShare } of all) {
    const used = acceptedPerMinute / allowed;
    process.stdout.write(
      `pace: ${what}: ${(100 * used).toFixed(1)} % of the allowed rate, ${(100 * refusedShare).toFixed(2)} % refused\n`,
    );
    expect.soft(refusals, `${what}: the limit was met`).toBeGreaterThan(0);
    expect.soft(used, what).toBeGreaterThanOrEqual(share);
    expect.soft(refusedShare, what).toBeLessThan(0.05);
  }
});
