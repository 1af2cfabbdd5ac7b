import { sql } from '../schema/query.ts';
import { isMetricCall, type Question, questions } from '../schema/reference/questions.ts';
import { rankMetric } from '../src/comparison/rank-metric.ts';
import { readOrganizationIds } from '../src/ledger/ledger.ts';
import { answerMetric } from '../src/metrics/answer-metric.ts';
import { readCohorts } from '../src/metrics/cohorts.ts';
import type { Warehouse } from '../src/port/warehouse.ts';
import { filledWarehouses, SIZE, withWarehouse } from './support/answering.ts';
import { type Bench, type Benchmark, NO_POSTGRES } from './support/bench.ts';
import { inTurns, type Measure, middle } from './support/measure.ts';

/** The longest time of a question that a rollup answers, and of any other one. */
const SECONDS_MAX = { fromRollup: 0.3, fromRows: 1.5 };

/** Duration of the questions of docs/questions.md over the whole history, without the start of a process. */
export const answering: Benchmark = {
  number: 15,
  title: `Questions of docs/questions.md at ${SIZE}`,
  async run(bench) {
    const postgres = await bench.postgres();
    if (postgres === null) return { skipped: NO_POSTGRES };
    const { file, location } = await filledWarehouses(bench, postgres);
    return {
      measures: [
        ...(await withWarehouse(file, (warehouse) => measured(bench, 'SQLite', warehouse))),
        ...(await withWarehouse(location, (warehouse) => measured(bench, 'PostgreSQL', warehouse))),
      ],
    };
  },
};

async function measured(bench: Bench, database: string, warehouse: Warehouse): Promise<Measure[]> {
  const [orgId = ''] = await readOrganizationIds(warehouse);
  const measures: Measure[] = [];
  for (const question of questions) {
    const { id, isFromRollup } = question;
    const lanes = await inTurns(bench.rounds, {
      [id]: async () => {
        const startMs = performance.now();
        await answer(warehouse, orgId, question);
        return { value: (performance.now() - startMs) / 1000 };
      },
    });
    const limit = isFromRollup ? SECONDS_MAX.fromRollup : SECONDS_MAX.fromRows;
    measures.push(middle(lanes, id, { name: `${database}, ${id}`, unit: 's', limit }));
  }
  return measures;
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
