import type { Rule } from '../../../src/emulator/faults/rules.ts';

/**
 * Occasional faults of a service under load: refusals, errors, cut connections, delays. Each fault hits a request
 * at most twice, so that an undisturbed run can end.
 */
export function badDay(seed: number): Rule[] {
  const now = (id: string, probability: number, action: Rule['action'], n: number): Rule => ({
    id,
    when: { probability, seed: seed + n, per: 'request', count: 2 },
    action,
  });
  return [
    now('too many', 0.06, { type: 'status', status: 429, retryAfter: 0 }, 1),
    now('unavailable', 0.05, { type: 'status', status: 503 }, 2),
    now('broken', 0.04, { type: 'status', status: 500 }, 3),
    now('reset', 0.05, { type: 'reset' }, 4),
    now('reset in the body', 0.04, { type: 'reset', afterBytes: 90 }, 5),
    now('cut', 0.04, { type: 'cut', bytes: 150 }, 6),
    now('not JSON', 0.03, { type: 'spoil', how: 'truncated' }, 7),
    now('slow', 0.15, { type: 'delay', ms: 40 }, 8),
    now('dripped', 0.05, { type: 'drip', bytes: 400, intervalMs: 5 }, 9),
  ];
}
