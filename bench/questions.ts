import { sql } from '../schema/query.ts';
import { isMetricCall, type Question, questions } from '../schema/reference/questions.ts';
import { rankMetric } from '../src/comparison/rank-metric.ts';
import { readOrganizationIds } from '../src/ledger/ledger.ts';
import { answerMetric } from '../src/metrics/answer-metric.ts';
import { readCohorts } from '../src/metrics/cohorts.ts';
import type { Warehouse } from '../src/port/warehouse.ts';
import { type Activity, filledWarehouses, sizeOf, withWarehouse } from './support/answering.ts';
import { type Bench, type Benchmark, NO_POSTGRES } from './support/bench.ts';
import { inTurns, type Measure, middle } from './support/measure.ts';

/** The longest time of a question that a rollup answers, and of any other one. */
const SECONDS_MAX = { fromRollup: 0.3, fromRows: 1.5 };

/** Duration of the questions of docs/questions.md over the whole history, without the start of a process. */
function answeringAt(number: number, times: Activity): Benchmark {
  return {
    number,
    title: `Questions of docs/questions.md at ${sizeOf(times)}`,
    async run(bench) {
      const postgres = await bench.postgres();
      if (postgres === null) return { skipped: NO_POSTGRES };
      const { file, location } = await filledWarehouses(bench, postgres, times);
      return {
        measures: [
          ...(await withWarehouse(file, (warehouse) => measured(bench, 'SQLite, processor time', warehouse))),
          ...(await withWarehouse(location, (warehouse) => measured(bench, 'PostgreSQL', warehouse))),
        ],
      };
    },
  };
}

export const answering = answeringAt(15, 1);
export const answeringLarge = answeringAt(21, 4);
export const answeringDaily = answeringAt(24, 'daily');

async function measured(bench: Bench, database: string, warehouse: Warehouse): Promise<Measure[]> {
  const [orgId = ''] = await readOrganizationIds(warehouse);
  const measures: Measure[] = [];
  const slowest: Partial<Record<keyof typeof SECONDS_MAX, Measure>> = {};
  for (const question of questions) {
    const { id } = question;
    const kind = question.isFromRollup ? 'fromRollup' : 'fromRows';
    const lanes = await inTurns(bench.rounds, {
      [id]: async () => {
        const [startMs, since] = [performance.now(), process.cpuUsage()];
        await answer(warehouse, orgId, question);
        const { user, system } = process.cpuUsage(since);
        // SQLite works in this process; other work on the machine affects its processor time less.
        const ms = warehouse.dialect === 'sqlite' ? (user + system) / 1000 : performance.now() - startMs;
        return { value: ms / 1000 };
      },
    });
    const name = `${database}, ${id}`;
    const measure = middle(lanes, id, { name, unit: 's', limit: SECONDS_MAX[kind] });
    measures.push(measure);
    if (measure.value > (slowest[kind]?.value ?? 0)) slowest[kind] = measure;
  }
  const named = (measure: Measure | undefined, what: string) =>
    measure === undefined ? [] : [{ ...measure, name: `${measure.name} (the slowest ${what})` }];
  const rest = measures.filter((measure) => !Object.values(slowest).includes(measure));
  return [...named(slowest.fromRollup, 'with a rollup'), ...named(slowest.fromRows, 'without one'), ...rest];
}

/** Answers a question over all days, also where docs/questions.md asks for the latest ones, or for some rows, only. */
function answer(warehouse: Warehouse, orgId: string, { ask, sql: select }: Question): Promise<unknown> {
  if (!isMetricCall(ask)) return warehouse.select(sql.raw(select));
  const { metric, by = [], cohort = false, top, order } = ask;
  if (cohort) return readCohorts(warehouse, { metric, orgId });
  if (metric === 'published_client_dau') return warehouse.select(sql.raw(select));
  const isRanked = top !== undefined || order === 'value';
  if (!isRanked) return answerMetric(warehouse, { metric, by, orgId });
  return rankMetric(warehouse, { metric, by, orgId }, { top, order: 'value' });
}
