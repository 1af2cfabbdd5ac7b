import { createHash } from 'node:crypto';
import { cpSync, readdirSync, rmSync, statSync } from 'node:fs';
import { join } from 'node:path';
import { sql } from '../schema/query.ts';
import { meetArchive, openArchive } from '../src/archive/index.ts';
import { systemClock } from '../src/core/clock.ts';
import { FIRST_DAY, shiftDay } from '../src/core/day.ts';
import { syncPath } from '../src/core/files.ts';
import { DAILY_STREAMS } from '../src/core/stream.ts';
import { withWarehouse } from '../src/warehouse/index.ts';
import type { Benchmark } from './support/bench.ts';
import { runExport } from './support/daywalk.ts';
import { inTurns, middle, ratio, type Sample, time } from './support/measure.ts';
import { ALL_OF_60_DAYS } from './support/pages.ts';
import { rowsOf } from './support/rows.ts';

const KIB = 1024;
/** At most 15 % slower. */
const RATIO_MAX = 1.15;
/** Kilobytes per user and day. */
const SIZE_MAX = 0.25;

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
    const size = { name: 'kilobytes per user and day', unit: 'kB', limit: SIZE_MAX } as const;
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

const SMALL = { users: 50, days: 60 };
export const NIGHTS = [30, 300, 1_100] as const;
/** Each night pulls the days that are not settled. */
const DAYS_PER_NIGHT = 4;
/** A night may cost 10 % more. */
export const NIGHT_RATIO_MAX = 1.1;

/** Days that are requested alone are compared with the newest answer in the archive. */
export const ONE_DAY_EACH = { maxRangeDays: 1 };

/** A warehouse and its archive. */
export interface Pair {
  readonly warehouse: string;
  readonly archive: string;
}

/** The processor time of a night, by the nights that the archive holds. */
export const archivedNights: Benchmark = {
  number: 18,
  title: 'Processor time of a night with an archive of many nights ÷ of 30 nights',
  async run(bench) {
    const service = await bench.service(SMALL);
    await service.switch(ONE_DAY_EACH);
    const newPair = () => ({ warehouse: bench.path('daywalk.db'), archive: bench.path('archive.db') });
    const first = newPair();
    const days = ['--from', FIRST_DAY, '--until', shiftDay(FIRST_DAY, SMALL.days - 2)];
    await runExport(service, first.warehouse, ['backfill', ...days], { DAYWALK_ARCHIVE: first.archive });
    const night = async (begun: Pair): Promise<Sample> => {
      const { warehouse, archive: copy } = copyPair(begun, newPair());
      const { ms, cpuMs } = await runExport(service, warehouse, ['run'], { DAYWALK_ARCHIVE: copy });
      rmSync(copy);
      return { value: cpuMs ?? ms, cpuMs };
    };
    const pairs = await withNights(first, newPair);
    const lanes = await inTurns(
      bench.rounds,
      Object.fromEntries([...pairs].map(([nights, pair]) => [`${nights} nights`, () => night(pair)])),
    );
    return {
      measures: [300, 1_100].map((nights) =>
        ratio(lanes, [`${nights} nights`, '30 nights'], { name: `${nights} nights`, limit: NIGHT_RATIO_MAX }),
      ),
    };
  },
};

/** Copies a warehouse and its archive, which nobody uses. They are synced, so that a night need not write the copy. */
export function copyPair(from: Pair, to: Pair): Pair {
  for (const name of ['warehouse', 'archive'] as const) {
    cpSync(from[name], to[name]);
    syncPath(to[name]);
  }
  return to;
}

/** Copies of a warehouse and its archive, after so many further nights. */
export async function withNights(begun: Pair, newPair: () => Pair): Promise<Map<number, Pair>> {
  const pairs = new Map<number, Pair>();
  let [pair, from] = [begun, 0];
  for (const nights of NIGHTS) {
    pair = copyPair(pair, newPair());
    await addNights(pair, from, nights);
    pairs.set(nights, pair);
    from = nights;
  }
  return pairs;
}

/** Archives nights of the organization of a warehouse, before its first day: the meetings of their runs, and their answers. */
async function addNights(
  { warehouse: location, archive: path }: Pair,
  from: number,
  to: number,
): Promise<void> {
  const patience = { clock: systemClock(), signal: new AbortController().signal };
  await withWarehouse(location, { ...patience, create: false }, async (warehouse) => {
    const [row] = await warehouse.select(sql`SELECT org_id FROM export_units LIMIT 1`);
    const orgId = String(row?.['org_id']);
    for (let night = from; night < to; night += 1)
      await meetArchive({ archive: path, warehouse, ...patience });
    const archive = await openArchive({ archive: path, warehouse, people: { mode: 'keep' }, ...patience });
    for (let night = from; night < to; night += 1) {
      const today = shiftDay(FIRST_DAY, night - Math.max(...NIGHTS));
      const units = DAILY_STREAMS.flatMap((stream) =>
        Array.from({ length: DAYS_PER_NIGHT }, (_, back) => ({ orgId, stream, day: shiftDay(today, -back) })),
      );
      const answers = units.map(async (unit) => {
        const text = `{"stream":"${unit.stream}","day":"${unit.day}","rows":"${'row '.repeat(500)}"}`;
        const contentSha256 = createHash('sha256').update(text).digest('hex');
        const rows = archive.holds(unit, contentSha256) ? null : await archive.keepRows([{ text, count: 1 }]);
        return {
          ...{
            ...unit,
            runId: `run ${night}`,
            pulledAt: new Date(`${today}T23:00:00Z`),
            rows,
            contentSha256,
          },
          ...{ verdict: 'believed' as const, isOwn: true, requests: 1, today, settleDays: 3 },
        };
      });
      await archive.end(await archive.beginDays(await Promise.all(answers)), 'committed');
    }
    await archive.close();
  });
}
