import { queryText } from '../../schema/query.ts';
import type { UtcDay } from '../core/day.ts';
import { answerWithSql, type CoveredDays, type MetricRow, readProvenance } from '../metrics/index.ts';
import type { QueryRow, Warehouse } from '../port/index.ts';
import { readRuns } from '../records/index.ts';
import { frozen } from '../warehouse/index.ts';
import type { Basis, MetricResult, Result } from './numbers.ts';
import { type Filters, type PageReader, questionOf } from './reader.ts';

/** Reads for one page. Call inside a snapshot, and use the reader inside it only. */
export function pageReader(outer: Warehouse, filters: Filters): PageReader {
  const warehouse = frozen(outer);
  const runs = endedRuns(warehouse);
  const answers = new Map<string, Promise<MetricResult>>();
  const selections = new Map<string, Promise<Result>>();
  const ids = new Map<string, string>();
  const idOf = (...statement: readonly string[]) => {
    const key = statement.join('\n');
    const id = ids.get(key) ?? `q${ids.size + 1}`;
    ids.set(key, id);
    return id;
  };
  const basisOf = async (answer: {
    from: UtcDay;
    until: UtcDay;
    days: CoveredDays;
    firstLooks: NonNullable<Basis['firstLooks']> | null;
    run_id: string | null;
  }) => {
    const { from, until, days, firstLooks, run_id } = answer;
    const run = run_id === null ? null : { id: run_id, endedAt: (await runs()).get(run_id) ?? null };
    return { from, until, days, firstLooks, run } satisfies Basis;
  };
  return {
    warehouse,
    filters,
    ask: (asked) => {
      const question = questionOf(asked, filters);
      return remember(answers, JSON.stringify(question), async () => {
        const answer = await answerWithSql(warehouse, question);
        return {
          id: idOf(answer.sql, answer.from, answer.until),
          title: asked.title,
          sql: answer.sql,
          rows: answer.rows satisfies readonly MetricRow[],
          column: answer.column,
          unit: answer.unit,
          basis: await basisOf(answer),
          warnings: answer.warnings,
        };
      });
    },
    select: ({ title, query, streams, from = filters.from, until = filters.until }) =>
      remember(selections, `${queryText(query)} ${from} ${until} ${streams.join()}`, async () => {
        const found = await readProvenance(warehouse, { orgId: filters.orgId, streams, from, until });
        return {
          id: idOf(queryText(query), from, until, ...streams),
          title,
          sql: queryText(query),
          rows: (await warehouse.select(query)) satisfies readonly QueryRow[],
          unit: null,
          basis: await basisOf(found),
          warnings: found.notKept === null ? [] : [found.notKept],
        };
      }),
  };
}

function remember<Value>(
  known: Map<string, Promise<Value>>,
  key: string,
  read: () => Promise<Value>,
): Promise<Value> {
  const value = known.get(key) ?? read();
  known.set(key, value);
  return value;
}

function endedRuns(warehouse: Warehouse): () => Promise<ReadonlyMap<string, string | null>> {
  let known: Promise<ReadonlyMap<string, string | null>> | undefined;
  return () => {
    known ??= readRuns(warehouse, RUNS_MAX).then(
      (runs) => new Map(runs.map(({ runId, endedAt }) => [runId, endedAt])),
    );
    return known;
  };
}

/** Runs older than these are shown without their time. */
const RUNS_MAX = 2_000;
