// @module-tag campaign/pace

import { describe, expect, test } from 'vitest';
import { parseDay } from '../../../src/core/day.ts';
import { expectExactCopy } from '../../support/rig/exact-copy.ts';
import { createRig } from '../../support/rig/rig.ts';

describe('the pace of a run', () => {
  test('never has more requests in flight than the concurrency', async () => {
    const rig = await createRig({ latencyMs: 5 });
    await rig.run({ settings: { concurrency: 3 } });
    expect(rig.emulator.journal().inFlightMax).toBeLessThanOrEqual(3);
  });

  test('falls when the service allows fewer simultaneous requests, and the copy stays exact', {
    tags: 'ci/rare',
  }, async () => {
    const rig = await createRig({
      latencyMs: 20,
      quirks: { rateLimit: { inFlight: 3, retryAfter: 'absent' } },
    });
    const { report } = await rig.run({ settings: { concurrency: 8, attempts: 10 } });
    expect(report.exitCode).toBe(0);
    expect(report.retries).toBeGreaterThan(0);
    rig.emulator.setQuirks({ rateLimit: null });
    await expectExactCopy(rig);
  });

  for (const retryAfter of ['seconds', 'date', 'garbage'] as const) {
    test(`follows a rate limit announced by 429 with Retry-After as ${retryAfter}`, {
      tags: 'ci/variant',
    }, async () => {
      const rig = await createRig({
        users: 10,
        quirks: { rateLimit: { requestsPerMinute: 300, burst: 2, retryAfter } },
      });
      const { report } = await rig.run({
        until: parseDay('2026-01-15'),
        settings: { attempts: 10, rangeDays: 1 },
      });
      expect(report).toMatchObject({ exitCode: 0, unitsFailed: 0 });
      expect(report.retries).toBeGreaterThan(0);
      expect(rig.emulator.journal().byStatus['429']).toBe(report.retries);
    });
  }

  test('ends the run resumably when Retry-After is years away', { tags: 'ci/rare' }, async () => {
    const rig = await createRig({
      rules: [
        {
          match: {},
          when: { after: 20 },
          action: { type: 'status', status: 429, retryAfter: 1_000_000_000 },
        },
      ],
    });
    const { report } = await rig.run();
    expect(report.exitCode).toBe(4);
    expect(report.problems[0]?.message).toContain('asks to come back in 1000000000 s');
    expect(rig.emulator.journal().requests).toBeLessThan(40);
    rig.emulator.setRules([]);
    expect((await rig.run()).report.exitCode).toBe(0);
  });
});
