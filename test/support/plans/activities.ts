import { allMetrics, type Dimension, dimensionsOf, type Metric } from '../../../schema/metrics/dictionary.ts';
import { sql } from '../../../schema/query.ts';
import { allViews } from '../../../schema/views.ts';
import { UsageError } from '../../../src/core/errors.ts';
import { PAGE_KINDS } from '../../../src/look/pages/all-pages.ts';
import { publishedPages } from '../../../src/look/report/published-pages.ts';
import { pageReader } from '../../../src/look/snapshot-reader.ts';
import { answerMetric } from '../../../src/metrics/answer-metric.ts';
import type { Warehouse } from '../../../src/port/warehouse.ts';
import { refreshRollups } from '../../../src/rollups/refresh.ts';
import { checkWarehouse } from '../../../src/verify/check-warehouse.ts';
import { FindingList } from '../../../src/verify/finding.ts';
import { checkPeople } from '../../../src/verify/report-rollups.ts';
import { FIRST_WEEK, publishWeeks } from '../../../src/weeks/publish-weeks.ts';
import { daywalkInProcess } from '../process/daywalk-in-process.ts';
import type { Place } from '../warehouse/each-database.ts';
import type { Emitted } from './emitted.ts';
import { lastDayOf, nowOf, ORG, type Size, usersDay } from './world.ts';

/** What a program does with a warehouse of a size. It may be repeated. */
interface Activity {
  readonly name: string;
  act(warehouse: Warehouse, size: Size): Promise<unknown>;
}

/** Metrics whose statements differ in names only are asked for once. */
function differentMetrics(): Metric[] {
  const shapes = new Map(allMetrics.map((metric) => [shapeOf(metric), metric]));
  return [...shapes.values()];
}

function shapeOf({ source, breakdown, measure }: Metric): string {
  const shape = JSON.stringify(measure, (key, value) => (key === 'columns' ? value.length : value));
  return [source.table.name, breakdown?.table.name, shape].join(' ');
}

function waysToAsk(metric: Metric): readonly (readonly Dimension[])[] {
  const own = dimensionsOf(metric);
  const grains = (['date', 'week', 'month'] as const).map((grain) => [grain]);
  const others = own.filter((dimension) => !['date', 'week', 'month'].includes(dimension));
  const crossed = others.includes('team')
    ? ([
        ['week', 'team'],
        ['date', 'team'],
      ] as const)
    : [];
  return [[], ...grains, ...others.map((dimension) => [dimension]), ...crossed];
}

const metrics: Activity[] = differentMetrics().map((metric) => ({
  name: `metric ${metric.name}`,
  act: async (warehouse) => {
    for (const by of waysToAsk(metric))
      await answerMetric(warehouse, { metric: metric.name, orgId: ORG, by }).catch(onlyRefused);
  },
}));

function onlyRefused(error: unknown): void {
  if (!(error instanceof UsageError)) throw error;
}

const pages: Activity[] = PAGE_KINDS.map(({ path, build }) => ({
  name: `page ${path}`,
  act: (warehouse, size) =>
    warehouse.inSnapshot(async () => {
      const subject = path.startsWith('/team') ? 'team 1' : 'user_000001';
      const filters = { orgId: ORG, from: lastDayOf({ ...size, days: 1 }), until: lastDayOf(size) };
      const reader = pageReader(warehouse, filters);
      await build(reader, path.includes(':') ? { subject } : {}).catch(onlyRefused);
    }),
}));

const views: Activity[] = allViews.map(({ name }) => ({
  name: `view ${name}`,
  act: (warehouse) =>
    warehouse.select(sql`SELECT COUNT(*) AS stored FROM (SELECT * FROM ${sql.identifier(name)}) AS seen`),
}));

const verify: Activity = {
  name: 'verify',
  act: (warehouse) =>
    warehouse.inSnapshot(async () => {
      const findings = new FindingList();
      await checkWarehouse(warehouse, findings, { units: 0, rows: 0, comparisons: 0 });
      await checkPeople(warehouse, findings);
    }),
};

/** What only reads. */
const READS: readonly Activity[] = [...metrics, ...pages, ...views, verify];

/** Stores the last day again, with or without a new user, so that it differs each time. */
const storeAgain: Activity = {
  name: 'store a day',
  act: async (warehouse, size) => {
    const day = lastDayOf(size);
    for (const more of [1, 0, 1]) await warehouse.commitDays([usersDay(size, day, more)]);
  },
};

const refresh: Activity = {
  name: 'refresh',
  act: (warehouse, size) => refreshRollups(warehouse, { orgId: ORG, now: nowOf(size) }),
};

/** Settles every day, publishes all weeks, and reads what reports show of them. */
const publish: Activity = {
  name: 'publish weeks',
  act: async (warehouse, size) => {
    await warehouse.transact('settle the days of', function* () {
      yield sql`UPDATE export_units SET settled_at = last_pulled_at, state = 'loaded' WHERE org_id = ${ORG}`;
      for (const stream of ['tools', 'activity', 'productivity'])
        yield sql`INSERT INTO export_units (org_id, stream, date, state, rows, attempts, requests, settled_at)
          SELECT org_id, ${stream}, date, 'empty', 0, 1, 1, settled_at FROM export_units WHERE stream = 'users'
          ON CONFLICT DO NOTHING`;
    });
    await publishWeeks(warehouse, { orgId: ORG, minGroup: 5 });
    const filters = { orgId: ORG, from: FIRST_WEEK, until: lastDayOf(size) };
    await warehouse.inSnapshot(() => publishedPages(warehouse, { filters, minGroup: 5, now: nowOf(size) }));
  },
};

/** Commands that read or copy everything, with the place of their result. */
function commands(place: string): readonly Activity[] {
  const asked = [['status'], ['digest'], ['people', 'missing'], ['copy', '--to', place]];
  return asked.map((args) => ({
    name: args.slice(0, 2).join(' '),
    act: async ({ location }, size) => {
      const env = {
        DAYWALK_WAREHOUSE: location,
        DAYWALK_NOW: nowOf(size).toISOString(),
        DAYWALK_LOG: 'silent',
      };
      const { code, stderr } = await daywalkInProcess([...args, '--json'], { env });
      if (code !== 0) throw new Error(`${args.join(' ')} exited with ${code}: ${stderr}`);
    },
  }));
}

/** What a database knows of its rows when it plans. */
export const STATISTICS = ['without statistics', 'with statistics'] as const;

/** Everything that the program does with a warehouse, with current rollups and with stale ones. */
export async function actAll(
  warehouse: Warehouse,
  { size, emitted, copyTo }: { readonly size: Size; readonly emitted: Emitted; readonly copyTo: Place },
): Promise<void> {
  const act = async (activities: readonly Activity[], state = '') => {
    for (const activity of activities) {
      emitted.activity = `${activity.name}${state}`;
      await activity.act(warehouse, size);
    }
  };
  await act([...READS, ...commands(copyTo.location), storeAgain]);
  await act(READS, ', stale');
  await act([refresh, publish]);
}
