// @module-tag campaign/pace

import { setTimeout as delay } from 'node:timers/promises';
import { test } from 'vitest';
import { expectPaced, measure, type Paced, refusalsOf, yearOf } from '../../support/pace/real-time.ts';

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

test('in real time, after ten seconds, a run uses most of what is left of a service, and little is refused', async ({
  skip,
}) => {
  skip(process.env['DAYWALK_CHAOS'] === undefined, '`npm run test:pace` takes the minutes for it');
  expectPaced(await Promise.all([withEightInFlight(), betweenOutages()]));
});
