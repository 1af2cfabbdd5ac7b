import { queryText, sql } from '../../schema/query.ts';
import type { UtcDay } from '../core/day.ts';
import type { Stream } from '../core/stream.ts';
import { whyNotKept } from '../expected/index.ts';
import { answerWithSql, type CoveredDays, type MetricRow, readProvenance } from '../metrics/index.ts';
import { frozen, type QueryRow, type Warehouse } from '../port/index.ts';
import { readRuns } from '../records/index.ts';
import type { Basis, MetricResult, Result } from './numbers.ts';
import { type Filters, type PageReader, questionOf } from './reader.ts';

/** Rows of queries that pages of one state of the warehouse share, by the text of the query. */
export type KeptRows = Map<string, readonly QueryRow[]>;

/** Reads for one page. Call inside a snapshot, and use the reader inside it only. */
export function pageReader(outer: Warehouse, filters: Filters, kept: KeptRows = new Map()): PageReader {
  const warehouse = frozen(outer);
  const runs = endedRuns(warehouse);
  const weights = creditsOfDays(warehouse, filters);
  const answers = new Map<string, Promise<MetricResult>>();
  const provenances = new Map<string, ReturnType<typeof readProvenance>>();
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
    const isOpen = days.unsettled.length > 0;
    return {
      from,
      until,
      days,
      firstLooks,
      run,
      ...(isOpen && { weights: await weights() }),
    } satisfies Basis;
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
    select: ({ title, query, streams, isKept = false, from = filters.from, until = filters.until }) =>
      remember(selections, `${queryText(query)} ${from} ${until} ${streams.join()}`, async () => {
        const text = queryText(query);
        const rows = (isKept ? kept.get(text) : undefined) ?? (await warehouse.select(query));
        if (isKept) kept.set(text, rows);
        const found = await remember(provenances, `${from} ${until} ${streams.join()}`, () =>
          readProvenance(warehouse, { orgId: filters.orgId, streams, from, until }),
        );
        return {
          id: idOf(queryText(query), from, until, ...streams),
          title,
          sql: queryText(query),
          rows,
          unit: null,
          basis: await basisOf(found),
          warnings: whyLess(found, streams, from),
        };
      }),
  };
}

/** Why rows of some days are not there and never will be, as a list with one clause at most. */
function whyLess(
  { notKept, usersFrom }: Awaited<ReturnType<typeof readProvenance>>,
  streams: readonly Stream[],
  from: UtcDay,
): string[] {
  const why = notKept ?? whyNotKept({ leftOut: [], usersFrom }, streams, from);
  return why === null ? [] : [why];
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

/** The credits of each day as published: the rows of one small table. */
function creditsOfDays(warehouse: Warehouse, { orgId }: Filters): () => Promise<ReadonlyMap<string, number>> {
  let known: Promise<ReadonlyMap<string, number>> | undefined;
  const query = sql`SELECT date, billable_tokens FROM tokens_daily WHERE org_id = ${orgId}`;
  return () => {
    known ??= warehouse
      .select(query)
      .then((rows) => new Map(rows.map((row) => [String(row['date']), Number(row['billable_tokens'] ?? 0)])));
    return known;
  };
}

/** Runs older than these are shown without their time. */
const RUNS_MAX = 2_000;
