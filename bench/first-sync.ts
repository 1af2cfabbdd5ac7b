import type { Benchmark } from './support/bench.ts';
import { runExport } from './support/daywalk.ts';
import { inTurns, ratio, time } from './support/measure.ts';
import { USERS_OF_60_DAYS } from './support/pages.ts';
import { childScript, runNode } from './support/process.ts';
import { expectSameCount, rowsOf, USER_TABLES } from './support/rows.ts';

/** Cost of everything except parsing and inserting: start-up, HTTP, validation, digests, ledger. */
export const firstSync: Benchmark = {
  number: 1,
  title: 'First sync of users and their languages ÷ a script that parses and inserts the pages from disk',
  async run(bench) {
    const { service, folder, tables } = await bench.userPages();
    let stored = '';
    let inserted = '';
    const lanes = await inTurns(bench.rounds, {
      daywalk: async () => {
        stored = bench.path('daywalk.db');
        return time(await runExport(service, stored, USERS_OF_60_DAYS));
      },
      script: async () => {
        inserted = bench.path('script.db');
        return time(await runNode(childScript('insert-pages.mjs'), [folder, inserted, tables]));
      },
    });
    expectSameCount(rowsOf(stored, USER_TABLES), rowsOf(inserted, USER_TABLES));
    return { measures: [ratio(lanes, ['daywalk', 'script'], { limit: 1.5 })] };
  },
};
