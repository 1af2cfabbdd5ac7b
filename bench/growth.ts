import { createHash } from 'node:crypto';
import { copyFileSync } from 'node:fs';
import Sqlite from 'better-sqlite3';
import { allTables } from '../schema/tables.ts';
import { FIRST_DAY, parseDay, shiftDay } from '../src/core/day.ts';
import { readOrganizationIds } from '../src/ledger/ledger.ts';
import { answerMetric } from '../src/metrics/answer-metric.ts';
import type { Warehouse } from '../src/port/warehouse.ts';
import { checkWarehouse } from '../src/verify/check-warehouse.ts';
import { FindingList } from '../src/verify/finding.ts';
import { checkPeople } from '../src/verify/report-rollups.ts';
import { loadDimensions, ORGANIZATION, SIZE, withWarehouse } from './support/answering.ts';
import type { Bench, Benchmark } from './support/bench.ts';
import { runExport } from './support/daywalk.ts';
import { inTurns, type Measure, ratio, type Sample } from './support/measure.ts';

const TIMES_LARGER = 4;

const filled = new WeakMap<Bench, Map<number, Promise<string>>>();

/** A SQLite warehouse of the organization, so many times as large, with teams and prices. It is made once for all benchmarks. */
function fileOf(bench: Bench, times: number): Promise<string> {
  const known = filled.get(bench) ?? new Map<number, Promise<string>>();
  filled.set(bench, known);
  const file = known.get(times) ?? fill(bench, times);
  known.set(times, file);
  return file;
}

async function fill(bench: Bench, times: number): Promise<string> {
  const service = await bench.service({ ...ORGANIZATION, users: ORGANIZATION.users * times });
  const file = bench.path(`times-${times}.db`);
  await runExport(service, file, [
    'backfill',
    '--from',
    FIRST_DAY,
    '--until',
    shiftDay(FIRST_DAY, ORGANIZATION.days - 1),
  ]);
  await withWarehouse(file, loadDimensions);
  return file;
}

/** The duration of a task and its processor time in this process. */
async function timed(task: () => Promise<unknown>): Promise<Sample> {
  const [startMs, since] = [performance.now(), process.cpuUsage()];
  await task();
  const { user, system } = process.cpuUsage(since);
  return { value: performance.now() - startMs, cpuMs: (user + system) / 1000 };
}

/** Four times the rows may take a tenth more than four times as long, for the caches. */
const GROWTH_MAX = 4.5;
const SCANS_MAX = 3;

/** What `verify` costs as the rows grow, and against the least that it could do. */
export const verifying: Benchmark = {
  number: 19,
  title: `verify ÷ a scan of the same tables that hashes each row, and ${TIMES_LARGER} times the rows ÷ the rows`,
  async run(bench) {
    const [small, large] = [await fileOf(bench, 1), await fileOf(bench, TIMES_LARGER)];
    const lanes = await inTurns(bench.rounds, {
      verify: () => withWarehouse(small, (warehouse) => timed(() => verify(warehouse))),
      scan: () => withWarehouse(small, (warehouse) => timed(() => hashEachRow(warehouse))),
      larger: () => withWarehouse(large, (warehouse) => timed(() => verify(warehouse))),
    });
    return {
      measures: [
        ratio(lanes, ['verify', 'scan'], { name: 'against the scan', limit: SCANS_MAX }),
        ratio(lanes, ['larger', 'verify'], { name: 'growth', limit: GROWTH_MAX }),
      ],
    };
  },
};

function verify(warehouse: Warehouse): Promise<void> {
  return warehouse.inSnapshot(async () => {
    const findings = new FindingList();
    await checkWarehouse(warehouse, findings, { units: 0, rows: 0, comparisons: 0 });
    await checkPeople(warehouse, findings);
    const damages = await warehouse.damages();
    if (findings.counts.broken > 0 || damages.length > 0) throw new Error('the warehouse is broken');
  });
}

async function hashEachRow(warehouse: Warehouse): Promise<void> {
  for (const table of allTables) {
    for await (const rows of warehouse.scan(table))
      for (const row of rows) createHash('sha256').update(JSON.stringify(row)).digest();
  }
}

/** What happens to a warehouse whose rollups were current, until the next refresh. */
const STALE = {
  'one day': `UPDATE export_units SET content_sha256 = 'other' WHERE stream = 'users'
    AND date = (SELECT MAX(date) FROM user_daily)`,
  'a day a month ago': `UPDATE export_units SET content_sha256 = 'other' WHERE stream = 'users'
    AND date = (SELECT date(MAX(date), '-31 days') FROM user_daily)`,
  'other people': "UPDATE people SET team = 'elsewhere' WHERE person = (SELECT MIN(person) FROM people)",
};
/** With other people, everybody is resolved again, which costs as much as a refresh of the teams. */
const STALE_MAX: Readonly<Record<string, number | null>> = {
  'one day': 1.5,
  'a day a month ago': 1.5,
  'other people': null,
};
const PERIODS = {
  'three weeks': { from: parseDay('2026-10-26'), until: parseDay('2026-11-15') },
  'the whole time': {},
};

/** What a question by team costs while the rollup of users waits for its next refresh, without the start of a process. */
export const staleTeams: Benchmark = {
  number: 20,
  title: `A question by team while rollups are stale ÷ while they are current, at ${TIMES_LARGER} times ${SIZE}`,
  async run(bench) {
    const current = await fileOf(bench, TIMES_LARGER);
    const measures: Measure[] = [];
    for (const [name, sql] of Object.entries(STALE)) {
      const stale = bench.path('stale.db');
      copyFileSync(current, stale);
      execute(stale, sql);
      for (const [period, days] of Object.entries(PERIODS)) {
        const ask = (file: string) =>
          withWarehouse(file, (warehouse) => timed(() => byTeam(warehouse, days)));
        const lanes = await inTurns(bench.rounds, { stale: () => ask(stale), current: () => ask(current) });
        const about = { name: `${name} stale, ${period}`, limit: STALE_MAX[name] ?? null };
        measures.push(ratio(lanes, ['stale', 'current'], about));
      }
    }
    return { measures };
  },
};

function execute(file: string, sql: string): void {
  const db = new Sqlite(file);
  try {
    db.exec(sql);
  } finally {
    db.close();
  }
}

async function byTeam(warehouse: Warehouse, days: (typeof PERIODS)[keyof typeof PERIODS]): Promise<void> {
  const [orgId = ''] = await readOrganizationIds(warehouse);
  await answerMetric(warehouse, { metric: 'billable_tokens', by: ['team'], orgId, ...days });
}
