import { pick, type Random } from '../random/seed.ts';
import type { Outage, World } from './world.ts';

const MINUTE_MS = 60_000;
const HOSTS = ['https://api.example.com', 'https://app.example.com'];
const KINDS = ['refused', 'reset', 'timed-out', 500, 503, 429] as const;

/** A world without an outage. */
export function quietWorld(random: Random): World {
  return {
    organizations: pick(random, [1, 1, 2, 3]),
    requests: 5 + Math.floor(random() * 25),
    hosts: HOSTS.slice(0, pick(random, [1, 1, 2])),
    concurrency: pick(random, [1, 1, 2, 4, 8]),
    attempts: pick(random, [1, 2, 4, 6]),
    latencyMs: pick(random, [1, 20, 300, 2_000]),
    workMs: pick(random, [0, 0, 500, 10_000]),
    patienceMs: pick(random, [1, 5, 30, 60]) * MINUTE_MS,
    outages: [],
    random,
  };
}

/** Outages of one host, one after the other: each of a random length, with a random time in between. */
export function outagesOf(
  host: string,
  {
    random,
    count,
    lengthMs,
    gapMs,
    gapMinMs = 0,
  }: { random: Random; count: number; lengthMs: number; gapMs: number; gapMinMs?: number },
): Outage[] {
  const outages: Outage[] = [];
  let fromMs = Math.floor(random() * 5_000);
  for (let number = 0; number < count; number += 1) {
    const untilMs = fromMs + Math.ceil((0.1 + 0.9 * random()) * lengthMs);
    outages.push({ host, fromMs, untilMs, kind: pick<Outage['kind']>(random, KINDS) });
    fromMs = untilMs + gapMinMs + Math.ceil((0.1 + 0.9 * random()) * gapMs);
  }
  return outages;
}
