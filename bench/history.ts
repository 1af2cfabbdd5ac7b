import { FIRST_DAY, shiftDay } from '../src/core/day.ts';
import type { Benchmark } from './support/bench.ts';
import { runExport } from './support/daywalk.ts';
import { inTurns, middle } from './support/measure.ts';

const MEDIUM = { users: 250, days: 310 };

/** Duration of the first run of an ordinary organization, with a service that responds at once. */
export const history: Benchmark = {
  number: 13,
  title: 'First sync of everything: 310 days of 250 users',
  async run(bench) {
    const service = await bench.service(MEDIUM);
    const args = ['backfill', '--from', FIRST_DAY, '--until', shiftDay(FIRST_DAY, MEDIUM.days - 1)];
    // A first run fills the cache of the service.
    await runExport(service, bench.path('daywalk.db'), args);
    const lanes = await inTurns(bench.rounds, {
      daywalk: async () => {
        const { ms } = await runExport(service, bench.path('daywalk.db'), args);
        return { value: ms / 1000 };
      },
    });
    return { measures: [middle(lanes, 'daywalk', { unit: 's', limit: null })] };
  },
};
