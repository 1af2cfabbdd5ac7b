import { readdirSync, statSync } from 'node:fs';
import { join } from 'node:path';
import type { Benchmark } from './support/bench.ts';
import { runExport } from './support/daywalk.ts';
import { inTurns, middle, ratio, time } from './support/measure.ts';
import { ALL_OF_60_DAYS } from './support/pages.ts';
import { rowsOf } from './support/rows.ts';

const KIB = 1024;
/** The archive has at most 15 % of the time of a first sync: 1 ÷ (1 − 0.15), rounded down. */
const RATIO_MAX = 1.17;

/** What an archive costs: the time of a first sync with it, and its size. */
export const archive: Benchmark = {
  number: 17,
  title: 'First sync of everything with an archive ÷ without',
  async run(bench) {
    const { service } = await bench.userPages();
    // A first run fills the cache of the service.
    await runExport(service, bench.path('daywalk.db'), ALL_OF_60_DAYS);
    let stored = '';
    let folder = '';
    const lanes = await inTurns(bench.rounds, {
      archive: async () => {
        stored = bench.path('daywalk.db');
        folder = bench.path('archive');
        return time(await runExport(service, stored, ALL_OF_60_DAYS, { DAYWALK_ARCHIVE: folder }));
      },
      plain: async () => time(await runExport(service, bench.path('daywalk.db'), ALL_OF_60_DAYS)),
    });
    const users = rowsOf(stored, ['user_daily']);
    const kilobytes = { archive: [{ value: bytesIn(folder) / KIB / users }] };
    const size = { name: 'kilobytes per user and day', unit: 'kB', limit: null } as const;
    return {
      measures: [
        ratio(lanes, ['archive', 'plain'], { limit: RATIO_MAX }),
        middle(kilobytes, 'archive', size),
      ],
    };
  },
};

function bytesIn(folder: string): number {
  return readdirSync(folder, { recursive: true, encoding: 'utf8' })
    .map((name) => statSync(join(folder, name)))
    .reduce((sum, stats) => sum + (stats.isFile() ? stats.size : 0), 0);
}
