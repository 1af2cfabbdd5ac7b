import { writeFileSync } from 'node:fs';
import type { Benchmark } from './support/bench.ts';
import { MAIN } from './support/daywalk.ts';
import { inTurns, ratio, time } from './support/measure.ts';
import { runNode } from './support/process.ts';

/** Short processes are measured more often than others. */
const ROUNDS_FACTOR = 5;
const EVENT = JSON.stringify({ hook_event_name: 'Stop', session_id: 'session-1', cwd: '/srv/app' });

/** Start-up time of `daywalk --help`, and of `daywalk hook`, which the client tool starts for every event. */
export const startUp: Benchmark = {
  number: 11,
  title: 'Start-up ÷ an empty Node program',
  async run(bench) {
    const nothing = bench.path('nothing.js');
    writeFileSync(nothing, '');
    const env = { DAYWALK_SPOOL: bench.path('spool') };
    const lanes = await inTurns(bench.rounds * ROUNDS_FACTOR, {
      help: async () => time(await runNode(MAIN, ['--help'])),
      hook: async () => time(await runNode(MAIN, ['hook'], { env, input: EVENT })),
      node: async () => time(await runNode(nothing, [])),
    });
    return {
      measures: [
        ratio(lanes, ['help', 'node'], { name: 'daywalk --help', limit: 2.5 }),
        ratio(lanes, ['hook', 'node'], { name: 'daywalk hook', limit: 2.0 }),
      ],
    };
  },
};
