import { createHash } from 'node:crypto';
import { type SQL, sql } from '../schema/query.ts';
import { allTables } from '../schema/tables.ts';
import { FIRST_DAY, shiftDay, type UtcDay } from '../src/core/day.ts';
import { readOrganizationIds } from '../src/ledger/ledger.ts';
import { answerMetric } from '../src/metrics/answer-metric.ts';
import type { Warehouse } from '../src/port/warehouse.ts';
import { checkWarehouse } from '../src/verify/check-warehouse.ts';
import { FindingList } from '../src/verify/finding.ts';
import { checkPeople } from '../src/verify/report-rollups.ts';
import {
  activeOf,
  filledFile,
  filledWarehouses,
  ORGANIZATION,
  type Times,
  withWarehouse,
} from './support/answering.ts';
import type { Bench, Benchmark } from './support/bench.ts';
import { inTurns, type Measure, ratio, type Sample } from './support/measure.ts';

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
  title: 'verify ÷ a scan of the same tables that hashes each row, and four times the rows ÷ the rows',
  async run(bench) {
    const [small, large] = [await filledFile(bench, 1), await filledFile(bench, 4)];
    const lanes = await inTurns(bench.rounds, {
      verify: () => withWarehouse(small, (warehouse) => timed(() => verify(warehouse))),
      scan: () => withWarehouse(small, (warehouse) => timed(() => hashEachRow(warehouse))),
      larger: () => withWarehouse(large, (warehouse) => timed(() => verify(warehouse))),
      'larger scan': () => withWarehouse(large, (warehouse) => timed(() => hashEachRow(warehouse))),
    });
    return {
      measures: [
        ratio(lanes, ['verify', 'scan'], { name: `against the scan, ${activeOf(1)}`, limit: SCANS_MAX }),
        ratio(lanes, ['larger', 'larger scan'], {
          ...{ name: `against the scan, ${activeOf(4)}`, limit: SCANS_MAX },
        }),
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

const LAST_DAY = shiftDay(FIRST_DAY, ORGANIZATION.days - 1);

/** What happens to a warehouse whose rollups were current, until the next refresh, and how it is undone. */
const STALE: Readonly<
  Record<string, { readonly make: SQL; readonly undo: SQL; readonly limit: number | null }>
> = {
  'one day': { ...staleDay(LAST_DAY), limit: 1.5 },
  'a day a month ago': { ...staleDay(shiftDay(LAST_DAY, -31)), limit: 1.5 },
  // Everybody is resolved again, which costs as much as a refresh of the teams.
  'other people': {
    make: sql`UPDATE people SET team = team || '!' WHERE person = (SELECT MIN(person) FROM people)`,
    undo: sql`UPDATE people SET team = REPLACE(team, '!', '')`,
    limit: null,
  },
};

function staleDay(day: UtcDay) {
  const own = sql`stream = 'users' AND date = ${day}`;
  return {
    make: sql`UPDATE export_units SET content_sha256 = content_sha256 || '!' WHERE ${own}`,
    undo: sql`UPDATE export_units SET content_sha256 = REPLACE(content_sha256, '!', '') WHERE ${own}`,
  };
}

const PERIODS = { 'three weeks': { from: shiftDay(LAST_DAY, -20), until: LAST_DAY }, 'the whole time': {} };

/** What a question by team costs while the rollup of users waits for its next refresh, without the start of a process. */
export const staleTeams: Benchmark = {
  number: 20,
  title: 'A question by team while rollups are stale ÷ while they are current',
  async run(bench) {
    const postgres = await bench.postgres();
    const measures: Measure[] = [];
    for (const times of [1, 4] as const) {
      const file = await filledFile(bench, times);
      measures.push(...(await withWarehouse(file, (warehouse) => byTeamAt(bench, times, warehouse))));
      if (postgres === null) continue;
      const { location } = await filledWarehouses(bench, postgres, times);
      measures.push(...(await withWarehouse(location, (warehouse) => byTeamAt(bench, times, warehouse))));
    }
    return { measures };
  },
};

async function byTeamAt(bench: Bench, times: Times, warehouse: Warehouse): Promise<Measure[]> {
  const database = warehouse.dialect === 'sqlite' ? 'SQLite' : 'PostgreSQL';
  const execute = (statement: SQL) =>
    warehouse.transact('change', function* () {
      yield statement;
    });
  const measures: Measure[] = [];
  for (const [what, { make, undo, limit }] of Object.entries(STALE)) {
    for (const [period, days] of Object.entries(PERIODS)) {
      const lanes = await inTurns(bench.rounds, {
        current: () => timed(() => byTeam(warehouse, days)),
        stale: async () => {
          await execute(make);
          const sample = await timed(() => byTeam(warehouse, days));
          await execute(undo);
          return sample;
        },
      });
      const name = `${database}, ${activeOf(times)}, ${what} stale, ${period}`;
      measures.push(ratio(lanes, ['stale', 'current'], { name, limit }));
    }
  }
  return measures;
}

async function byTeam(warehouse: Warehouse, days: (typeof PERIODS)[keyof typeof PERIODS]): Promise<void> {
  const [orgId = ''] = await readOrganizationIds(warehouse);
  await answerMetric(warehouse, { metric: 'billable_tokens', by: ['team'], orgId, ...days });
}

const LANGUAGES_FROM_ROWS = sql`SELECT language, COUNT(DISTINCT user_id) AS users FROM user_daily_languages
  GROUP BY org_id, language`;

/** What the rollup of languages by month is worth. */
export const languages: Benchmark = {
  number: 22,
  title: 'How many people work in each language, from the rollup by month ÷ from the rows of days',
  async run(bench) {
    const postgres = await bench.postgres();
    const measures: Measure[] = [];
    for (const times of [1, 4] as const) {
      const places =
        postgres === null
          ? { SQLite: await filledFile(bench, times) }
          : await filledWarehouses(bench, postgres, times).then(({ file, location }) => ({
              ...{ SQLite: file, PostgreSQL: location },
            }));
      for (const [database, place] of Object.entries(places)) {
        const lanes = await withWarehouse(place, async (warehouse) => {
          const [orgId = ''] = await readOrganizationIds(warehouse);
          const asked = { metric: 'language_users', by: ['language'], orgId } as const;
          return inTurns(bench.rounds, {
            rollup: () => timed(() => answerMetric(warehouse, asked)),
            rows: () => timed(() => warehouse.select(LANGUAGES_FROM_ROWS)),
          });
        });
        measures.push(
          ratio(lanes, ['rollup', 'rows'], { name: `${database}, ${activeOf(times)}`, limit: 1 }),
        );
      }
    }
    return { measures };
  },
};
