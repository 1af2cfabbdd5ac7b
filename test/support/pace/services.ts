import { pick, type Random } from '../random/seed.ts';
import {
  bucketRule,
  changingRule,
  inFlightRule,
  type Rule,
  type Service,
  simulatedService,
  windowRule,
} from './service.ts';

/** A service with its client, drawn at random. */
export interface Sample {
  readonly kind: Kind;
  readonly what: string;
  readonly service: Service;
  readonly concurrency: number;
  /** Requests per minute that the service allows, as far as the client can use them. */
  readonly allowedPerMinute: number;
  readonly forMs: number;
  readonly fromMs: number;
}

export const KINDS = ['bucket', 'window', 'in-flight', 'none', 'rate-changes', 'in-flight-changes'] as const;
export type Kind = (typeof KINDS)[number];

/** Answers that a sample counts, where it can; and bounds for the time that it takes. */
const COUNTED = 300;
const WARM_UP_MS = { min: 20_000, max: 120_000 } as const;

/** A random service of a kind, and a client that may have fewer or more requests in flight than it allows. */
export function sampleOf(kind: Kind, random: Random): Sample {
  const concurrency = pick(random, kind === 'none' ? [1, 4, 16] : [1, 2, 4, 8, 16, 32, 64]);
  const latencyMs = pick(random, kind === 'in-flight-changes' ? [200, 400] : [50, 100, 400]);
  const jitter = pick(random, [0, 0.2, 1]);
  const namesPause = random() < 0.7;
  const isQuickRefusal = random() < 0.5;
  const perMinute = pick(random, kind === 'rate-changes' ? [30, 60, 120, 300] : [30, 60, 120, 300, 600]);
  const cap = pick(random, [1, 2, 3, 5, 8, 13, 20]);
  // Without any burst, requests that are slow enough to overlap are refused at random.
  const burst = pick(random, perMinute * latencyMs > 60_000 ? [5, 10, 30] : [1, 2, 5, 10, 30]);
  const windowMs = pick(random, [1_000, 10_000, 60_000]);
  const factor = pick(random, [0.25, 0.5, 2, 4]);
  const meanMs = latencyMs * (1 + jitter / 2) + 1;
  const byLatency = (inFlight: number) => (60_000 / meanMs) * Math.min(concurrency, inFlight);
  const rules = (changeMs: number): { rule: Rule; allowed: number; what: string } => {
    const perWindow = Math.max(1, Math.round((perMinute * windowMs) / 60_000));
    const capAfter = Math.max(1, Math.round(cap * factor));
    switch (kind) {
      case 'bucket':
        return {
          rule: bucketRule(perMinute, burst),
          allowed: perMinute,
          what: `${perMinute}/min, burst ${burst}`,
        };
      case 'window':
        return {
          rule: windowRule(perWindow, windowMs),
          allowed: (perWindow * 60_000) / windowMs,
          what: `${perWindow} per ${windowMs} ms`,
        };
      case 'in-flight':
        return { rule: inFlightRule(cap), allowed: byLatency(cap), what: `${cap} in flight` };
      case 'none':
        return { rule: () => 0, allowed: Number.POSITIVE_INFINITY, what: 'no limit' };
      case 'rate-changes':
        return {
          rule: changingRule(bucketRule(perMinute, burst), bucketRule(perMinute * factor, burst), changeMs),
          allowed: perMinute * factor,
          what: `${perMinute}/min, burst ${burst}, then times ${factor}`,
        };
      case 'in-flight-changes':
        return {
          rule: changingRule(inFlightRule(cap), inFlightRule(capAfter), changeMs),
          allowed: byLatency(capAfter),
          what: `${cap} in flight, then ${capAfter}`,
        };
    }
  };
  const { allowed, what } = rules(0);
  const allowedPerMinute = Math.min(allowed, byLatency(concurrency));
  const wholeWindows =
    kind === 'window' ? Math.ceil(((COUNTED / allowedPerMinute) * 60_000) / windowMs) * windowMs : 0;
  const countedMs = Math.max(10_000, wholeWindows, (COUNTED / allowedPerMinute) * 60_000);
  const warmUpMs =
    kind === 'window'
      ? Math.max(WARM_UP_MS.min, 2 * windowMs)
      : Math.min(WARM_UP_MS.max, Math.max(WARM_UP_MS.min, countedMs / 4));
  // A change has to be noticed first; a higher rate is found by trying a little more, and that takes minutes.
  const fromMs = kind.endsWith('changes')
    ? warmUpMs + (kind === 'rate-changes' ? 420_000 : 60_000)
    : warmUpMs;
  const { rule } = rules(warmUpMs);
  return {
    kind,
    what: `${what}; ${concurrency} may be in flight, ${latencyMs} ms ± ${jitter}, ${namesPause ? 'names' : 'does not name'} the pause, refuses ${isQuickRefusal ? 'at once' : 'late'}`,
    service: simulatedService({
      rule,
      latencyMs: () => latencyMs * (1 + jitter * random()),
      refusalMs: () => (isQuickRefusal ? 1 : latencyMs * (1 + jitter * random())),
      namesPause,
    }),
    concurrency,
    allowedPerMinute,
    forMs: fromMs + countedMs,
    fromMs,
  };
}
