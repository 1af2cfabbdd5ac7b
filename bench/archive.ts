import { cpSync, readdirSync, rmSync, statSync } from 'node:fs';
import { join } from 'node:path';
import { openArchive } from '../src/archive/index.ts';
import { systemClock } from '../src/core/clock.ts';
import { FIRST_DAY, shiftDay } from '../src/core/day.ts';
import { DAILY_STREAMS } from '../src/core/stream.ts';
import { runReads } from '../src/port/steps.ts';
import type { Bench, Benchmark } from './support/bench.ts';
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

/** The processor time of a night, by the nights that the archive holds. */
export const archivedNights: Benchmark = {
  number: 18,
  title: 'Processor time of a night with an archive of many nights ÷ of 30 nights',
  async run(bench) {
    const service = await bench.service(SMALL);
    const synced = bench.path('daywalk.db');
    const own = bench.path('archive.db');
    const days = ['--from', FIRST_DAY, '--until', shiftDay(FIRST_DAY, SMALL.days - 2)];
    await runExport(service, synced, ['backfill', ...days], { DAYWALK_ARCHIVE: own });
    const night = async (archived: string): Promise<Sample> => {
      const [warehouse, copy] = [bench.path('daywalk.db'), bench.path('archive.db')];
      cpSync(synced, warehouse);
      cpSync(archived, copy);
      const { ms, cpuMs } = await runExport(service, warehouse, ['run'], { DAYWALK_ARCHIVE: copy });
      rmSync(copy);
      return { value: cpuMs ?? ms, cpuMs };
    };
    const archives: [name: string, path: string][] = [];
    for (const nights of NIGHTS) archives.push([`${nights} nights`, await archiveOf(bench, own, nights)]);
    const lanes = await inTurns(
      bench.rounds,
      Object.fromEntries(archives.map(([name, path]) => [name, () => night(path)])),
    );
    return {
      measures: [300, 1_100].map((nights) =>
        ratio(lanes, [`${nights} nights`, '30 nights'], { name: `${nights} nights`, limit: NIGHT_RATIO_MAX }),
      ),
    };
  },
};

/** An archive that holds so many further nights. */
async function archiveOf(bench: Bench, begun: string, nights: number): Promise<string> {
  const path = bench.path('archive.db');
  cpSync(begun, path);
  await addNights(path, nights);
  return path;
}

/** Adds nights to an archive. */
export async function addNights(path: string, nights: number): Promise<void> {
  const clock = systemClock();
  const archive = await openArchive({
    ...{ archive: path, emails: 'keep', policy: '', clock, signal: new AbortController().signal },
    warehouse: {
      select: async () => [],
      read: (steps) => runReads({ select: async () => [] }, steps()),
      transact: async () => {
        throw new Error('nothing is to be written');
      },
    },
  });
  for (let night = 0; night < nights; night += 1) {
    const pulledAt = new Date(Date.UTC(2022, 0, 1 + night));
    const today = shiftDay(FIRST_DAY, SMALL.days);
    const kept = DAILY_STREAMS.flatMap((stream) =>
      Array.from({ length: DAYS_PER_NIGHT }, async (_, back) => {
        const text = `{"night":${night},"stream":"${stream}","day":${back},"rows":"${'row '.repeat(500)}"}`;
        return {
          ...{ orgId: 'org_of_others', stream, day: shiftDay(today, -back), runId: `run ${night}`, pulledAt },
          ...{ verdict: 'believed' as const, rows: await archive.keepRows([{ text, count: 1 }]) },
          ...{ contentSha256: '0'.repeat(64), isOwn: true, requests: 1, today, settleDays: 3 },
        };
      }),
    );
    await archive.end(await archive.beginDays(await Promise.all(kept)), 'committed');
  }
  await archive.close();
}
