import { rmSync } from 'node:fs';
import { FIRST_DAY, shiftDay } from '../src/core/day.ts';
import { type Benchmark, LARGE } from './support/bench.ts';
import { runExport } from './support/daywalk.ts';
import { inTurns, middle, ratio, type Sample } from './support/measure.ts';
import type { Service } from './support/service.ts';

const MIB = 1024 * 1024;
const HUGE = { users: 50_000, days: 3 };
const DAYS = 60;

/** Peak memory of the process while it pulls everything into a new warehouse. */
export const memory: Benchmark = {
  number: 8,
  title: 'Peak memory of a first sync of everything',
  async run(bench) {
    const large = await bench.service(LARGE);
    const huge = await bench.service(HUGE);
    const peakOf = (service: Service, days: number) => async (): Promise<Sample> => {
      const warehouse = bench.path('daywalk.db');
      const args = ['backfill', '--from', FIRST_DAY, '--until', shiftDay(FIRST_DAY, days - 1)];
      const { peakBytes } = await runExport(service, warehouse, args);
      rmSync(warehouse);
      return { value: (peakBytes ?? Number.NaN) / MIB };
    };
    const lanes = await inTurns(Math.ceil(bench.rounds / 2), {
      large: peakOf(large, DAYS),
      huge: peakOf(huge, HUGE.days),
      'three times the days': peakOf(large, 3 * DAYS),
    });
    return {
      measures: [
        middle(lanes, 'large', { name: '3,000 users a day, 60 days', unit: 'MB', limit: 160 }),
        middle(lanes, 'huge', { name: `50,000 users a day, ${HUGE.days} days`, unit: 'MB', limit: 256 }),
        ratio(lanes, ['three times the days', 'large'], {
          name: 'three times the days',
          limit: 1.1,
          laneUnit: 'MB',
        }),
      ],
    };
  },
};
