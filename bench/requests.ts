import { FIRST_DAY, shiftDay } from '../src/core/day.ts';
import { DAILY_STREAMS } from '../src/core/stream.ts';
import type { Bench, Benchmark } from './support/bench.ts';
import { runExport } from './support/daywalk.ts';
import { inTurns, type Measure, ratio } from './support/measure.ts';

const SMALL = { users: 50, days: 310 };
/** Maximum number of days per request, unless the service rejects ranges. */
const RANGE_DAYS = 100;

/** Requests with a service that allows ranges, as counted by the service. */
export const requestsWithRanges: Benchmark = {
  number: 9,
  title: 'Requests of a backfill of 310 days of 50 users ÷ one request per day and stream, with ranges',
  run: async (bench) => ({ measures: [await measureWith(bench, { maxRangeDays: RANGE_DAYS }, 0.1)] }),
};

/** Cost of trying ranges with a service that rejects them. */
export const requestsWithoutRanges: Benchmark = {
  number: 10,
  title: 'The same with a service that rejects ranges',
  run: async (bench) => ({ measures: [await measureWith(bench, { maxRangeDays: 1 }, 1.02)] }),
};

async function measureWith(
  bench: Bench,
  quirks: { readonly maxRangeDays: number },
  limit: number,
): Promise<Measure> {
  const service = await bench.service(SMALL);
  await service.switch(quirks);
  const days = ['--from', FIRST_DAY, '--until', shiftDay(FIRST_DAY, SMALL.days - 1)];
  const args = ['backfill', ...days, '--streams', DAILY_STREAMS.join(',')];
  const lanes = await inTurns(bench.rounds, {
    daywalk: async () => {
      await service.forget();
      await runExport(service, bench.path('daywalk.db'), args);
      return { value: (await service.journal()).requests };
    },
    'one per day and stream': async () => ({ value: SMALL.days * DAILY_STREAMS.length }),
  });
  await service.switch({ maxRangeDays: RANGE_DAYS });
  return ratio(lanes, ['daywalk', 'one per day and stream'], { limit, laneUnit: 'requests' });
}
