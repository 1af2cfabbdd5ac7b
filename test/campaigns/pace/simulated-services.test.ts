// @module-tag campaign/pace

import { expect, test } from 'vitest';
import { bucketRule, simulatedService } from '../../support/pace/service.ts';
import { type Kind, sampleOf } from '../../support/pace/services.ts';
import { simulate } from '../../support/pace/simulate.ts';
import { seeded } from '../../support/random/seed.ts';

/** What thousands of simulated services must get: shares of what each allows, and of all requests. */
interface Bounds {
  readonly services: number;
  readonly usedMean: number;
  /** All but one of twenty services get at least this. */
  readonly used95: number;
  readonly refusedMean: number;
  /** All but one of twenty services refuse at most this. */
  readonly refused95: number;
}

// Windows of a minute without `Retry-After` are met by trying: their refusals are the largest share.
const BOUNDS: readonly (readonly [Kind, Bounds])[] = [
  ['none', { services: 60, usedMean: 0.97, used95: 0.93, refusedMean: 0, refused95: 0 }],
  ['bucket', { services: 650, usedMean: 0.94, used95: 0.7, refusedMean: 0.012, refused95: 0.025 }],
  ['window', { services: 650, usedMean: 0.93, used95: 0.7, refusedMean: 0.05, refused95: 0.25 }],
  ['in-flight', { services: 300, usedMean: 0.97, used95: 0.91, refusedMean: 0.003, refused95: 0.01 }],
  ['rate-changes', { services: 200, usedMean: 0.88, used95: 0.3, refusedMean: 0.012, refused95: 0.025 }],
  ['in-flight-changes', { services: 200, usedMean: 0.85, used95: 0.55, refusedMean: 0.01, refused95: 0.025 }],
];

test.each(BOUNDS)(
  'simulated services with the limit "%s" are used well and refuse little',
  (kind, bounds) => {
    const random = seeded(`pace ${kind}`);
    const outcomes = Array.from({ length: bounds.services }, () => {
      const sample = sampleOf(kind, random);
      const { answered, refused, inFlightMax } = simulate({ ...sample, random });
      expect(inFlightMax, sample.what).toBeLessThanOrEqual(sample.concurrency);
      const allowed = (sample.allowedPerMinute * (sample.forMs - sample.fromMs)) / 60_000;
      return { used: answered / allowed, refused: refused / Math.max(1, answered + refused) };
    });
    const used = outcomes.map((outcome) => outcome.used).sort((a, b) => a - b);
    const refused = outcomes.map((outcome) => outcome.refused).sort((a, b) => b - a);
    const worstOf = (shares: readonly number[]) => shares[Math.floor(shares.length / 20)];
    expect(meanOf(used), 'used').toBeGreaterThanOrEqual(bounds.usedMean);
    expect(worstOf(used), 'used by all but one of twenty').toBeGreaterThanOrEqual(bounds.used95);
    expect(meanOf(refused), 'refused').toBeLessThanOrEqual(bounds.refusedMean);
    expect(worstOf(refused), 'refused by all but one of twenty').toBeLessThanOrEqual(bounds.refused95);
  },
);

/**
 * What a run makes of a rate from its eleventh second on, for two minutes, with eight requests in flight. Without a burst, what a pause takes
 * longer than it must is lost. So the first refusals measure too low a rate, the lower the slower the responses, and only answers
 * raise it then, by 3 % a minute: a faster rise would meet its refusals elsewhere.
 */
test.each([
  [60, 60, 20, 0.96],
  [60, 1, 5, 0.9],
  [60, 1, 20, 0.88],
  [60, 1, 100, 0.7],
  [600, 20, 20, 0.96],
])(
  'of %d requests a minute, %d at once, with responses of %d ms, %d are used',
  (perMinute, burst, ms, share) => {
    const random = seeded(`pace ${perMinute} ${burst} ${ms}`);
    for (let sample = 0; sample < 100; sample += 1) {
      const latencyMs = () => ms * (0.75 + 0.5 * random());
      const service = simulatedService({
        ...{ rule: bucketRule(perMinute, burst), latencyMs, refusalMs: latencyMs, namesPause: true },
      });
      const outcome = simulate({ service, concurrency: 8, forMs: 130_000, fromMs: 10_000, random });
      expect(outcome.answered).toBeGreaterThanOrEqual(2 * perMinute * share);
      expect(outcome.refused / (outcome.answered + outcome.refused)).toBeLessThan(0.02);
    }
  },
);

function meanOf(shares: readonly number[]): number {
  return shares.reduce((sum, share) => sum + share, 0) / shares.length;
}
