import { type Benchmark, NO_POSTGRES } from './support/bench.ts';
import { expectNothingWritten, runExport, UNSETTLED } from './support/daywalk.ts';
import { inTurns, ratio, time } from './support/measure.ts';
import { USERS_OF_60_DAYS } from './support/pages.ts';

/** Benchmark 2 with PostgreSQL as the warehouse. */
export const postgresPullAgain: Benchmark = {
  number: 7,
  title: 'PostgreSQL: re-pulling unchanged days of users ÷ their first sync',
  async run(bench) {
    const postgres = await bench.postgres();
    if (postgres === null) return { skipped: NO_POSTGRES };
    const { service } = await bench.userPages();
    let warehouse = '';
    const lanes = await inTurns(bench.rounds, {
      first: async () => {
        warehouse = postgres.warehouse(await postgres.freshSchema());
        return time(await runExport(service, warehouse, USERS_OF_60_DAYS, UNSETTLED));
      },
      again: async () =>
        time(expectNothingWritten(await runExport(service, warehouse, USERS_OF_60_DAYS, UNSETTLED))),
      forced: async () =>
        time(expectNothingWritten(await runExport(service, warehouse, [...USERS_OF_60_DAYS, '--force']))),
    });
    return {
      measures: [
        ratio(lanes, ['again', 'first'], { name: 'unsettled days', limit: 0.6 }),
        ratio(lanes, ['forced', 'first'], {
          name: 'backfill --force, which compares every row',
          limit: null,
        }),
      ],
    };
  },
};
