import type { Benchmark } from './support/bench.ts';
import { expectNothingWritten, runExport, UNSETTLED } from './support/daywalk.ts';
import { inTurns, ratio, time } from './support/measure.ts';
import { USERS_OF_60_DAYS } from './support/pages.ts';

/** Cost of a night without changes: the pages are compared by digests, or with --force row by row. */
export const pullAgain: Benchmark = {
  number: 2,
  title: 'Re-pulling unchanged days of users ÷ their first sync',
  async run(bench) {
    const { service } = await bench.userPages();
    let warehouse = '';
    const lanes = await inTurns(bench.rounds, {
      first: async () => {
        warehouse = bench.path('daywalk.db');
        return time(await runExport(service, warehouse, USERS_OF_60_DAYS, UNSETTLED));
      },
      again: async () =>
        time(expectNothingWritten(await runExport(service, warehouse, USERS_OF_60_DAYS, UNSETTLED))),
      forced: async () =>
        time(expectNothingWritten(await runExport(service, warehouse, [...USERS_OF_60_DAYS, '--force']))),
    });
    return {
      measures: [
        ratio(lanes, ['again', 'first'], { name: 'unsettled days', limit: 0.5 }),
        ratio(lanes, ['forced', 'first'], {
          name: 'backfill --force, which compares every row',
          limit: null,
        }),
      ],
    };
  },
};
