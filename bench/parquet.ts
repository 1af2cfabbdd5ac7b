import { once } from 'node:events';
import { createWriteStream } from 'node:fs';
import { finished } from 'node:stream/promises';
import Sqlite from 'better-sqlite3';
import { FIRST_DAY, shiftDay } from '../src/core/day.ts';
import { type Benchmark, LARGE } from './support/bench.ts';
import { MAIN, runExport } from './support/daywalk.ts';
import { inTurns, type Lanes, middle, ratio, type Sample } from './support/measure.ts';
import { childScript, runNode } from './support/process.ts';

const MIB = 1024 * 1024;

/** Publishing the rows of one table from the warehouse as Parquet files. */
export const parquet: Benchmark = {
  number: 12,
  title: 'Publishing 540,000 rows as Parquet ÷ DuckDB copying the same rows from NDJSON',
  async run(bench) {
    if (!(await isAvailable())) return { skipped: 'not available: there is no command daywalk publish' };
    const service = await bench.service(LARGE);
    const warehouse = bench.path('daywalk.db');
    const days = ['--from', FIRST_DAY, '--until', shiftDay(FIRST_DAY, LARGE.days - 1)];
    await runExport(service, warehouse, ['backfill', ...days, '--streams', 'users']);
    const rows = bench.path('users.ndjson');
    await writeRows(warehouse, rows);
    const peaks: Sample[] = [];
    const lanes = await inTurns(bench.rounds, {
      daywalk: async () => {
        const folder = bench.path('lake');
        const args = ['publish', '--parquet', folder, '--tables', 'user_daily', '--warehouse', warehouse];
        const { ms, cpuMs, peakBytes } = await runNode(MAIN, args);
        peaks.push({ value: (peakBytes ?? Number.NaN) / MIB });
        return { value: ms, cpuMs };
      },
      duckdb: async () => {
        const { ms, cpuMs } = await runNode(childScript('export-parquet.mjs'), [
          rows,
          bench.path('users.parquet'),
        ]);
        return { value: ms, cpuMs };
      },
    });
    const memory: Lanes = { daywalk: peaks };
    return {
      measures: [
        ratio(lanes, ['daywalk', 'duckdb'], { limit: 4 }),
        middle(memory, 'daywalk', { name: 'peak memory', unit: 'MB', limit: 200 }),
      ],
    };
  },
};

async function isAvailable(): Promise<boolean> {
  const help = await runNode(MAIN, ['publish', '--help']).catch(() => null);
  return help?.stdout.includes('--parquet') ?? false;
}

/** Writes the rows of the users, one per line. */
async function writeRows(warehouse: string, path: string): Promise<void> {
  const db = new Sqlite(warehouse, { readonly: true });
  const out = createWriteStream(path);
  for (const row of db.prepare('SELECT * FROM user_daily').iterate()) {
    if (!out.write(`${JSON.stringify(row)}\n`)) await once(out, 'drain');
  }
  db.close();
  out.end();
  await finished(out);
}
