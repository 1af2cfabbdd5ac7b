import { type Benchmark, NO_POSTGRES } from './support/bench.ts';
import { runExport } from './support/daywalk.ts';
import { inTurns, ratio, time } from './support/measure.ts';
import { USERS_OF_60_DAYS } from './support/pages.ts';
import { childScript, runNode } from './support/process.ts';
import { expectSameCount, USER_TABLES } from './support/rows.ts';

/** Cost of everything except COPY and INSERT. Each run has its own schema. */
export const postgresFirstSync: Benchmark = {
  number: 6,
  title:
    'PostgreSQL: first sync of users and their languages ÷ a script that copies the same pages from disk',
  async run(bench) {
    const postgres = await bench.postgres();
    if (postgres === null) return { skipped: NO_POSTGRES };
    const { service, folder } = await bench.userPages();
    let stored = '';
    let copied = '';
    const lanes = await inTurns(bench.rounds, {
      daywalk: async () => {
        stored = await postgres.freshSchema();
        return time(await runExport(service, postgres.warehouse(stored), USERS_OF_60_DAYS));
      },
      script: async () => {
        copied = await postgres.copyTables(stored, USER_TABLES);
        return time(await runNode(childScript('copy-pages.mjs'), [folder, postgres.url, copied]));
      },
    });
    expectSameCount(await postgres.rows(stored, USER_TABLES), await postgres.rows(copied, USER_TABLES));
    return { measures: [ratio(lanes, ['daywalk', 'script'], { limit: 1.3 })] };
  },
};
