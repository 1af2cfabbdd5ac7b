// @module-tag campaign/pace

import { test } from 'vitest';
import { expectPaced, measure, type Paced, refusalsOf, yearOf } from '../../support/pace/real-time.ts';

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

test('in real time, after ten seconds, a run uses most of the rate that a service allows, and little is refused', async ({
  skip,
}) => {
  skip(process.env['DAYWALK_CHAOS'] === undefined, '`npm run test:pace` takes the minutes for it');
  // All of them mostly wait, so they are measured at the same time. One refusal is nearly a hundredth of them, and a busy machine adds
  // some: what holds in virtual time is closer, see simulated-services.test.ts.
  expectPaced(
    await Promise.all([
      underRate('60 requests a minute', 0.85, { requestsPerMinute: 60 }, 120_000),
      underRate('60 requests a minute, one by one', 0.7, { requestsPerMinute: 60, burst: 1 }, 120_000),
      underRate('600 requests a minute', 0.85, { requestsPerMinute: 600, burst: 20 }, 60_000),
    ]),
  );
});
