import { describe, expect, test } from 'vitest';
import { outagesOf, quietWorld } from '../../support/patience/random-world.ts';
import {
  type Held,
  type Outage,
  performRound,
  probesMax,
  type RoundOutcome,
  type World,
} from '../../support/patience/world.ts';
import { pick, seeded, sequence } from '../../support/random/seed.ts';

const WORLDS = Number(process.env['DAYWALK_WORLDS'] ?? 60);
/** The longest pause between two probes, and the answer to the last one. */
const SLACK_MS = 35_000;
/**
 * Between two outages, a host answers longer than the waits before the last attempts of a request. In shorter breaks others are
 * answered, so a request whose attempts all miss them fails, as it does without patience.
 */
const GAP_MIN_MS = 40_000;

/** What holds in every world. */
function expectRules(world: World, { held, seen, answered, failed }: RoundOutcome): void {
  for (const host of world.hosts) {
    const own = held.filter((each) => each.host === host);
    const sumMs = own.reduce((sum, { fromMs, untilMs }) => sum + untilMs - fromMs, 0);
    // A probe that is under way at the end takes its latency.
    expect(sumMs, 'waited in sum').toBeLessThanOrEqual(world.patienceMs + world.latencyMs);
    for (const wait of own) expectOneProbeAtATime(seen, wait);
  }
  if (world.endMs !== undefined)
    for (const { untilMs } of held) expect(untilMs).toBeLessThanOrEqual(world.endMs + world.latencyMs);
  if (world.maxRequests !== undefined)
    for (let organization = 0; organization < world.organizations; organization += 1)
      expect(seen.filter((each) => each.organization === organization).length).toBeLessThanOrEqual(
        world.maxRequests,
      );
  expect(answered.size + failed.length).toBe(world.organizations * world.requests);
}

function expectOneProbeAtATime(seen: RoundOutcome['seen'], { host, fromMs, untilMs }: Held): void {
  const probes = seen.filter(
    ({ url, beganMs }) => url.startsWith(host) && beganMs > fromMs && beganMs < untilMs,
  );
  const together = probes.filter(
    (probe, index) => index > 0 && probe.beganMs < (probes[index - 1]?.endedMs ?? 0),
  );
  expect(together, 'probes at a time').toEqual([]);
}

async function eachWorld(name: string, check: (random: () => number) => Promise<void>): Promise<void> {
  const random = seeded(`patience ${name}`);
  for (let number = 0; number < WORLDS; number += 1) await check(random);
}

describe('a round that waits for its hosts', () => {
  test('ends with everything answered if they come back within the patience', async () => {
    let waits = 0;
    await eachWorld('back', async (random) => {
      const world = quietWorld(random);
      const count = pick(random, [1, 1, 2, 5]);
      // The patience must last for all outages together, with the pauses of the probes.
      const lengthMs = Math.max(100, (world.patienceMs - SLACK_MS * count) / count);
      const outages = world.hosts.flatMap((host) =>
        outagesOf(host, { random, count, lengthMs, gapMs: 60_000, gapMinMs: GAP_MIN_MS }),
      );
      const allMs = world.hosts.map((host) => {
        const own = outages.filter((outage) => outage.host === host);
        return own.reduce((sum, { fromMs, untilMs }) => sum + untilMs - fromMs + SLACK_MS, 0);
      });
      if (Math.max(...allMs) > world.patienceMs) return;
      const outcome = await performRound({ ...world, outages });
      waits += outcome.held.length;
      expectRules(world, outcome);
      expect(
        outcome.failed.map(({ name }) => name),
        JSON.stringify({ ...world, outages }),
      ).toEqual([]);
    });
    expect(waits).toBeGreaterThan(WORLDS / 4);
  });

  test('keeps the rules in any outages, with a budget of requests and a next time', async () => {
    await eachWorld('any', async (random) => {
      const world: World = {
        ...quietWorld(random),
        ...(random() < 0.3 && { maxRequests: 5 + Math.floor(random() * 60) }),
        ...(random() < 0.3 && { endMs: Math.floor(random() * 40 * 60_000) }),
      };
      const lengthMs = 10 ** (2 + random() * 5);
      const gapMs = 10 ** (1 + random() * 5);
      const outages = world.hosts.flatMap((host) =>
        outagesOf(host, { random, count: 1 + Math.floor(random() * 8), lengthMs, gapMs }),
      );
      expectRules(world, await performRound({ ...world, outages }));
    });
  });

  test('costs a bounded number of requests if a host never comes back', async () => {
    await eachWorld('never', async (random) => {
      const world = quietWorld(random);
      const [host = ''] = world.hosts;
      const fromMs = Math.floor(random() * 3_000);
      const outages = [
        { host, fromMs, untilMs: Infinity, kind: pick<Outage['kind']>(random, ['refused', 503, 429]) },
      ];
      const outcome = await performRound({ ...world, outages });
      expectRules(world, outcome);
      const unanswered = outcome.seen.filter(({ url, isAnswered }) => url.startsWith(host) && !isAnswered);
      const own = outcome.failed.length;
      expect(unanswered.length).toBeLessThanOrEqual(
        world.concurrency * world.attempts + probesMax(world.patienceMs) + own,
      );
      expect(outcome.held.filter((each) => each.host === host).length).toBeLessThanOrEqual(1);
    });
  });

  test('sends what it would send without patience while the attempts of each request are enough', async () => {
    let compared = 0;
    await eachWorld('short', async (random) => {
      const seed = Math.floor(random() * 1e9);
      const world = { ...quietWorld(sequence(seed)), attempts: 6 };
      const outages = world.hosts.flatMap((host) =>
        outagesOf(host, { random, count: 3, lengthMs: 1_500, gapMs: 20_000 }),
      );
      const impatient = await performRound({ ...world, outages, patienceMs: 0, random: sequence(seed) });
      if (impatient.failed.length > 0) return;
      compared += 1;
      const patient = await performRound({ ...world, outages, random: sequence(seed) });
      expect(patient.seen).toEqual(impatient.seen);
    });
    expect(compared).toBeGreaterThan(WORLDS / 3);
  });

  test('does not wait for a request that fails alone, and repeats it once', async () => {
    await eachWorld('alone', async (random) => {
      const world = quietWorld(random);
      const broken = ['/path-0/0', '/path-1/6'];
      const outcome = await performRound({ ...world, broken });
      expect(outcome.held).toEqual([]);
      const repeated = outcome.seen.filter(({ url }) => broken.some((path) => url.endsWith(path))).length;
      expect(repeated).toBeLessThanOrEqual(outcome.failed.length * (world.attempts + 1));
      const probes = outcome.seen.filter(({ url }) => url.includes('/probe/')).length;
      expect(probes).toBeLessThanOrEqual(outcome.failed.length * 2);
    });
  });

  test('waits for no host that never answered', async () => {
    await eachWorld('unknown', async (random) => {
      const world = quietWorld(random);
      const outages = world.hosts.map((host) => ({
        host,
        fromMs: 0,
        untilMs: Infinity,
        kind: 'refused' as const,
      }));
      const outcome = await performRound({ ...world, outages, known: [] });
      expect(outcome.held).toEqual([]);
      expect(outcome.seen.length).toBe(world.organizations * world.requests * world.attempts);
    });
  });
});
