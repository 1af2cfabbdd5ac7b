import type { Bench, Benchmark } from './support/bench.ts';
import { runExport } from './support/daywalk.ts';
import { inTurns, type Measure, ratio, time } from './support/measure.ts';
import { USERS_OF_60_DAYS } from './support/pages.ts';
import { childScript, runNode } from './support/process.ts';

const DELAYS_MS = [10, 50];

/** Shows whether a run processes pages while it waits for others. Both lanes have eight requests in flight. */
export const latency: Benchmark = {
  number: 3,
  title: 'First sync from a slow service ÷ fetching and discarding the same pages',
  async run(bench) {
    const measures: Measure[] = [];
    for (const delayMs of DELAYS_MS) measures.push(await measureAt(bench, delayMs));
    return { measures };
  },
};

async function measureAt(bench: Bench, delayMs: number): Promise<Measure> {
  const { service, urls } = await bench.userPages();
  await service.delay(delayMs);
  try {
    const lanes = await inTurns(bench.rounds, {
      daywalk: async () => time(await runExport(service, bench.path('daywalk.db'), USERS_OF_60_DAYS)),
      fetch: async () => time(await runNode(childScript('fetch-pages.mjs'), [urls, service.apiKey])),
    });
    return { ...ratio(lanes, ['daywalk', 'fetch'], { name: `${delayMs} ms`, limit: 1.2 }), cpu: null };
  } finally {
    await service.delay(0);
  }
}
